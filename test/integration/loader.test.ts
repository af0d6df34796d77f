/** Goal: a loaded ledger is one that the ledger itself could have written: it verifies, it adds up, and it goes on. */
import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AccountState } from '../../actors/account/state.ts'
import { formatQuantity, parseQuantity, ZERO } from '../../actors/money.ts'
import { readSnapshot } from '../../infra/assertions/liability-snapshot.ts'
import { createOrMigrate } from '../../infra/main/ledger-creation.ts'
import { checkOffline } from '../e2e/offline-check.ts'
import { type Holder, LedgerClient, membersOf, textOf } from '../support/client.ts'
import { accepted, holdingOf, moved } from '../support/client-moves.ts'
import { historyOf, mint, ownedBy } from '../support/client-nfts.ts'
import { type Members, signed } from '../support/client-keys.ts'
import { type Cluster, startCluster } from '../support/cluster-process.ts'
import { type FreshLedger, loadFreshLedger } from '../support/loader/fresh-ledger.ts'
import { loadLedger } from '../support/loader/ledger-load.ts'
import { shapeOf } from '../support/loader/load-shape.ts'
import { type LoadedRows, loadedRows } from '../support/loader/loaded-rows.ts'

const SHARDS = 16
const SHAPE = shapeOf({
  accounts: 300,
  transactions: 4,
  skewed: true,
  tokens: 5,
  nfts: 300,
  keys: 3,
  drained: 20,
  empty: 15,
  keyless: 10,
})

let ledger: FreshLedger
let sql: postgres.Sql
let rows: LoadedRows
/** Of what has been opened, the last first. */
const closings: (() => unknown)[] = []

async function closeAll(): Promise<void> {
  for (const close of closings.splice(0).reverse()) await close()
}

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ledger-load-'))
  closings.push(() => rmSync(directory, { recursive: true, force: true }))
  ledger = await loadFreshLedger({ ...SHAPE, dataDir: directory, shards: SHARDS })
  closings.push(ledger.stop)
  sql = postgres(ledger.url, { max: 1, onnotice: () => undefined })
  closings.push(() => sql.end())
  rows = await loadedRows(sql, ledger.masterKey)
})
afterAll(closeAll)

/** Another ledger on the same server. */
async function emptyLedger(name: string): Promise<{ readonly url: string; readonly open: () => postgres.Sql }> {
  await sql`CREATE DATABASE ${sql(name)}`
  const address = new URL(ledger.url)
  address.pathname = `/${name}`
  const url = address.toString()
  await createOrMigrate(url, { current: ledger.masterKey, previous: [] }, SHARDS, 'on')
  return { url, open: () => postgres(url, { max: 1, onnotice: () => undefined }) }
}

/** What a seed decides. Orders as a set: in which millisecond each is entered, and so its ID, is the machine's. */
async function decidedIn({ accounts, orders }: LoadedRows): Promise<readonly Decided[]> {
  const ordersOf = new Map<string, string[]>()
  for (const { accountId, type, tokenId, amount, status } of await orders()) {
    const order = JSON.stringify([type, tokenId.replace(/^cls_[^/]*/, ''), amount, status])
    ordersOf.set(accountId, [...(ordersOf.get(accountId) ?? []), order])
  }
  return (await accounts(accountIds())).map((account) => ({
    accountId: account.accountId,
    keyId: account.key?.keyId ?? null,
    counts: [account.sequence, account.completedCount, account.failedCount],
    balances: [...account.balances].map(([tokenId, { balance }]) => `${tokenId} ${formatQuantity(balance)}`).sort(),
    orders: (ordersOf.get(account.accountId) ?? []).sort(),
  }))
}

interface Decided {
  readonly accountId: string
  readonly keyId: string | null
  readonly counts: readonly number[]
  readonly balances: readonly string[]
  readonly orders: readonly string[]
}

function accountIds(): readonly string[] {
  return Array.from({ length: SHAPE.accounts }, (_, number) => ledger.plan.accountIdOf(number))
}

/** In the order in which they were made. */
const INDEXES = `
SELECT i.indrelid::regclass::text AS "table", c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition,
       (SELECT contype FROM pg_constraint WHERE conindid = i.indexrelid) AS constraint
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'public' ORDER BY 1, i.indexrelid`

async function reconciled(): Promise<string> {
  const options = { vault: rows.vault, sharesEach: 1, seed: randomBytes(32), maxRows: 10_000 }
  return (await readSnapshot(sql, options)).kind
}

/** Whatever is still on its way. */
const UNFINISHED = `
SELECT 'pending' AS what FROM transactions WHERE status = 'pending'
UNION ALL SELECT 'held' FROM holds
UNION ALL SELECT kind FROM actors WHERE kind IN ('token', 'class', 'instance') AND status NOT IN ('active', 'burned')
UNION ALL SELECT 'message' FROM outbox o
  LEFT JOIN inbox_marks m ON m.shard_id = o.target_shard AND m.source_shard = o.shard_id
  LEFT JOIN outbox_channels c ON c.shard_id = o.shard_id AND c.target_shard = o.target_shard
 WHERE o.number > coalesce(m.mark, 0) OR o.number > coalesce(c.sent, 0)`

describe('a load', () => {
  test('has what was asked for, and says so', async () => {
    const { sums, plan, keys } = ledger
    const [found] = await sql`
      SELECT (SELECT count(*)::integer FROM accounts) AS accounts,
             (SELECT count(*)::integer FROM transactions WHERE status = 'completed') AS completed,
             (SELECT count(*)::integer FROM transactions WHERE status = 'failed') AS failed,
             (SELECT count(*)::integer FROM actors WHERE kind = 'token' AND status = 'active') AS tokens,
             (SELECT count(*)::integer FROM actors WHERE kind = 'instance' AND status IN ('active', 'burned')) AS nfts,
             (SELECT count(*)::integer FROM actors WHERE kind = 'instance' AND status = 'burned') AS burned,
             (SELECT count(DISTINCT shard_id)::integer FROM accounts) AS shards`
    const accounts = await rows.accounts(accountIds())
    const submitting = new Set((await rows.orders()).map(({ accountId }) => accountId))
    const isDrained = ({ balances }: AccountState): boolean =>
      balances.size > 0 && [...balances.values()].every(({ balance }) => balance.isZero())
    expect(accounts).toHaveLength(300)
    expect(accounts.filter(({ key, sequence }) => key === null && sequence === 0)).toHaveLength(10)
    expect(accounts.filter(({ key, accountId }) => key !== null && !submitting.has(accountId))).toHaveLength(15)
    expect(accounts.filter(isDrained).length).toBeGreaterThanOrEqual(20)
    expect(new Set(accounts.flatMap(({ key }) => key?.keyId ?? [])).size).toBe(3)
    const { completed, failed } = sums
    expect(found).toMatchObject({ accounts: 300, tokens: 5, completed, failed })
    expect(found).toMatchObject({ nfts: 300, burned: 30 })
    expect(sums.accounts).toBe(300)
    expect(failed).toBeGreaterThan(0)
    expect(completed).toBeGreaterThan(300)
    expect(found?.['shards']).toBe(SHARDS)
    expect(keys.map(({ accountKey }) => accountKey.keyId)).toHaveLength(3)
    expect(plan.kindOf(299)).toBe('keyless')
  })

  test('every order is signed by its account', async () => {
    const orders = await rows.orders()
    const keys = new Map(
      ledger.keys.map(({ keys: { jwk }, accountKey }) => [
        accountKey.keyId,
        createPublicKey({ key: { ...jwk }, format: 'jwk' }),
      ]),
    )
    const verified = orders.filter(({ payload, signature, keyId }) => {
      const key = keys.get(keyId)
      if (key === undefined) return false
      const bytes = Buffer.from(signature, 'base64url')
      return verify('sha256', Buffer.from(payload), { key, dsaEncoding: 'ieee-p1363' }, bytes)
    })
    expect(orders.length).toBeGreaterThan(SHAPE.accounts + SHAPE.nfts)
    expect(verified).toHaveLength(orders.length)
  })

  test('the same seed gives the same accounts, orders and balances; another seed others; B1: the indexes stay', async () => {
    const same = await emptyLedger('same_seed')
    const other = await emptyLedger('other_seed')
    const decided: (readonly Decided[])[] = []
    for (const [{ url, open }, seed] of [
      [same, SHAPE.seed],
      [other, SHAPE.seed + 1],
    ] as const) {
      const looking = open()
      const before = await looking.unsafe(INDEXES)
      const clientId = 'load\t"er\\\n'
      await loadLedger({ ...SHAPE, seed, url, masterKey: ledger.masterKey, clientId })
      expect(await looking.unsafe(INDEXES)).toEqual(before)
      const loaded = await loadedRows(looking, ledger.masterKey)
      const clients = (await loaded.accounts(accountIds())).map(({ registeredBy }) => registeredBy)
      expect(new Set(clients)).toEqual(new Set([clientId]))
      decided.push(await decidedIn(loaded))
      await looking.end()
    }
    const first = await decidedIn(rows)
    // Row by row: what differs is shown, and not all of it.
    for (const [index, row] of first.entries()) expect(decided[0]?.[index]).toEqual(row)
    const ordersOf = (found: readonly Decided[] = []) => found.map(({ orders }) => orders)
    expect(ordersOf(decided[1])).not.toEqual(ordersOf(decided[0]))
  })

  test('B3: a load that fails leaves every table as it was', async () => {
    const { url, open } = await emptyLedger('failing')
    const looking = open()
    await looking`ALTER TABLE transactions ADD COLUMN demanded text NOT NULL`
    const before = await looking.unsafe(INDEXES)
    await expect(loadLedger({ ...SHAPE, url, masterKey: ledger.masterKey })).rejects.toThrow(
      'rows of transactions were refused: null value in column "demanded"',
    )
    expect(await looking.unsafe(INDEXES)).toEqual(before)
    expect(await looking`SELECT 1 FROM accounts LIMIT 1`).toEqual([])
    await looking.end()
  })

  test('L2: a ledger that is not empty is refused, and so is a shape that cannot be', async () => {
    const { url, masterKey } = ledger
    await expect(loadLedger({ ...SHAPE, url, masterKey })).rejects.toThrow('not empty: there are rows in accounts')
    await expect(loadLedger({ accounts: 10, tokens: 5, empty: 6, url, masterKey })).rejects.toThrow(RangeError)
  })
})

describe('a ledger that goes on from a load', () => {
  let cluster: Cluster
  let client: LedgerClient

  beforeAll(async () => {
    const env = { LEDGER_DATABASE_URL: ledger.url, LEDGER_MASTER_KEY_FILE: ledger.masterKeyFile }
    cluster = await startCluster({ nodes: 1, edges: 1, env })
    closings.push(cluster.stop)
    client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
    closings.push(() => client.close())
  })

  function holder(number: number): Holder {
    const shared = ledger.keys[ledger.plan.keyNumberOf(number)]
    if (shared === undefined) throw new Error(`there is no key of account ${number}`)
    return { accountId: ledger.plan.accountIdOf(number), keys: shared.keys }
  }

  test('I6, I7: every chain and every receipt verifies offline, with the keys of the JWKS', async () => {
    const { code, out, err, txnIds } = await checkOffline(client, accountIds())
    expect(err).toBe('')
    expect(out).not.toContain('TAMPERED')
    expect(code).toBe(0)
    expect(out.split('\n').filter((line) => line.includes('chain of'))).toHaveLength(SHAPE.accounts)
    expect(txnIds).toHaveLength(ledger.sums.completed + ledger.sums.failed)
  })

  test('I4: value is conserved, and nothing is unfinished', async () => {
    expect(await reconciled()).toBe('reconciled')
    expect(await sql.unsafe(UNFINISHED)).toEqual([])
    const accounts = await rows.accounts(accountIds())
    const promised = accounts.flatMap(({ nftRoom, balances }) => [
      nftRoom,
      ...[...balances.values()].flatMap(({ reserved, incoming, room }) => [reserved, incoming, room].map(Number)),
    ])
    expect(promised.length).toBeGreaterThan(SHAPE.accounts)
    expect(new Set(promised)).toEqual(new Set([0]))
  })

  test('the ledger vouches for it: compliant, its NFTs provable, its liabilities those that were loaded', async () => {
    const proof = async (name: string): Promise<Members> => {
      const reply = await client.post(`/v1/assertions/proof-of-${name}`, { requester: 'a test' })
      if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${reply.body}`)
      return membersOf(reply)['result'] as Members
    }
    const { controls, compliant } = await proof('compliance')
    for (const control of controls as readonly Members[]) expect(control).toMatchObject({ passed: true, failed: 0 })
    expect((controls as readonly Members[]).length).toBeGreaterThan(3)
    expect(compliant).toBe(true)
    expect(await proof('provenance')).toMatchObject({ provenance_valid: true, assets_verified: SHAPE.nfts })
    const balances = (await rows.accounts(accountIds())).flatMap((account) => [...account.balances.values()])
    const held = balances.reduce((sum, { balance }) => sum.plus(balance), ZERO)
    const { total_liabilities: total } = await proof('liabilities')
    expect(total).toBe(formatQuantity(held))
  })

  test('counts and balances are shown as they were loaded', async () => {
    const { completed, failed } = ledger.sums
    expect(await client.read('/v1/transactions')).toMatchObject({ total_count: completed + failed })
    expect(await client.read('/v1/transactions?status=failed')).toMatchObject({ total_count: failed })
    const { accountId } = holder(0)
    const shown = (await client.read(`/v1/accounts/${accountId}/balances`))['balances'] as readonly Members[]
    const orders = await client.readAll(`/v1/transactions?account_id=${accountId}&status=completed`, 'transactions')
    const sums = new Map<string, typeof ZERO>()
    for (const order of orders) {
      const amount = parseQuantity(textOf(order, 'amount'))
      const sum = sums.get(textOf(order, 'token_id')) ?? ZERO
      sums.set(textOf(order, 'token_id'), order['type'] === 'debit' ? sum.minus(amount) : sum.plus(amount))
    }
    expect(sums.size).toBeGreaterThan(1)
    expect(new Map(shown.map((one) => [one['token_id'], one['balance']]))).toEqual(
      new Map([...sums].map(([tokenId, sum]) => [tokenId, formatQuantity(sum)])),
    )
    const tokens = (await client.read('/v1/fungible-tokens'))['tokens'] as readonly Members[]
    expect(tokens.map((token) => token['token_id'])).toEqual(ledger.plan.tokens.map(({ tokenId }) => tokenId))
  })

  test('I9: every NFT has the history that its owner follows from, and can be handed on', async () => {
    const [planned] = ledger.plan.classes
    const accounts = [planned?.issuer ?? 0, ...(planned?.collectors ?? [])].map(holder)
    const [listed] = await client.readAll('/v1/nft-classes', 'classes')
    const classId = textOf(listed ?? {}, 'class_id')
    const instances = await client.readAll(`/v1/nft-classes/${classId}/instances`, 'instances')
    expect(instances).toHaveLength(SHAPE.nfts)
    const owners = new Map<string, number>()
    for (const instance of instances) {
      const nft = { class_id: classId, instance_id: textOf(instance, 'instance_id'), amount: '1' } as const
      const history = await historyOf(client, nft)
      expect(history[0]).toMatchObject({ type: 'mint', from: null })
      for (const [index, event] of history.slice(1).entries()) expect(event['from']).toBe(history[index]?.['to'])
      const last = history.at(-1)
      expect(instance['owner']).toBe(last?.['to'])
      if (last?.['type'] !== 'burn')
        owners.set(textOf(instance, 'owner'), (owners.get(textOf(instance, 'owner')) ?? 0) + 1)
    }
    for (const account of accounts) {
      expect(await ownedBy(client, account)).toHaveLength(owners.get(account.accountId) ?? 0)
    }
    const [issuer, one, other] = accounts
    if (issuer === undefined || one === undefined || other === undefined) throw new Error('there are no collectors')
    const [given] = await ownedBy(client, one)
    const nft = { class_id: classId, instance_id: given ?? '', amount: '1' } as const
    await moved(client, one, { type: 'transfer', to_account_id: other.accountId, ...nft })
    expect(await ownedBy(client, other)).toContain(given)
    const metadata = { serial: SHAPE.nfts, title: 'one more' }
    const minted = await mint(client, issuer, classId, { instance_id: 'one-more', owner: one.accountId, metadata })
    expect(minted.status).toBe(201)
  })

  test('an order that was loaded is known: the same again is a repeat', async () => {
    const order = (await rows.orders()).find(({ type, status }) => type === 'credit' && status === 'completed')
    const sent = { ...(JSON.parse(order?.payload ?? '') as Members), signature: order?.signature ?? '' }
    const reply = await client.post('/v1/transactions', sent)
    expect(reply.status).toBe(202)
    expect(reply.headers['idempotency-replayed']).toBe('true')
    expect(membersOf(reply)['txn_id']).toBe(order?.txnId)
  })

  test('new orders are signed with the shared keys, and go on in the chains of their accounts', async () => {
    const [issuer, receiver] = [holder(1), holder(100)]
    const tokenId = ledger.plan.tokens[1]?.tokenId ?? ''
    const before = await client.read(`/v1/accounts/${issuer.accountId}`)
    const held = await holdingOf(client, issuer.accountId, tokenId)
    await moved(client, issuer, { type: 'mint', amount: '5', token_id: tokenId })
    await moved(client, issuer, { type: 'transfer', amount: '5', token_id: tokenId, to_account_id: receiver.accountId })
    await accepted(client, receiver, { type: 'credit', amount: '0.000000000000000001' })
    const after = await client.read(`/v1/accounts/${issuer.accountId}`)
    expect(after['sequence']).toBe(Number(before['sequence']) + 2)
    expect((await holdingOf(client, issuer.accountId, tokenId)).balance).toBe(held.balance)
    const { code, out } = await checkOffline(client, [issuer.accountId, receiver.accountId])
    expect(out).not.toContain('TAMPERED')
    expect(code).toBe(0)
    expect(await reconciled()).toBe('reconciled')
  })

  test('an account without a key gets one, and then submits', async () => {
    const admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
    const keyless = ledger.plan.accountIdOf(SHAPE.accounts - 1)
    const { keys } = holder(0)
    const order = signed(
      { account_id: keyless, type: 'credit', amount: '1', idempotency_key: 'first' },
      keys.privateKey,
    )
    expect((await admin.post('/v1/transactions', order)).status).toBe(403)
    expect((await admin.post('/v1/accounts', { account_id: keyless, public_key: keys.jwk })).status).toBe(201)
    expect((await admin.post('/v1/transactions', order)).status).toBe(202)
    admin.close()
  })

  test('L2: while it is being served, it takes no load', async () => {
    await expect(loadLedger({ ...SHAPE, url: ledger.url, masterKey: ledger.masterKey })).rejects.toThrow('being served')
  })
})
