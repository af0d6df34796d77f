/**
 * After the erasure of a closed account, the database and the master key no longer reveal its content. Its chain still
 * verifies, its ID stays taken, and counterparties keep their records (D19).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Holder, LedgerClient, membersOf, textOf } from '../support/client/client.ts'
import { agreed, agreementOn, finalGroup, groupOf, legFields, payment } from '../support/client/client-groups.ts'
import { captured, heldFor } from '../support/client/client-holds.ts'
import { type Members, newAccountKeys } from '../support/client/client-keys.ts'
import { changeStatus, funded, moved, outcomeOf } from '../support/client/client-moves.ts'
import { classOf, historyOf, instanceOf, mintedTo, type Nft } from '../support/client/client-nfts.ts'
import { vaultOfCluster } from '../support/cluster-vault.ts'
import { type Cluster, startCluster, until } from '../support/processes/cluster-process.ts'
import { type OpenedText, openedDump } from '../support/postgres/opened-dump.ts'

const ALICE = 'recognizable-alice-3b90@house'
const ALIAS = /^erased:[0-9a-f]{12}$/
/** Texts that only the account has. */
const OWN = {
  amount: '918273645.546372819',
  metadata: 'recognizable metadata of a credit',
  key: 'recognizable-idempotency-key-77aa',
  hold: 'recognizable-idempotency-key-of-a-hold',
  reason: 'recognizable reason to close',
  erasure: 'recognizable reason to erase',
}
const REQUEST = { requester: 'a test' }
const DEADLINE_MS = 180_000

let cluster: Cluster
let client: LedgerClient
let admin: LedgerClient
let alice: Holder
let bob: Holder
let ruby: Nft
let groupId: string
let holdIds: readonly string[]
let attestationId: string
let merkleRoot: string
let credit: Members
let given: Members
let before: readonly OpenedText[]
let chain: readonly Members[]
let found: Awaited<ReturnType<typeof byAmounts>>

beforeAll(async () => {
  cluster = await startCluster({ nodes: 2, edges: 1 })
  client = await LedgerClient.login(cluster.origin, cluster.clients.transactor)
  admin = await LedgerClient.login(cluster.origin, cluster.clients.admin)
  await liveALife()
  chain = await client.readAll(`/v1/accounts/${ALICE}/audit-chain`, 'entries')
  found = await byAmounts()
  before = await openedDump(cluster.databaseUrl(), await vaultOfCluster(cluster))
})
afterAll(async () => {
  client?.close()
  admin?.close()
  await cluster?.stop()
})

async function liveALife(): Promise<void> {
  alice = await client.register(ALICE)
  bob = await funded(client, 'bob@house', '100')
  credit = { type: 'credit', amount: OWN.amount, metadata: { note: OWN.metadata }, idempotency_key: OWN.key }
  await moved(client, alice, credit)
  given = await moved(client, bob, { type: 'transfer', amount: '5', to_account_id: ALICE })
  const agreement = await agreed(client, agreementOn(payment(alice, bob, '1')))
  groupId = agreement.groupId
  await moved(client, alice, legFields(agreement, 0))
  await moved(client, bob, legFields(agreement, 1))
  await finalGroup(client, agreement)
  const paid = await heldFor(client, alice, bob, { amount: '3', idempotency_key: OWN.hold })
  const received = await heldFor(client, bob, alice, { amount: '3' })
  holdIds = [paid, received]
  await captured(client, bob, paid, { amount: '2', final: true })
  await captured(client, alice, received, { amount: '3' })
  ruby = await mintedTo(client, bob, { class_id: await classOf(client, 'Gems', bob), instance_id: 'ruby' }, alice)
  await moved(client, alice, { type: 'transfer', ...ruby, to_account_id: bob.accountId })
  const statement = {
    attester: ALICE,
    subject_class: ruby.class_id,
    subject_instance: 'ruby',
    attestation_type: 'assay',
    statement: 'it is red',
  }
  attestationId = textOf(membersOf(await client.post('/v1/attestations', statement)), 'attestation_id')
  const owed = membersOf(await client.post('/v1/assertions/proof-of-liabilities', REQUEST))['result'] as Members
  merkleRoot = textOf(owed, 'merkle_root')
  await moved(client, alice, { type: 'debit', amount: textOf(await balanceOfAlice(), 'balance') })
}

function liabilityProofOfAlice(): ReturnType<LedgerClient['get']> {
  return client.get(`/v1/accounts/${ALICE}/liability-proof?merkle_root=${merkleRoot}`)
}

/**
 * The count of a list by amounts and whether it is exact, and the real number. The count opens rows beyond the page and
 * caches their amounts.
 */
async function byAmounts() {
  const list = `/v1/transactions?amount_min=5&amount_max=${OWN.amount}`
  const reply = await client.get(`${list}&page_size=1`)
  const relation = reply.headers['x-total-count-relation'] ?? 'eq'
  return {
    total: membersOf(reply)['total_count'],
    relation,
    listed: (await client.readAll(list, 'transactions')).length,
  }
}

function balanceOfAlice(): Promise<Members> {
  return client.read(`/v1/accounts/${ALICE}/balances/BASE`)
}

function erase(): ReturnType<LedgerClient['post']> {
  return admin.post(`/v1/accounts/${ALICE}/erase`, { reason: OWN.erasure })
}

/** Tables with the text, in rows of the owner if one is given. */
function tablesWith(dump: readonly OpenedText[], needle: string, owner?: string): readonly string[] {
  const hits = dump.filter((one) => one.text.includes(needle) && (owner === undefined || one.owner === owner))
  return [...new Set(hits.map(({ table }) => table))].toSorted()
}

describe('an account', () => {
  test('can be erased by an administrator once it is closed; a repeated request gets the same reply', async () => {
    expect(outcomeOf(await client.post(`/v1/accounts/${ALICE}/erase`, { reason: 'x' }))).toBe('403 ERR_FORBIDDEN')
    expect(outcomeOf(await erase())).toBe('409 ERR_CONFLICT')
    expect(outcomeOf(await admin.post('/v1/accounts/unknown/erase', { reason: 'x' }))).toBe('404 ERR_NOT_FOUND')
    await changeStatus(admin, alice, { status: 'closed', reason: OWN.reason })
    expect(membersOf(await liabilityProofOfAlice())['proofs']).toMatchObject([{ token_id: 'BASE' }])
    const erased = await erase()
    expect(membersOf(erased)).toMatchObject({ account_id: ALICE, status: 'closed', erased: true, public_key: null })
    expect(membersOf(await erase())).toEqual(membersOf(erased))
    expect(await client.read(`/v1/accounts/${ALICE}`)).toEqual(membersOf(erased))
  })

  test('cannot be read with the remaining keys, except for the records of counterparties', async () => {
    const vault = await vaultOfCluster(cluster)
    const ref = vault.accountRef(ALICE)
    const after = await openedDump(cluster.databaseUrl(), vault)
    // Before the erasure the search finds the texts.
    expect(tablesWith(before, OWN.metadata)).toEqual(['transactions'])
    expect(tablesWith(before, ALICE, ref)).toEqual(['accounts', 'audit_entries', 'operations', 'transactions'])
    const of = before.filter(({ owner }) => owner === ref).map(({ table }) => table)
    expect([...new Set(of)].toSorted()).toEqual([
      'account_keys',
      'accounts',
      'audit_entries',
      'balances',
      'operations',
      'transactions',
    ])
    expect(of.length).toBeGreaterThan(8)
    const { amount, ...words } = OWN
    for (const needle of Object.values(words)) expect(tablesWith(after, needle)).toEqual([])
    // This table has the amounts of external accounts by commit, without accounts of the ledger.
    expect(tablesWith(after, amount)).toEqual(['boundary_crossings'])
    expect(tablesWith(after, alice.keys.jwk['x'] as string)).toEqual([])
    expect(after.filter(({ owner }) => owner === ref).map(({ table }) => table)).toEqual(['accounts'])
    expect(tablesWith(after, ALICE, ref)).toEqual([])
    const theirs = ['actors', 'attestations', 'audit_entries', 'nft_events', 'operations', 'outbox', 'transactions']
    for (const table of tablesWith(after, ALICE)) expect(theirs).toContain(table)
  })
})

describe.for(['at once', 'after a restart of every node'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'at once') return
    const old = cluster.heads('node').map(({ pid }) => pid)
    const owned = await admin.readAll('/v1/shards', 'shards')
    for (const pid of old) process.kill(pid, 'SIGKILL')
    await until('other nodes are ready', DEADLINE_MS, async () => {
      const now = cluster.heads('node').map(({ pid }) => pid)
      return now.length === old.length && now.every((pid) => !old.includes(pid)) && (await cluster.isReady())
    })
    // Reads of an erased account need no owner: they do not show whether nodes have started.
    await until('every shard has an owner again', DEADLINE_MS, async () => {
      const shards = await admin.readAll('/v1/shards', 'shards')
      const before = new Map(owned.map((shard) => [shard['shard_id'], Number(shard['epoch'])]))
      const isTaken = (shard: (typeof shards)[number]): boolean =>
        shard['owner'] !== null && Number(shard['epoch']) > (before.get(shard['shard_id']) ?? Infinity)
      return shards.length === owned.length && shards.every(isTaken)
    })
  })

  test('the chain of the erased account has linked hashes and no payloads', async () => {
    const entries = await client.readAll(`/v1/accounts/${ALICE}/audit-chain`, 'entries')
    expect(entries.length).toBe(chain.length + 2)
    expect(entries.slice(0, chain.length)).toEqual(chain.map((entry) => ({ ...entry, payload: null, erased: true })))
    expect(entries.map((entry) => entry['sequence'])).toEqual([...entries.keys()])
    expect(entries.every((entry) => entry['payload'] === null && entry['erased'] === true)).toBe(true)
    const hashes = entries.map((entry) => entry['audit_hash'])
    expect(entries.slice(1).map((entry) => entry['previous_hash'])).toEqual(hashes.slice(0, -1))
    const account = await client.read(`/v1/accounts/${ALICE}`)
    expect([account['sequence'], account['audit_hash']]).toEqual([entries.length - 1, entries.at(-1)?.['audit_hash']])
  })

  test('its transactions, receipts and balances are gone; those of counterparties are unchanged', async () => {
    const txnIds = chain.flatMap((entry) => (typeof entry['txn_id'] === 'string' ? [entry['txn_id']] : []))
    expect(txnIds.length).toBeGreaterThan(3)
    for (const txnId of txnIds) {
      expect((await client.get(`/v1/transactions/${txnId}`)).status).toBe(404)
      expect((await client.get(`/v1/transactions/${txnId}/receipt`)).status).toBe(404)
    }
    expect(await client.readAll(`/v1/transactions?account_id=${ALICE}`, 'transactions')).toEqual([])
    const left = await byAmounts()
    expect([found.total, left.total]).toEqual([found.listed, left.listed])
    expect(left.listed).toBeLessThan(found.listed)
    // The ledger can no longer check the signature of the client.
    expect([found.relation, left.relation]).toEqual(['eq', 'gte'])
    const listed = await client.readAll('/v1/transactions?order=desc', 'transactions')
    expect(listed.length).toBeGreaterThan(0)
    expect(listed.filter((one) => one['account_id'] === ALICE)).toEqual([])
    expect(await client.read(`/v1/transactions/${textOf(given, 'txn_id')}`)).toEqual(given)
    expect(given['to_account_id']).toBe(ALICE)
    const accounts = await admin.readAll('/v1/accounts?', 'accounts')
    expect(accounts.map((one) => one['account_id'])).toEqual([bob.accountId])
    const now = new Date().toISOString()
    for (const path of ['balances', `balances?as_of=${now}`]) {
      expect(await client.read(`/v1/accounts/${ALICE}/${path}`)).toMatchObject({ balances: [] })
    }
    // Nothing is signed that the ledger cannot read any more.
    const statement = await client.get(`/v1/accounts/${ALICE}/statements?token_id=BASE`)
    expect(outcomeOf(statement)).toBe('404 ERR_NOT_FOUND')
    expect(outcomeOf(await liabilityProofOfAlice())).toBe('404 ERR_NOT_FOUND')
    expect((await client.post('/v1/assertions/proof-of-liabilities', REQUEST)).status).toBe(200)
  })

  test('the log proves no entry of it any more, and those of counterparties still', async () => {
    const proofOf = (accountId: string, sequence: number) =>
      client.get(`/v1/accounts/${accountId}/audit-chain/${sequence}/proof`)
    // Whole commits enter the log in their order: then it has all that is older, too.
    const { sequence } = await client.read(`/v1/accounts/${bob.accountId}`)
    await until('the log has the last entry', DEADLINE_MS, async () => {
      return (await proofOf(bob.accountId, Number(sequence))).status === 200
    })
    for (const { sequence: at, txn_id: txnId } of chain) {
      const ofReceipt = `/v1/transactions/${String(txnId)}/receipt?proof=log`
      const proofs = [await proofOf(ALICE, Number(at)), await client.get(ofReceipt)]
      expect(proofs.map(outcomeOf)).toEqual(['404 ERR_NOT_FOUND', '404 ERR_NOT_FOUND'])
      expect(proofs.map(({ headers }) => headers['retry-after'])).toEqual([undefined, undefined])
    }
    expect((await client.get(`/v1/transactions/${textOf(given, 'txn_id')}/receipt?proof=log`)).status).toBe(200)
    expect((await admin.get(`/v1/accounts/${bob.accountId}/log-key`)).status).toBe(200)
    expect(outcomeOf(await admin.get(`/v1/accounts/${ALICE}/log-key`))).toBe('404 ERR_NOT_FOUND')
  })

  test('records of counterparties name the erased account by a pseudonym', async () => {
    const legs = (await groupOf(client, groupId))['legs'] as readonly Members[]
    const names = new Set(legs.flatMap((leg) => [leg['account_id'], leg['to_account_id']]))
    const history = await historyOf(client, ruby)
    for (const event of history) names.add(event['from']).add(event['to'])
    for (const holdId of holdIds) {
      const hold = await client.read(`/v1/holds/${holdId}`)
      expect([hold['status'], hold['metadata']]).toEqual(['captured', undefined])
      names.add(hold['account_id']).add(hold['to_account_id'])
    }
    const attestation = await client.read(`/v1/attestations/${attestationId}`)
    names.add(attestation['attester'])
    // Signed documents of the service contain the pseudonym.
    expect([attestation['signature'], attestation['key_id']]).toEqual([undefined, undefined])
    const path = `/v1/nft-classes/${ruby.class_id}/instances/ruby/provenance`
    const provenance = await client.readAll(`${path}?`, 'provenance')
    for (const entry of provenance) names.add(entry['actor'])
    expect(provenance.length).toBe(3)
    for (const known of [undefined, null, bob.accountId]) names.delete(known)
    expect([...names]).toEqual([expect.stringMatching(ALIAS)])
    expect((await instanceOf(client, ruby))['owner']).toBe(bob.accountId)
    const [alias] = [...names] as string[]
    expect((await client.get(`/v1/accounts/${alias}`)).status).not.toBe(200)
  })

  test('its ID stays taken, and its former orders are not replayed', async () => {
    const again = { account_id: ALICE, public_key: newAccountKeys().jwk }
    expect(outcomeOf(await admin.post('/v1/accounts', again))).toBe('409 ERR_CONFLICT')
    const same = { account_id: ALICE, public_key: alice.keys.jwk }
    expect(outcomeOf(await client.post('/v1/accounts', same))).toBe('409 ERR_CONFLICT')
    expect(outcomeOf(await client.submit(alice, credit))).toBe('409 ERR_CONFLICT')
    const failing = await client.submit(bob, {
      type: 'transfer',
      amount: '1',
      to_account_id: ALICE,
      idempotency_key: when,
    })
    expect(failing.status).toBe(202)
    const path = `/v1/transactions/${textOf(membersOf(failing), 'txn_id')}`
    const detail = await client.read(path, { prefer: 'wait=30' })
    expect([detail['status'], (detail['failure'] as Members)['code']]).toEqual(['failed', 'account_closed'])
    const alias = { account_id: 'erased:0123456789ab', public_key: newAccountKeys().jwk }
    expect(outcomeOf(await client.post('/v1/accounts', alias))).toBe('400 ERR_INVALID_ACCOUNT_ID')
  })
})
