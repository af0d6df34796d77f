/** The administrative chain in PostgreSQL: the contract, and what a changed row shows. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createAdministrativeChain,
  type PostgresAdministrativeChain,
} from '../../../infra/postgres/access/administrative-chain-postgres.ts'
import { AdministrativeChainUnavailable } from '../../../runtime/ports/administrative-chain.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { ACT, administrativeChainContract, CONTRACT_LEDGER, wholeChain } from './administrative-chain.contract.ts'

const ledgerId = CONTRACT_LEDGER

administrativeChainContract('PostgreSQL', async () => {
  const database = await createLedgerDatabase()
  const { url } = database
  const chain = createAdministrativeChain({ url, ledgerId, vault: await vaultOf(url) })
  const other = createAdministrativeChain({ url, ledgerId, vault: await vaultOf(url) })
  return {
    chain,
    other,
    close: async () => {
      await Promise.all([chain.close(), other.close()])
      await database.drop()
    },
  }
})

describe('AdministrativeChain: PostgreSQL, whose rows were changed', () => {
  let database: LedgerDatabase
  let chain: PostgresAdministrativeChain
  let sql: postgres.Sql
  beforeAll(async () => {
    database = await createLedgerDatabase()
    chain = createAdministrativeChain({ url: database.url, ledgerId, vault: await vaultOf(database.url) })
    sql = postgres(database.url, { max: 1, onnotice: () => undefined })
    for (let acts = 0; acts < 4; acts += 1) await chain.record(ACT)
  })
  afterAll(async () => {
    await Promise.all([chain.close(), sql.end()])
    await database.drop()
  })

  const payloads = async () => (await wholeChain(chain)).map(({ payload }) => payload !== null)

  test('N6: no text of an entry is readable', async () => {
    const [row] = await sql<{ document: Buffer }[]>`SELECT document FROM administrative_entries WHERE sequence = 0`
    expect(row?.document.toString('latin1')).not.toContain('changeStatus')
  })

  test('N6: a text of another entry, and another hash, show no payload', async () => {
    expect(await payloads()).toEqual([true, true, true, true])
    await sql`
      UPDATE administrative_entries SET document = (SELECT document FROM administrative_entries WHERE sequence = 0)
       WHERE sequence = 1`
    await sql`UPDATE administrative_entries SET audit_hash = decode(repeat('ab', 32), 'hex') WHERE sequence = 2`
    expect(await payloads()).toEqual([true, false, false, true])
  })

  test('N6: an entry that was moved to another account shows no payload', async () => {
    await sql`UPDATE administrative_entries SET account_id = 'another' WHERE sequence = 0`
    expect((await payloads())[0]).toBe(false)
  })

  test('N6: the chain goes on from an entry that does not open', async () => {
    await sql`UPDATE administrative_entries SET document = 'no seal' WHERE sequence = 3`
    expect(await chain.record(ACT)).toBe(4)
    expect((await payloads()).slice(3)).toEqual([false, true])
  })

  test('a row that does not continue the chain is refused, also of a far sequence', async () => {
    for (const sequence of ['1', '6', '9223372036854775807']) {
      const inserted = sql`
        INSERT INTO administrative_entries (sequence, previous_hash, audit_hash, document)
        VALUES (${sequence}, decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), '')`
      await expect(inserted).rejects.toThrow('does not continue the administrative chain')
    }
  })

  test('N4: while a writer holds the turn, acts end, and none of them is recorded', async () => {
    const { total } = await chain.entries({ after: -1, limit: 1, accountId: null })
    const holder = postgres(database.url, { max: 1, onnotice: () => undefined })
    await holder`SELECT pg_advisory_lock(${0x61_64_6d})`
    const ended = await Promise.allSettled(Array.from({ length: 12 }, () => chain.record(ACT)))
    await holder.end()
    expect(ended.filter(({ status }) => status === 'fulfilled')).toEqual([])
    expect(await chain.record(ACT)).toBe(total)
  })

  test('N4: a client that sends many acts at once does not shut out another', async () => {
    const busy = Array.from({ length: 500 }, () => chain.record({ ...ACT, clientId: 'busy' }))
    const other = chain.record({ ...ACT, clientId: 'calm' })
    const ended = await Promise.allSettled(busy)
    await expect(other).resolves.toEqual(expect.any(Number))
    expect(ended.some(({ status }) => status === 'rejected')).toBe(true)
    expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true)
  })

  test('a failure of the database is the error of the port', async () => {
    await sql`ALTER TABLE administrative_entries RENAME TO entries_elsewhere`
    await expect(chain.record(ACT)).rejects.toThrow(AdministrativeChainUnavailable)
    await expect(chain.entries({ after: -1, limit: 1, accountId: null })).rejects.toThrow(
      AdministrativeChainUnavailable,
    )
    await sql`ALTER TABLE entries_elsewhere RENAME TO administrative_entries`
    const { total } = await chain.entries({ after: -1, limit: 1, accountId: null })
    expect(await chain.record(ACT)).toBe(total)
  })
})
