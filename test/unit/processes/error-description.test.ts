/** The description of an error names its place and quotes no row. */
import { Decimal } from 'decimal.js'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { OtherProperties } from '../../../infra/ledger/ledger-found.ts'
import { WitnessesUnusable } from '../../../infra/log/witness-policy.ts'
import { describeError } from '../../../infra/processes/error-description.ts'

const VALUE = 'alice owes 12.50'

function postgresError(): Error {
  // The driver passes the message's fields; the declared constructor is that of Error.
  const fields = {
    severity: 'ERROR',
    code: '22P02',
    message: `invalid input syntax for type numeric: "${VALUE}\n    at ${VALUE}"`,
    detail: VALUE,
    parameters: [VALUE],
  }
  return Reflect.construct(postgres.PostgresError, [fields]) as Error
}

test('an error of PostgreSQL shows name, code and frames, and no quoted values', () => {
  const described = describeError(postgresError())
  expect(described).not.toContain('alice')
  expect(described).toContain('PostgresError 22P02')
  expect(described).toMatch(/\n\s+at postgresError .*error-description\.test\.ts/)
})

test('a cause at any depth shows no quoted values', () => {
  const port = new Error('PostgreSQL failed: 22P02', { cause: postgresError() })
  const described = describeError(new Error('the batch was not written', { cause: port }))
  expect(described).not.toContain('alice')
  expect(described).toMatch(
    /the batch was not written[^]* because PostgreSQL failed: 22P02 because PostgresError 22P02/,
  )
})

test('errors of JavaScript and the decimal library show no quoted values', () => {
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

test('our own errors keep their message, and a circular chain of causes ends', () => {
  const looped = new Error('port 1 is taken')
  looped.cause = looped
  expect(describeError(looped)).toMatch(/^Error: port 1 is taken\n[^]* because port 1 is taken/)
  expect(describeError('text')).toBe('text')
})

test('a wrong configuration is described in one line', () => {
  expect(describeError(new OtherProperties('LEDGER_SHARDS is 4, the ledger has 16'))).toBe(
    'LEDGER_SHARDS is 4, the ledger has 16',
  )
  expect(describeError(new WitnessesUnusable('LEDGER_WITNESSES: there is no such file.'))).toBe(
    'LEDGER_WITNESSES: there is no such file.',
  )
})
