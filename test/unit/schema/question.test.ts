/** A malformed message of a broken worker is never read as a verdict. */
import { describe, expect, test } from 'vitest'
import { isVerdictMessage, readSchemaVerdict, readValueVerdict } from '../../../infra/schema/question.ts'

const error = { path: 'a', message: 'is required' }

describe('a verdict', () => {
  test('is read unchanged', () => {
    expect(readSchemaVerdict({ kind: 'valid' })).toEqual({ kind: 'valid' })
    expect(readSchemaVerdict({ kind: 'invalid', reason: 'x' })).toEqual({ kind: 'invalid', reason: 'x' })
    expect(readValueVerdict({ kind: 'valid' })).toEqual({ kind: 'valid' })
    expect(readValueVerdict({ kind: 'invalid', errors: [error] })).toEqual({ kind: 'invalid', errors: [error] })
  })

  test('loses unknown members', () => {
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
  ])('of a schema is not %j', (verdict) => {
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
    'of a value is not %j',
    ({ errors }) => {
      expect(readValueVerdict({ kind: 'invalid', errors })).toBeUndefined()
    },
  )

  test('is distinguished from other messages', () => {
    expect(isVerdictMessage({ id: 1, verdict: null })).toBe(true)
    expect([undefined, null, 'ready', {}, { id: 1 }].filter(isVerdictMessage)).toEqual([])
  })
})
