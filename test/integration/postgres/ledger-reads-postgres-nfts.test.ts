/** How PostgreSQL finds NFTs among many, and how much of them a page holds; what every reads must show is in the contract. */
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { padded } from '../../../infra/vault/padding.ts'
import { SEALING_BYTES } from '../../../infra/vault/sealed-text.ts'
import {
  createLedgerReads,
  type PostgresLedgerReads,
  READ_SETTINGS,
} from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import {
  CLASS,
  CLASSES,
  HISTORY,
  INSTANCE,
  INSTANCES,
  OWNED,
  PAGE_BYTES,
} from '../../../infra/postgres/reads/nft-reads.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { createLedgerDatabase, type LedgerDatabase, vaultOf } from '../../support/postgres/ledger-database.ts'
import { openAccount } from '../../support/postgres/ledger-rows.ts'
import { actorRows } from '../../support/postgres/ledger-rows-values.ts'
import { insertRows } from '../../support/postgres/sealed-rows.ts'
import { classIdOf, classState, instanceState } from '../../support/postgres/ledger-rows-nfts.ts'

const MANY_CLASSES = 2_000
const MANY_INSTANCES = 40_000
const LIMIT = 100
/** The first of the classes that `whale` owns all of; each class has as many instances. */
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

/** How many rows each scan of a plan looks at, in all. */
interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

function scansOf(node: PlanNode): readonly { readonly index: string; readonly rows: number }[] {
  const below = (node.Plans ?? []).flatMap(scansOf)
  if (!node['Node Type'].includes('Scan') || node['Node Type'].startsWith('Subquery')) return below
  const rows = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
  return [...below, { index: node['Index Name'] ?? node['Node Type'], rows }]
}

async function scans(text: string, parameters: readonly (string | number)[], mode: 'generic' | 'custom') {
  await sql.unsafe(`SET plan_cache_mode = force_${mode}_plan`)
  await sql.unsafe(`PREPARE asked AS ${text}`)
  const literals = parameters.map((value) => (typeof value === 'number' ? String(value) : `'${value}'`))
  const [row] = await sql.unsafe<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }[]>(
    `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked (${literals.join(', ')})`,
  )
  await sql.unsafe('DEALLOCATE asked')
  const [plan] = row?.['QUERY PLAN'] ?? []
  if (plan === undefined) throw new Error('there is no plan')
  return scansOf(plan.Plan)
}

const paddedId = (number: number): string => `cls_${String(number).padStart(26, '0')}`

/** A statement, its parameters, how many rows its longest scan has, and a pattern of the indexes that are used. */
type Asked = readonly [string, readonly (string | number)[], number, string]

describe('among many', () => {
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
  const asked: Readonly<Record<string, Asked>> = {
    'a class': [CLASS, [classId], 1, 'actors_classes'],
    'an instance': [INSTANCE, [15, `${classId}/1599`], 1, 'actors_(pkey|by_id)'],
    'the instances of a class': [INSTANCES, [classId, ...range, LIMIT + 1], 20, 'actors_by_id actors_classes'],
    'NFTs of an owner': [OWNED, [0, 'owner 7', '', LIMIT + 1], 40, ofOwner],
    'NFTs of an owner of many': [OWNED, [0, 'whale', '', LIMIT + 1], LIMIT + 1, ofOwner],
    'more of it': [OWNED, [0, 'whale', `${classId}/`, LIMIT + 1], LIMIT + 1, ofOwner],
    'NFTs of an owner of none': [OWNED, [0, 'nobody', '', LIMIT + 1], 1, ofOwner],
    'a history': [
      HISTORY,
      [7, `${paddedId(1_000)}/999`, -1, LIMIT + 1],
      LIMIT + 1,
      'actors_(pkey|by_id) nft_events_pkey',
    ],
  }

  test('each is found by an index that leads to it, and no more rows are looked at than are shown', async () => {
    for (const analyzed of [false, true]) {
      if (analyzed) await sql`ANALYZE`
      for (const [what, [text, parameters, shown, pattern]] of Object.entries(asked)) {
        for (const mode of ['generic', 'custom'] as const) {
          const found = await scans(text, parameters, mode)
          const indexes = [...new Set(found.map(({ index }) => index))].toSorted().join(' ')
          expect(`${what}: ${indexes}`).toMatch(new RegExp(`^${what}: ${pattern}$`))
          for (const { rows } of found) expect(rows).toBeLessThanOrEqual(LIMIT + 1)
          expect(`${what}: ${Math.max(...found.map(({ rows }) => rows))}`).toBe(`${what}: ${shown}`)
        }
      }
    }
  })

  test('a page of classes walks no further than it shows; only the count, of the first, looks at more of them', async () => {
    for (const mode of ['generic', 'custom'] as const) {
      const rowsOf = async (after: string) =>
        (await scans(CLASSES, [after, LIMIT + 1], mode)).map(({ rows }) => rows).filter((rows) => rows > 0)
      expect((await rowsOf('')).toSorted((one, other) => one - other)).toEqual([LIMIT + 1, MANY_CLASSES])
      expect(await rowsOf(paddedId(700))).toEqual([LIMIT + 1])
    }
  })
})

describe('large ones', () => {
  const big = 'x'.repeat(64 * 1024)
  const [first, second] = [classIdOf(1), classIdOf(2)]
  /** As they are stored, with what their documents hold beside the long text. */
  const stored = SEALING_BYTES + padded(`${big}${'x'.repeat(600)}`).length
  /** So many of them fill a page. */
  const fitting = Math.ceil(PAGE_BYTES / stored)
  const instances = 2 * fitting + 10

  beforeAll(async () => {
    await sql`TRUNCATE actors, accounts`
    for (let number = 1; number <= fitting + 5; number += 1) {
      const state = classState({
        id: `class ${number}`,
        classId: classIdOf(number),
        status: 'active',
        description: big,
      })
      await insertRows(sql, vault, 0, actorRows(state))
    }
    const writeInstance = (instanceId: string, text: string) => {
      const state = instanceState({
        id: `${first}/${instanceId}`,
        status: 'active',
        owner: 'alice',
        metadata: { text },
      })
      return insertRows(sql, vault, 0, actorRows(state))
    }
    for (let number = 0; number < instances; number += 1) await writeInstance(String(1_000 + number), big)
    await writeInstance('9', '9'.repeat(2 * PAGE_BYTES))
    await insertRows(sql, vault, 0, openAccount(0, 'alice').rows)
  })

  test('a page ends when it is full, and the next goes on behind it, each row once', async () => {
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

  test('one that is larger than a page is a page', async () => {
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
