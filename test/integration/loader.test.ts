/** Goal: a loaded ledger is one that the ledger itself could have written: it verifies, it adds up, and it goes on. */
import { createPublicKey, verify } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatQuantity, parseQuantity, ZERO } from '../../actors/money.ts'
import { createOrMigrate } from '../../infra/main/ledger-creation.ts'
import { checkOffline } from '../e2e/offline-check.ts'
import { ConservationWatch } from '../e2e/value-moves-conservation.ts'
import { type Holder, LedgerClient, membersOf, textOf } from '../support/client.ts'
import { accepted, holdingOf, moved } from '../support/client-moves.ts'
import { historyOf, mint, ownedBy } from '../support/client-nfts.ts'
import { type Members, signed } from '../support/client-keys.ts'
import { type Cluster, startCluster } from '../support/cluster-process.ts'
import { type FreshLedger, loadFreshLedger } from '../support/loader/fresh-ledger.ts'
import { loadLedger } from '../support/loader/ledger-load.ts'
import { shapeOf } from '../support/loader/load-shape.ts'

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
})
afterAll(closeAll)

/** Another ledger on the same server. */
async function emptyLedger(name: string): Promise<{ readonly url: string; readonly open: () => postgres.Sql }> {
  await sql`CREATE DATABASE ${sql(name)}`
  const address = new URL(ledger.url)
  address.pathname = `/${name}`
  const url = address.toString()
  await createOrMigrate(url, ledger.masterKey, SHARDS)
  return { url, open: () => postgres(url, { max: 1, onnotice: () => undefined }) }
}

/** What a seed decides. Orders as a set: in which millisecond each is entered, and so its ID, is the machine's. */
const DECIDED = `
SELECT a.account_id, a.key_id, a.status, a.sequence, a.completed_count, a.failed_count,
       (SELECT json_agg(json_build_array(t.type, regexp_replace(t.token_id, '^cls_[^/]*', ''), t.amount, t.status)
               ORDER BY t.type, regexp_replace(t.token_id, '^cls_[^/]*', ''), t.amount, t.status)
          FROM transactions t WHERE t.account_id = a.account_id AND t.origin = 'client') AS orders,
       (SELECT json_agg(json_build_array(b.token_id, b.balance::text) ORDER BY b.token_id)
          FROM balances b WHERE b.account_id = a.account_id) AS balances
  FROM accounts a ORDER BY a.account_id`

/** In the order in which they were made. */
const INDEXES = `
SELECT i.indrelid::regclass::text AS "table", c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition,
       (SELECT contype FROM pg_constraint WHERE conindid = i.indexrelid) AS constraint
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'public' ORDER BY 1, i.indexrelid`

/** Whatever is still on its way. */
const UNFINISHED = `
SELECT 'pending' AS what FROM transactions WHERE status = 'pending'
UNION ALL SELECT 'held' FROM holds
UNION ALL SELECT 'promised' FROM balances WHERE reserved <> 0 OR incoming <> 0 OR room <> 0
UNION ALL SELECT 'promised' FROM accounts WHERE nft_room <> 0
UNION ALL SELECT kind FROM actors WHERE kind IN ('token', 'class', 'instance') AND status NOT IN ('active', 'burned')
UNION ALL SELECT 'unheard' FROM outbox WHERE receiver LIKE 'token %' AND NOT EXISTS (
  SELECT FROM actors WHERE kind = 'token' AND 'token ' || actor_id = receiver)
UNION ALL SELECT 'message' FROM outbox o
  LEFT JOIN inbox_marks m ON m.shard_id = o.target_shard AND m.source_shard = o.shard_id
  LEFT JOIN outbox_channels c ON c.shard_id = o.shard_id AND c.target_shard = o.target_shard
 WHERE o.number > coalesce(m.mark, 0) OR o.number > coalesce(c.sent, 0)`

describe('a load', () => {
  test('has what was asked for, and says so', async () => {
    const { sums, plan, keys } = ledger
    const [found] = await sql`
      SELECT (SELECT count(*)::integer FROM accounts) AS accounts,
             (SELECT count(*)::integer FROM accounts WHERE key_id IS NULL AND sequence = 0) AS keyless,
             (SELECT count(*)::integer FROM accounts a WHERE key_id IS NOT NULL AND NOT EXISTS (
                SELECT FROM transactions t WHERE t.account_id = a.account_id)) AS empty,
             (SELECT count(*)::integer FROM (
                SELECT FROM balances GROUP BY account_id HAVING sum(balance) = 0) drained) AS drained,
             (SELECT count(*)::integer FROM transactions WHERE status = 'completed') AS completed,
             (SELECT count(*)::integer FROM transactions WHERE status = 'failed') AS failed,
             (SELECT count(DISTINCT key_id)::integer FROM accounts) AS keys,
             (SELECT count(*)::integer FROM actors WHERE kind = 'token' AND status = 'active') AS tokens,
             (SELECT count(*)::integer FROM actors WHERE kind = 'instance' AND status IN ('active', 'burned')) AS nfts,
             (SELECT count(*)::integer FROM actors WHERE kind = 'instance' AND status = 'burned') AS burned,
             (SELECT count(DISTINCT shard_id)::integer FROM accounts) AS shards`
    const { completed, failed } = sums
    expect(found).toMatchObject({ accounts: 300, keyless: 10, empty: 15, keys: 3, tokens: 5, completed, failed })
    expect(found).toMatchObject({ nfts: 300, burned: 30 })
    expect(found?.['drained']).toBeGreaterThanOrEqual(20)
    expect(sums.accounts).toBe(300)
    expect(failed).toBeGreaterThan(0)
    expect(completed).toBeGreaterThan(300)
    expect(found?.['shards']).toBe(SHARDS)
    expect(keys.map(({ accountKey }) => accountKey.keyId)).toHaveLength(3)
    expect(plan.kindOf(299)).toBe('keyless')
  })

  test('every order is signed by its account', async () => {
    const rows = await sql<{ payload: string; signature: string; key_id: string }[]>`
      SELECT payload, signature, key_id FROM transactions WHERE origin = 'client'`
    const keys = new Map(
      ledger.keys.map(({ keys: { jwk }, accountKey }) => [
        accountKey.keyId,
        createPublicKey({ key: { ...jwk }, format: 'jwk' }),
      ]),
    )
    const verified = rows.filter(({ payload, signature, key_id: keyId }) => {
      const key = keys.get(keyId)
      if (key === undefined) return false
      const bytes = Buffer.from(signature, 'base64url')
      return verify('sha256', Buffer.from(payload), { key, dsaEncoding: 'ieee-p1363' }, bytes)
    })
    expect(rows.length).toBeGreaterThan(SHAPE.accounts + SHAPE.nfts)
    expect(verified).toHaveLength(rows.length)
  })

  test('the same seed gives the same accounts, orders and balances; another seed others; B1: the indexes stay', async () => {
    const same = await emptyLedger('same_seed')
    const other = await emptyLedger('other_seed')
    const decided: Record<string, unknown>[][] = []
    for (const [{ url, open }, seed] of [
      [same, SHAPE.seed],
      [other, SHAPE.seed + 1],
    ] as const) {
      const looking = open()
      const before = await looking.unsafe(INDEXES)
      // A name that COPY's text format has to escape.
      const clientId = 'load\t"er\\\n'
      await loadLedger({ ...SHAPE, seed, url, masterKey: ledger.masterKey, clientId })
      expect(await looking.unsafe(INDEXES)).toEqual(before)
      expect(await looking`SELECT DISTINCT registered_by FROM accounts`).toEqual([{ registered_by: clientId }])
      decided.push([...(await looking.unsafe(DECIDED))])
      await looking.end()
    }
    const first = await sql.unsafe(DECIDED)
    // Row by row: what differs is shown, and not all of it.
    for (const [index, row] of first.entries()) expect(decided[0]?.[index]).toEqual(row)
    const ordersOf = (rows: readonly Record<string, unknown>[] = []) => rows.map((row) => row['orders'])
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
    const accountIds = Array.from({ length: SHAPE.accounts }, (_, number) => ledger.plan.accountIdOf(number))
    const { code, out, err, txnIds } = await checkOffline(client, accountIds)
    expect(err).toBe('')
    expect(out).not.toContain('TAMPERED')
    expect(code).toBe(0)
    expect(out.split('\n').filter((line) => line.includes('chain of'))).toHaveLength(SHAPE.accounts)
    expect(txnIds).toHaveLength(ledger.sums.completed + ledger.sums.failed)
  })

  test('I4: value is conserved, and nothing is unfinished', async () => {
    const watch = new ConservationWatch(sql)
    await watch.stop()
    expect(watch.faults).toEqual([])
    expect(await sql.unsafe(UNFINISHED)).toEqual([])
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
    const [held] = await sql<{ total: string }[]>`SELECT sum(balance)::text AS total FROM balances`
    const { total_liabilities: total } = await proof('liabilities')
    expect(total).toBe(formatQuantity(parseQuantity(held?.total ?? '')))
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
    const [row] = await sql<{ txn_id: string; account_id: string; payload: string; signature: string }[]>`
      SELECT txn_id, account_id, payload, signature FROM transactions WHERE status = 'completed' AND origin = 'client' LIMIT 1`
    const sent = { ...(JSON.parse(row?.payload ?? '') as Members), signature: row?.signature ?? '' }
    const reply = await client.post('/v1/transactions', sent)
    expect(reply.status).toBe(202)
    expect(reply.headers['idempotency-replayed']).toBe('true')
    expect(membersOf(reply)['txn_id']).toBe(row?.txn_id)
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
    const watch = new ConservationWatch(sql)
    await watch.stop()
    expect(watch.faults).toEqual([])
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
