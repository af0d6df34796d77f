/** The official JSON Schema test suite for both drafts. json-schema-test-suite/README.md lists the files. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { formatTest } from '../../../infra/schema/formats.ts'
import { MAX_STEPS } from '../../../infra/schema/limits.ts'
import { Steps, StepsExhausted } from '../../../infra/schema/steps.ts'
import { createSchemaValidatorInPlace } from '../../support/memory/schema-validator-in-place.ts'

interface SuiteGroup {
  readonly draft: string
  readonly file: string
  readonly group: string
  readonly schema: JsonObject | boolean
  readonly tests: readonly { readonly data: Json; readonly valid: boolean }[]
}

const DIALECTS: Readonly<Record<string, string>> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
}

function linesOf<Line>(name: string): readonly Line[] {
  const text = readFileSync(new URL(`json-schema-test-suite/${name}`, import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

const FORMATS = linesOf<Omit<SuiteGroup, 'tests'> & SuiteGroup['tests'][number]>('formats.ndjson')
const SUITE = [...linesOf<SuiteGroup>('keywords.ndjson'), ...FORMATS.map((one) => ({ ...one, tests: [one] }))]
const FILES = [...new Set(SUITE.map(({ draft, file }) => `${draft} ${file}`))]
/** Refers to another document, uses $dynamicRef or describes a member named __proto__. */
const UNSUPPORTED =
  /^validate definition against metaschema|^remote ref|with \$dynamicRef$|^properties whose names are Javascript/

const validator = createSchemaValidatorInPlace()

describe('the official test suite', () => {
  test.for(FILES)('%s', async (name) => {
    for (const { draft, file, group, schema: given, tests } of SUITE) {
      if (`${draft} ${file}` !== name) continue
      const schema = { $schema: DIALECTS[draft] ?? '', ...(typeof given === 'boolean' ? { allOf: [given] } : given) }
      const { kind: checked } = await validator.check(schema)
      expect([group, checked]).toEqual([group, UNSUPPORTED.test(group) ? 'invalid' : 'valid'])
      if (checked === 'invalid') continue
      for (const { data, valid } of tests) {
        const { kind } = await validator.validate(schema, data)
        expect([group, data, kind]).toEqual([group, data, valid ? 'valid' : 'invalid'])
      }
    }
  })

  test('is complete', () => {
    expect([FILES.length, SUITE.length]).toEqual([117, 1_995])
  })
})

test('a host name that is slow to check costs the corresponding steps', () => {
  const steps = new Steps()
  const isHostname = formatTest('idn-hostname', steps)
  const long = Array.from({ length: 126 }, () => 'ß').join('.')
  steps.reset(MAX_STEPS)
  expect(() => {
    for (let count = 0; count < 100; count += 1) isHostname?.(long)
  }).toThrow(StepsExhausted)
  steps.reset(MAX_STEPS)
  for (let count = 0; count < 10_000; count += 1) isHostname?.('ledger.example.com')
})
