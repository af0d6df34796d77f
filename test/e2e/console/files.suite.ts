/** The console is small, and its page allows nothing from elsewhere. */
import { describe, expect, test } from 'vitest'
import { send } from '../../support/client/client.ts'
import type { GetScene } from './console-scene.ts'

const BUDGET_BYTES = 150_000
const GZIP = { 'accept-encoding': 'gzip' }

export function describeFiles(getScene: GetScene): void {
  describe('the files of the console', () => {
    test('have fewer compressed bytes than the budget, and are kept by browsers', async () => {
      const { address } = getScene().ledger
      const { body } = await send(address, { method: 'GET', path: '/console' })
      const paths = [...body.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path = '']) => path)
      expect(paths.map((path) => path.split('/').at(-1))).toEqual(['console.css', 'console.js'])
      let sizeBytes = 0
      for (const path of paths) {
        const { status, headers } = await send(address, { method: 'HEAD', path, headers: GZIP })
        expect({ status, ...headers }).toMatchObject({ status: 200, 'content-encoding': 'gzip' })
        expect(headers['cache-control']).toContain('immutable')
        sizeBytes += Number(headers['content-length'])
      }
      expect(sizeBytes).toBeGreaterThan(10_000)
      expect(sizeBytes).toBeLessThan(BUDGET_BYTES)
    })

    test('run only their own script, in no frame, and make no markup from text', async () => {
      const { headers } = await send(getScene().ledger.address, { method: 'GET', path: '/console' })
      const policy = new Set(String(headers['content-security-policy']).split('; '))
      expect(policy).toEqual(
        new Set([
          "base-uri 'none'",
          "connect-src 'self'",
          "default-src 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
          'img-src data:',
          "require-trusted-types-for 'script'",
          "script-src 'self'",
          "style-src 'self'",
          "trusted-types 'none'",
        ]),
      )
      expect(headers['x-content-type-options']).toBe('nosniff')
    })

    test('of other names, and of another release, are not found', async () => {
      const { address } = getScene().ledger
      for (const path of [
        '/console/assets/other/console.js',
        '/console/assets/other/nothing.js',
        '/console/accounts',
      ]) {
        expect(await send(address, { method: 'GET', path })).toMatchObject({ status: 404 })
      }
    })
  })
}
