/** Reads of NFTs on PostgreSQL use indexes and bounded pages. The contract of ledger reads tests their content. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { padded } from '../../../infra/vault/padding.ts'
import { SEALING_BYTES } from '../../../infra/vault/sealed-text.ts'
import {
  createLedgerReads,
  type PostgresLedgerReads,
  READ_SETTINGS,
} from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { CLASS, CLASSES, HISTORY, INSTANCE, INSTANCES, OWNED } from '../../../infra/postgres/reads/nft-reads.ts'
import { PAGE_BYTES } from '../../../infra/postgres/reads/reading.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { openAccount } from '../../support/postgres/ledger-rows.ts'
import { actorRows } from '../../support/postgres/ledger-rows-values.ts'
import { insertRows } from '../../support/postgres/sealed-rows.ts'
import { classIdOf, classState, instanceState } from '../../support/postgres/ledger-rows-nfts.ts'

const MANY_CLASSES = 2_000
const MANY_INSTANCES = 40_000
const LIMIT = 100
/** `whale` owns all instances of the classes from this number on. All classes have the same number of instances. */
const WHALE_FROM = 1_500

let database: LedgerDatabase
let reads: PostgresLedgerReads
let vault: RowVault
let sql: postgres.Sql

beforeAll(async () => {
  database = await createLedgerDatabase()
  const { url } = database
  vault = await vaultOf(url)
  reads = createLedgerReads({ url, ledgerId: 'ledger', shardOf: () => 0, homeOf: () => 0, vault: await vaultOf(url) })
  const { enable_seqscan, enable_bitmapscan } = READ_SETTINGS
  sql = postgres(database.url, { max: 1, connection: { enable_seqscan, enable_bitmapscan }, onnotice: () => undefined })
})
afterAll(async () => {
  await Promise.all([reads.close(), sql.end()])
  await database.drop()
})

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** The total number of rows that each scan of a plan reads. */
function scansOf(node: PlanNode): readonly { readonly index: string; readonly rows: number }[] {
  const below = (node.Plans ?? []).flatMap(scansOf)
  if (!node['Node Type'].includes('Scan') || node['Node Type'].startsWith('Subquery')) return below
  const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  return [...below, { index: node['Index Name'] ?? node['Node Type'], rows }]
}

async function scans(text: string, parameters: readonly (string | number)[], mode: 'generic' | 'custom') {
  await sql.unsafe(`SET plan_cache_mode = force_${mode}_plan`)
  await sql.unsafe(`PREPARE query AS ${text}`)
  const literals = parameters.map((value) => (typeof value === 'number' ? String(value) : `'${value}'`))
  const [row] = await sql.unsafe<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }[]>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE query (${literals.join(', ')})`,
  )
  await sql.unsafe('DEALLOCATE query')
  const [plan] = row?.['QUERY PLAN'] ?? []
  if (plan === undefined) throw new Error('there is no plan')
  return scansOf(plan.Plan)
}

const paddedId = (number: number): string => `cls_${String(number).padStart(26, '0')}`

/** A statement, its parameters, the number of rows of its longest scan, and a pattern of the indexes that it uses. */
type Query = readonly [string, readonly (string | number)[], number, string]

describe('among many NFTs', () => {
  beforeAll(async () => {
    await sql`
      INSERT INTO actors (shard_id, kind, actor_id, version, status, document, created_at, class_id, class_name, issuer)
      SELECT n % 16, 'class', 'class ' || n, 1, 'active', '{}', 'epoch', 'cls_' || lpad(n::text, 26, '0'), 'c', 'i'
      FROM generate_series(1, ${MANY_CLASSES}::integer) n`
    await sql`
      INSERT INTO actors (shard_id, kind, actor_id, version, status, document, created_at, class_id, owner)
      SELECT n % 16, 'instance', class_id || '/' || n, 1, 'active', '{}', 'epoch', class_id,
        CASE WHEN number >= ${WHALE_FROM} THEN 'whale' ELSE 'owner ' || (n % 1000) END
      FROM generate_series(1, ${MANY_INSTANCES}::integer) n,
        LATERAL (SELECT n % ${MANY_CLASSES}::integer + 1 AS number) c,
        LATERAL (SELECT 'cls_' || lpad(number::text, 26, '0') AS class_id) i`
    await sql`
      INSERT INTO accounts (shard_id, account_id, version, status, sequence, tip, completed_count, failed_count,
        created_at, updated_at, last_time, lasting_version, lasting, digest)
      SELECT 0, id, 1, 'active', 0, decode(repeat('00', 32), 'hex'), 0, 0, 'epoch', 'epoch', 'epoch', 1, '', ''
      FROM unnest(ARRAY['whale', 'owner 7', 'nobody']) id`
    await sql`
      INSERT INTO nft_events (shard_id, nft_id, number, type, from_account_id, to_account_id, txn_id, occurred_at,
        previous_hash, event_hash, payload)
      SELECT 7, ${paddedId(1_000)} || '/' || CASE n % 40 WHEN 0 THEN 999 ELSE n + 1000 END, n, 'transfer', 'a', 'b', 't', 'epoch',
        decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'), '{}'
      FROM generate_series(1, ${MANY_INSTANCES}::integer) n`
  })

  const classId = paddedId(1_600)
  const range = [`${classId}/`, `${classId}0`]
  const ofOwner = 'accounts_(pkey|by_id) actors_classes actors_owned'
  const queries: Readonly<Record<string, Query>> = {
    'a class': [CLASS, [classId], 1, 'actors_classes'],
    'an instance': [INSTANCE, [15, `${classId}/1599`], 1, 'actors_(pkey|by_id)'],
    'the instances of a class': [INSTANCES, [classId, ...range, LIMIT + 1], 20, 'actors_by_id actors_classes'],
    'NFTs of an owner': [OWNED, [0, 'owner 7', '', LIMIT + 1], 40, ofOwner],
    'NFTs of an owner of many': [OWNED, [0, 'whale', '', LIMIT + 1], LIMIT + 1, ofOwner],
    'the next page of these': [OWNED, [0, 'whale', `${classId}/`, LIMIT + 1], LIMIT + 1, ofOwner],
    'NFTs of an owner of none': [OWNED, [0, 'nobody', '', LIMIT + 1], 1, ofOwner],
    'a history': [
      HISTORY,
      [7, `${paddedId(1_000)}/999`, -1, LIMIT + 1],
      LIMIT + 1,
      'actors_(pkey|by_id) nft_events_pkey',
    ],
  }

  test('each query uses the index of its rows, and reads no more rows than it returns', async () => {
    for (const analyzed of [false, true]) {
      if (analyzed) await sql`ANALYZE`
      for (const [name, [text, parameters, shown, pattern]] of Object.entries(queries)) {
        for (const mode of ['generic', 'custom'] as const) {
          const found = await scans(text, parameters, mode)
          const indexes = [...new Set(found.map(({ index }) => index))].toSorted().join(' ')
          expect(`${name}: ${indexes}`).toMatch(new RegExp(`^${name}: ${pattern}$`))
          for (const { rows } of found) expect(rows).toBeLessThanOrEqual(LIMIT + 1)
          expect(`${name}: ${Math.max(...found.map(({ rows }) => rows))}`).toBe(`${name}: ${shown}`)
        }
      }
    }
  })

  test('a page of classes reads only its rows; only the count of the first page reads more', async () => {
    for (const mode of ['generic', 'custom'] as const) {
      const rowsOf = async (after: string) =>
        (await scans(CLASSES, [after, LIMIT + 1], mode)).map(({ rows }) => rows).filter((rows) => rows > 0)
      expect((await rowsOf('')).toSorted((one, other) => one - other)).toEqual([LIMIT + 1, MANY_CLASSES])
      expect(await rowsOf(paddedId(700))).toEqual([LIMIT + 1])
    }
  })
})

describe('large NFTs', () => {
  const big = 'x'.repeat(64 * 1024)
  const [first, second] = [classIdOf(1), classIdOf(2)]
  /** Stored bytes of one, with about 600 for the other fields of its document. */
  const stored = SEALING_BYTES + padded(`${big}${'x'.repeat(600)}`).length
  /** The number that fills a page. */
  const fitting = Math.ceil(PAGE_BYTES / stored)
  const instances = 2 * fitting + 10

  beforeAll(async () => {
    await sql`TRUNCATE actors, accounts`
    for (let number = 1; number <= fitting + 5; number += 1) {
      const name = { id: `class ${number}`, classId: classIdOf(number) }
      await insertRows(sql, vault, 0, actorRows(classState({ ...name, status: 'active', description: big })))
    }
    const writeInstance = (instanceId: string, text: string) => {
      const fields = { id: `${first}/${instanceId}`, owner: 'alice', metadata: { text } }
      return insertRows(sql, vault, 0, actorRows(instanceState({ ...fields, status: 'active' })))
    }
    for (let number = 0; number < instances; number += 1) await writeInstance(String(1_000 + number), big)
    await writeInstance('9', '9'.repeat(2 * PAGE_BYTES))
    await insertRows(sql, vault, 0, openAccount(0, 'alice').rows)
  })

  test('a page ends when it is full, and the next page begins with the following row', async () => {
    const names = [...Array.from({ length: instances }, (_, index) => String(1_000 + index)), '9']
    interface Page {
      readonly ids: readonly string[]
      readonly next: string | null
    }
    const lists = {
      instances: async (after: string | null): Promise<Page> => {
        const page = await reads.instances(first, after, 1_000)
        return { ids: page?.instances.map(({ instanceId }) => instanceId) ?? [], next: page?.next ?? null }
      },
      owned: async (after: string | null): Promise<Page> => {
        const page = await reads.ownedNfts('alice', after, 1_000)
        return { ids: page?.nfts.map(({ instanceId }) => instanceId) ?? [], next: page?.next ?? null }
      },
    }
    for (const read of Object.values(lists)) {
      const pages: (readonly string[])[] = []
      let after: string | null = null
      do {
        const page: Page = await read(after)
        pages.push(page.ids)
        after = page.next
      } while (after !== null)
      expect(pages.flat()).toEqual(names)
      expect(pages.map((ids) => ids.length)).toEqual([fitting, fitting, instances - 2 * fitting + 1])
    }
  })

  test('an NFT that is larger than a page has a page of its own', async () => {
    expect((await reads.instances(first, '8', 1_000))?.instances).toHaveLength(1)
    expect((await reads.instances(first, '8', 1_000))?.next).toBeNull()
    expect((await reads.instances(second, null, 1_000))?.instances).toEqual([])
  })

  test('a page of classes ends when it is full, and counts all of them', async () => {
    const page = await reads.nftClasses(null, 1_000)
    expect(page.classes).toHaveLength(fitting)
    expect(page).toMatchObject({ next: classIdOf(fitting), count: { total: fitting + 5, exact: true } })
    const rest = await reads.nftClasses(page.next, 1_000)
    expect(rest.classes.map(({ classId }) => classId)).toEqual([1, 2, 3, 4, 5].map((more) => classIdOf(fitting + more)))
    expect(rest.next).toBeNull()
  })
})
