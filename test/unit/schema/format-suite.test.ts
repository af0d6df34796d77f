/** The format tests of the official JSON Schema test suite, all of them, in both drafts. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { Fuel, FuelSpent } from '../../../infra/schema/fuel.ts'
import { formatsFor } from '../../../infra/schema/formats.ts'
import { MAX_STEPS } from '../../../infra/schema/limits.ts'
import { createSchemaValidatorInPlace } from '../../support/schema-validator-in-place.ts'

interface SuiteTest {
  readonly draft: string
  readonly file: string
  readonly group: string
  readonly schema: JsonObject
  readonly test: string
  readonly data: Json
  readonly valid: boolean
}

const DIALECTS: Readonly<Record<string, string>> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
}

const SUITE = readFileSync(new URL('json-schema-test-suite/formats.ndjson', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as SuiteTest)

const validator = createSchemaValidatorInPlace()

const FILES = [...new Set(SUITE.map(({ draft, file }) => `${draft} ${file}`))]

describe('formats agree with the official test suite', () => {
  test.for(FILES)('%s', async (name) => {
    for (const { draft, file, group, schema, test: title, data, valid } of SUITE) {
      if (`${draft} ${file}` !== name) continue
      const verdict = await validator.validate({ $schema: DIALECTS[draft] ?? '', ...schema }, data)
      expect([group, title, data, verdict.kind]).toEqual([group, title, data, valid ? 'valid' : 'invalid'])
    }
  })

  test('the fixture contains the whole suite', () => {
    expect(SUITE).toHaveLength(1_440)
    expect(FILES).toHaveLength(40)
  })
})

test('a host name that is slow to check costs the corresponding steps', () => {
  const fuel = new Fuel()
  const isHostname = formatsFor(fuel)['idn-hostname']
  const long = Array.from({ length: 126 }, () => 'ß').join('.')
  fuel.fill(MAX_STEPS)
  expect(() => {
    for (let count = 0; count < 100; count += 1) isHostname?.(long)
  }).toThrow(FuelSpent)
  fuel.fill(MAX_STEPS)
  for (let count = 0; count < 10_000; count += 1) isHostname?.('ledger.example.com')
})
