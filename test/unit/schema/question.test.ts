/** Goal: nothing that a broken process says passes for an answer. */
import { describe, expect, test } from 'vitest'
import { isAnswered, readSchemaVerdict, readValueVerdict } from '../../../infra/schema/question.ts'

const error = { path: 'a', message: 'is required' }

describe('an answer is read', () => {
  test('as it was given', () => {
    expect(readSchemaVerdict({ kind: 'valid' })).toEqual({ kind: 'valid' })
    expect(readSchemaVerdict({ kind: 'invalid', reason: 'x' })).toEqual({ kind: 'invalid', reason: 'x' })
    expect(readValueVerdict({ kind: 'valid' })).toEqual({ kind: 'valid' })
    expect(readValueVerdict({ kind: 'invalid', errors: [error] })).toEqual({ kind: 'invalid', errors: [error] })
  })

  test('without what it has beyond that', () => {
    expect(readSchemaVerdict({ kind: 'valid', reason: 'x' })).toEqual({ kind: 'valid' })
    expect(readValueVerdict({ kind: 'invalid', errors: [{ ...error, value: 'secret' }], more: 1 })).toEqual({
      kind: 'invalid',
      errors: [error],
    })
  })

  test.for([
    undefined,
    null,
    'valid',
    {},
    { kind: 'maybe' },
    { kind: 'invalid' },
    { kind: 'invalid', reason: 1 },
    { kind: 'invalid', reason: 'x'.repeat(2_000) },
  ])('not as %j, of a schema', (verdict) => {
    expect(readSchemaVerdict(verdict)).toBeUndefined()
  })

  const wrong = [
    [],
    'x',
    [1],
    [null],
    [{ path: 'a' }],
    [{ path: 1, message: 'x' }],
    [{ path: 'a', message: 'x'.repeat(2_000) }],
  ]
  test.for([...wrong, [error, {}], Array.from({ length: 101 }, () => error)].map((errors) => ({ errors })))(
    'not as %j, of a value',
    ({ errors }) => {
      expect(readValueVerdict({ kind: 'invalid', errors })).toBeUndefined()
    },
  )

  test('and is told from other messages', () => {
    expect(isAnswered({ id: 1, verdict: null })).toBe(true)
    expect([undefined, null, 'ready', {}, { id: 1 }].filter(isAnswered)).toEqual([])
  })
})
