/**
 * The contract of every SchemaValidator: M1 and M2 of the port. The meaning of keywords is tested in test/unit/schema.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import type { SchemaValidator, ValueVerdict } from '../../runtime/ports/schema-validator.ts'
import {
  BAD_CAR,
  CAR,
  CAR_ERRORS,
  GOOD_CAR,
  HEAVY_SCHEMAS,
  HOSTILE_SCHEMAS,
  HOSTILE_VALUES,
} from './schema-validator-questions.ts'

export interface SchemaValidatorSubject {
  readonly validator: SchemaValidator
  readonly close: () => Promise<void>
}

/** Beyond the bounds of any adapter on any machine: an answer that is later than this did not come. */
const ANSWER_MS = 60_000

export function schemaValidatorContract(name: string, create: () => Promise<SchemaValidatorSubject>): void {
  describe(`SchemaValidator: ${name}`, () => {
    let subject: SchemaValidatorSubject
    beforeAll(async () => {
      subject = await create()
    })
    afterAll(async () => {
      await subject.close()
    })
    const check = (schema: JsonObject) => inTime(subject.validator.check(schema))
    const validate = (schema: JsonObject, value: Json) => inTime(subject.validator.validate(schema, value))

    async function expectGoodAnswers(): Promise<void> {
      expect(await check(CAR)).toEqual({ kind: 'valid' })
      expect(await validate(CAR, GOOD_CAR)).toEqual({ kind: 'valid' })
      expect(inOrder(await validate(CAR, BAD_CAR))).toEqual(CAR_ERRORS)
    }

    test('a schema is checked, and values are held against it', expectGoodAnswers)

    test('M1: the order in which members are written changes no answer', async () => {
      const { properties, ...rest } = CAR
      const reordered: JsonObject = { ...rest, properties: reversed(properties as JsonObject) }
      const first = await validate(CAR, BAD_CAR)
      expect(await validate(reordered, reversed(BAD_CAR))).toEqual(first)
      expect(await validate(CAR, BAD_CAR)).toEqual(first)
    })

    test('M1: an answer does not hang on what was asked before, nor on what is asked at the same time', async () => {
      const schemas = Array.from({ length: 40 }, (_, index): JsonObject => ({ minimum: index }))
      const verdicts = await Promise.all(
        schemas.flatMap((schema, index) => [validate(schema, index), validate(schema, index - 1)]),
      )
      expect(verdicts.map(({ kind }) => kind)).toEqual(schemas.flatMap(() => ['valid', 'invalid']))
      expect(await validate({ minimum: 0 }, -1)).toEqual(verdicts[1])
    })

    test('there are at most 100 errors, each one once, and at least one', async () => {
      const verdict = await validate(
        { items: { type: 'string' } },
        Array.from({ length: 1_000 }, () => 1),
      )
      expect(verdict).toMatchObject({ kind: 'invalid' })
      const errors = verdict.kind === 'invalid' ? verdict.errors : []
      expect(errors).toHaveLength(100)
      expect(new Set(errors.map(({ path }) => path)).size).toBe(100)
    })

    test('neither a reason nor a message holds what was in a value', async () => {
      const secret = 'hunter2hunter2'
      const schema: JsonObject = { properties: { a: { pattern: '^x$' }, b: { const: 1 }, c: { format: 'date' } } }
      const verdict = await validate(
        { ...schema, additionalProperties: { type: 'null' } },
        { a: secret, b: secret, c: secret, d: secret },
      )
      expect(inOrder(verdict).map(({ path }) => path)).toEqual(['a', 'b', 'c', 'd'])
      expect(JSON.stringify(verdict)).not.toContain(secret)
      const refusal = await check({ properties: { a: { type: secret } } })
      expect(refusal.kind).toBe('invalid')
      expect(JSON.stringify(refusal)).not.toContain(secret)
    })

    test('a value is no schema for another: only what check accepts is held against', async () => {
      expect(await validate({ type: 'nonsense' }, {})).toMatchObject({ kind: 'invalid' })
      expect(await validate({ $ref: 'https://example.com/other' }, {})).toMatchObject({ kind: 'invalid' })
    })

    test.for(HOSTILE_SCHEMAS)('M2: refused, and harmless: %s', async ([, schema]) => {
      const [verdict, value] = await Promise.all([check(schema), validate(schema, 'x'), expectGoodAnswers()])
      expect(verdict).toMatchObject({ kind: 'invalid' })
      expect(value).toMatchObject({ kind: 'invalid' })
      expect(await check(schema)).toEqual(verdict)
    })

    test.for(HEAVY_SCHEMAS)('M2: answered, and harmless: %s', async ([, schema]) => {
      const [verdict] = await Promise.all([check(schema), expectGoodAnswers()])
      expect(verdict).toEqual({ kind: 'valid' })
      expect(['valid', 'invalid']).toContain((await validate(schema, { p1: 1 })).kind)
    })

    test.for(HOSTILE_VALUES)('M2: answered, and harmless: %s', async ([, schema, value]) => {
      const [verdict] = await Promise.all([validate(schema, value), expectGoodAnswers()])
      expect(['valid', 'invalid']).toContain(verdict.kind)
      expect(await validate(schema, value)).toEqual(verdict)
    })

    test('M2: names that mean something to JavaScript mean nothing here', async () => {
      const value = JSON.parse(
        '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"valueOf":1}',
      ) as Json
      expect(await validate({ required: ['toString'] }, value)).toMatchObject({ kind: 'invalid' })
      expect(await validate({ required: ['__proto__', 'constructor', 'valueOf'] }, value)).toEqual({ kind: 'valid' })
      expect(await validate({ required: ['__proto__'] }, {})).toMatchObject({ kind: 'invalid' })
      expect(await validate({ const: value }, value)).toEqual({ kind: 'valid' })
      expect(await validate({ enum: [value] }, {})).toMatchObject({ kind: 'invalid' })
      expect(inOrder(await validate({ properties: {}, additionalProperties: false }, value))).toHaveLength(3)
      expect(inOrder(await validate({ unevaluatedProperties: false }, value))).toHaveLength(3)
      expect(Object.getPrototypeOf({})).not.toHaveProperty('polluted')
    })

    test('M2: any JSON as a schema, and any as a value, gets an answer, the same twice', async () => {
      const schemas = fc.dictionary(fc.oneof(fc.constantFrom(...WORDS), fc.string()), fc.jsonValue({ maxDepth: 4 }))
      await fc.assert(
        fc.asyncProperty(schemas, fc.jsonValue({ maxDepth: 5 }), async (drawnSchema, drawnValue) => {
          const schema = plain(drawnSchema) as JsonObject
          const value = plain(drawnValue)
          const verdict = await check(schema)
          expect(['valid', 'invalid']).toContain(verdict.kind)
          expect(await check(schema)).toEqual(verdict)
          const judged = await validate(schema, value)
          expect(verdict.kind === 'valid' ? ['valid', 'invalid'] : ['invalid']).toContain(judged.kind)
        }),
        { numRuns: 400 },
      )
      await expectGoodAnswers()
    })
  })
}

/** Keywords, so that random schemas say something. */
const WORDS = [
  'type',
  'properties',
  'items',
  'enum',
  'const',
  'allOf',
  'not',
  '$ref',
  '$id',
  '$defs',
  'pattern',
  'required',
]

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer came')), ANSWER_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

function inOrder(verdict: ValueVerdict): readonly { readonly path: string; readonly message: string }[] {
  return verdict.kind === 'invalid' ? verdict.errors.toSorted((a, b) => (a.path < b.path ? -1 : 1)) : []
}

function reversed(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).reverse())
}

/** As a body is read: no negative zero, no object without a prototype. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
