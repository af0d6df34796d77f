import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: 0,
    // Many tests wait for servers of their own to start: two at once, on two processors too.
    maxWorkers: 2,
    allowOnly: false,
    passWithNoTests: false,
  },
})
