/** P1 of prepared.ts: a settled query keeps no reference to its parameters and rows. */
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Connection } from '../../infra/postgres/connection/connection.ts'
import { prepared, takeRows } from '../../infra/postgres/connection/prepared.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/postgres/ledger-database.ts'

const TEXT = 'a text of the test'

let database: LedgerDatabase
let connection: Connection

beforeAll(async () => {
  database = await createLedgerDatabase()
  connection = await connect({ url: database.url, applicationName: 'prepared' })
})

afterAll(async () => {
  await connection.end()
  await database.drop()
})

test('a completed query keeps neither its parameters nor its rows', async () => {
  const { sql } = connection
  expect(await prepared(sql, 'SELECT $1::text AS said', [TEXT])).toEqual([{ said: TEXT }])
  const query = sql<{ readonly said: string }[]>`SELECT ${TEXT}::text AS said`
  expect(await takeRows(query)).toEqual([{ said: TEXT }])
  expect(inspect(query, { depth: 4, showHidden: true })).not.toContain(TEXT)
  expect(await query).toHaveLength(0)
})

test('the error of a refused query has its code, and none of its parameters', async () => {
  const refused = prepared(connection.sql, 'SELECT $1::integer AS number', ['a secret'])
  await expect(refused).rejects.toMatchObject({ code: '22P02', parameters: [], args: [] })
})
