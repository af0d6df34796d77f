/** A row: a schema, values that satisfy it, values that do not. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { createSchemaValidatorInPlace } from '../../support/schema-validator-in-place.ts'

export type Row = readonly [schema: JsonObject, valid: readonly Json[], invalid: readonly Json[]]

export function keywordTable(title: string, rows: readonly Row[], dialect: JsonObject = {}): void {
  const validator = createSchemaValidatorInPlace()
  describe(`keywords of ${title}`, () => {
    test.for(rows.map(([schema, valid, invalid]) => ({ schema, valid, invalid, text: JSON.stringify(schema) })))(
      '$text',
      async ({ schema, valid, invalid }) => {
        const whole = { ...dialect, ...schema }
        expect(await validator.check(whole)).toEqual({ kind: 'valid' })
        for (const value of valid)
          expect([value, await validator.validate(whole, value)]).toEqual([value, { kind: 'valid' }])
        for (const value of invalid) {
          expect([value, await validator.validate(whole, value)]).toMatchObject([value, { kind: 'invalid' }])
        }
        expect(valid.length + invalid.length).toBeGreaterThan(0)
      },
    )
  })
}

/** As a body is read: the object has the member, whatever its name. */
export function parsed(text: string): Json {
  return JSON.parse(text) as Json
}

/** One with `then`, which would look like a promise if it were written out. */
export function parsedObject(text: string): JsonObject {
  return JSON.parse(text) as JsonObject
}
