/** Goal: P1 of prepared.ts, seen in the memory of what is old and large: a minor collection alone puts things there. */
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Connection } from '../../infra/postgres/connection.ts'
import { prepared, takeRows } from '../../infra/postgres/prepared.ts'
import { createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts'

type Collect = (options: { readonly type: 'minor' | 'major' }) => void

/** Long enough for a place of its own. */
const LONG = 300_000
const QUERIES = 60

let database: LedgerDatabase
let connection: Connection
let collect: Collect

beforeAll(async () => {
  database = await createLedgerDatabase()
  connection = await connect({ url: database.url, applicationName: 'prepared' })
  setFlagsFromString('--expose-gc')
  collect = runInNewContext('gc') as Collect
})

afterAll(async () => {
  await connection.end()
  await database.drop()
})

function largeAndOld(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'large_object_space')
  if (space === undefined) throw new Error('there is no such space')
  return space.space_used_size
}

/** The most long texts that were old at a time, of so many queries, each followed by a minor collection. */
async function leftBehind(said: (text: string) => Promise<readonly { readonly said: string }[]>): Promise<number> {
  const ask = async (number: number): Promise<void> => {
    const [row] = await said(String(number).padStart(LONG))
    expect(Number(row?.said)).toBe(number)
  }
  collect({ type: 'major' })
  const before = largeAndOld()
  let most = before
  for (let number = 0; number < QUERIES; number += 1) {
    await ask(number)
    await setImmediate()
    collect({ type: 'minor' })
    most = Math.max(most, largeAndOld())
  }
  return (most - before) / LONG
}

test('nothing of what an answered statement was sent and told grows old', async () => {
  const { sql } = connection
  expect(await leftBehind((text) => prepared(sql, 'SELECT $1::text AS said', [text]))).toBeLessThan(QUERIES / 4)
  expect(await leftBehind((text) => takeRows(sql`SELECT ${text}::text AS said`))).toBeLessThan(QUERIES / 4)
})

test('the error of what is refused has its code, and holds none of its parameters', async () => {
  const refused = prepared(connection.sql, 'SELECT $1::integer AS number', ['a secret'])
  await expect(refused).rejects.toMatchObject({ code: '22P02', parameters: [], args: [] })
})
