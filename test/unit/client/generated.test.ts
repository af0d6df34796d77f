import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientSources } from '../../support/client-sources.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

describe('the generated sources of the client', () => {
  test('are what the OpenAPI document gives', async () => {
    const sources = await clientSources()
    if (process.env['LEDGER_GENERATE_CLIENT'] === '1') {
      for (const [path, source] of sources) writeFileSync(join(ROOT, path), source)
    }
    const kept = [...sources.keys()].map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])
    expect(kept).toEqual([...sources])
  })
})
