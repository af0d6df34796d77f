/** Goal: what a process says of the error that ended it names the place and no row. */
import { Decimal } from 'decimal.js'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { describeError } from '../../../infra/processes/error-description.ts'

const VALUE = 'alice owes 12.50'

function postgresError(): Error {
  // The driver makes it of the message's fields; its declared constructor is that of Error.
  const make = postgres.PostgresError as unknown as new (fields: object) => Error
  return new make({
    severity: 'ERROR',
    code: '22P02',
    message: `invalid input syntax for type numeric: "${VALUE}\n    at ${VALUE}"`,
    detail: VALUE,
    parameters: [VALUE],
  })
}

test('of an error of PostgreSQL name, code and frames are told, and nothing that it quotes', () => {
  const described = describeError(postgresError())
  expect(described).not.toContain('alice')
  expect(described).toContain('PostgresError 22P02')
  expect(described).toMatch(/\n\s+at postgresError .*error-description\.test\.ts/)
})

test('nor as the cause of another, however far down', () => {
  const port = new Error('PostgreSQL failed: 22P02', { cause: postgresError() })
  const described = describeError(new Error('the batch was not written', { cause: port }))
  expect(described).not.toContain('alice')
  expect(described).toMatch(
    /the batch was not written[^]* because PostgreSQL failed: 22P02 because PostgresError 22P02/,
  )
})

test('nor of what the language and the library of decimals quote', () => {
  const thrown = [
    () => JSON.parse(VALUE) as unknown,
    () => BigInt(VALUE),
    () => new Decimal(VALUE),
    () => structuredClone(Symbol(VALUE)) as unknown,
  ].map((fail) => {
    try {
      fail()
    } catch (error) {
      return error
    }
    throw new Error('it did not fail')
  })
  for (const error of thrown) {
    const described = [describeError(error), describeError(new Error('it failed', { cause: error }))].join('\n')
    expect(described).not.toMatch(/alice|12\.50/)
    expect(described).toMatch(/Error\n\s+at /)
  }
})

test('errors of ours keep their message; a chain of causes without end ends', () => {
  const looped = new Error('port 1 is taken')
  looped.cause = looped
  expect(describeError(looped)).toMatch(/^Error: port 1 is taken\n[^]* because port 1 is taken/)
  expect(describeError('text')).toBe('text')
})
