import { configDefaults, defineConfig } from 'vitest/config'

/** It uses every processor by itself, and is measured: nothing else runs beside it. */
const ALONE = 'test/simulation/cluster.sim.test.ts'

export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    retry: 0,
    // Many tests wait most of their time, for servers of their own to start or for a dead node to be missed: three at
    // once, on two processors too.
    maxWorkers: 3,
    allowOnly: false,
    passWithNoTests: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ALONE],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'simulation', include: [ALONE], sequence: { groupOrder: 1 } } },
    ],
  },
})
