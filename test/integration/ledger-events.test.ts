/** The event log of a real ledger: each fact once, in order, without gaps, also beside commits in flight. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAttestationStore } from '../../infra/postgres/access/attestation-store-postgres.ts'
import { findPlaces } from '../../infra/postgres/reads/event-places.ts'
import { createLedgerEvents, type PostgresLedgerEvents } from '../../infra/postgres/reads/ledger-events-postgres.ts'
import { accountAddress } from '../../actors/address.ts'
import { type EventPosition, EventsUnavailable, type LedgerEvent } from '../../runtime/ports/ledger-events.ts'
import {
  type AuditedLedger,
  createAuditedLedger,
  everythingOnce,
  Parties,
  type Told,
} from '../support/audited-ledger.ts'
import type { TransactionView } from '../../runtime/ports/ledger-reads.ts'
import { accountKeyName } from '../../infra/vault/key-name.ts'
import { PLACES } from '../../infra/postgres/rows/row-sealer.ts'
import { canonical } from '../support/client/client-keys.ts'
import { shardOf } from '../contract/ledger-reads/ledger-reads-postgres-subject.ts'
import { until } from '../support/postgres/ledger-store-postgres.ts'

let ledger: AuditedLedger
let events: PostgresLedgerEvents
let parties: Parties
let told: Told

beforeAll(async () => {
  ledger = await createAuditedLedger()
  const { url, ledgerId, vault } = ledger
  events = createLedgerEvents({ url, ledgerId, vault })
  parties = new Parties(ledger)
  told = await everythingOnce(parties, 'x')
  await attestOnce()
})
afterAll(async () => {
  await events?.close()
  await ledger?.close()
})

async function attestOnce(): Promise<void> {
  const { url, vault } = ledger
  const store = createAttestationStore({ url, vault, homeOf: () => shardOf('any') })
  const seal = { keyId: 'k', signature: 's' }
  const attestation = {
    attestationId: 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    attester: told.bob.accountId,
    subjectClass: told.classId,
    subjectInstance: 'kept',
    attestationType: 'grading',
    statement: 'It is whole.',
    evidenceUrl: null,
    submittedBy: 'tester',
    attesterVerified: false,
    createdAtMs: 1_790_000_000_000,
    seal,
    revocation: null,
  }
  await store.create(attestation, null)
  await store.revoke(attestation.attestationId, { atMs: 1_790_000_000_001, by: 'tester', reason: null, seal })
  await store.close()
}

async function readAll(after: EventPosition | null, limit: number): Promise<readonly LedgerEvent[]> {
  const all: LedgerEvent[] = []
  for (let next = after; ;) {
    const page = await events.read(next, limit)
    expect(page.events.length).toBeLessThanOrEqual(limit)
    all.push(...page.events)
    if (page.atEnd) return all
    next = page.next
  }
}

/** Waits until the log has an event of the transaction. */
async function untilLogged(txnId: string, after: EventPosition): Promise<void> {
  await until(async () => txnIdsOf(await readAll(after, 1_000)).includes(txnId))
}

function txnIdsOf(of: readonly LedgerEvent[]): readonly string[] {
  return of.flatMap(({ content }) => (content.kind === 'transaction' ? [content.transaction.txnId] : []))
}

test('everything that happened is in the log once', async () => {
  const all = await readAll(null, 1_000)
  const [counts] = await ledger.sql<{ transactions: string; entries: string; nfts: string; groups: string }[]>`
    SELECT (SELECT count(*) FROM transactions) AS transactions, (SELECT count(*) FROM audit_entries) AS entries,
           (SELECT count(*) FROM nft_events) AS nfts,
           (SELECT count(*) FROM actors WHERE kind = 'group' AND status IN ('settled', 'reverted')) AS groups`
  const found: Record<string, number> = {}
  for (const { content } of all) found[content.kind] = (found[content.kind] ?? 0) + 1
  expect(found).toEqual({
    transaction: Number(counts?.transactions),
    entry: Number(counts?.entries),
    nft: Number(counts?.nfts),
    group: Number(counts?.groups),
    attestation: 2,
  })
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  expect(new Set(all.map(({ name }) => name))).toEqual(
    new Set([
      'transaction.completed',
      'transaction.failed',
      'group.settled',
      'group.reverted',
      'account.registered',
      'account.key_rotated',
      'account.status_changed',
      'account.leg_settled',
      'nft.minted',
      'nft.transferred',
      'nft.burned',
      'attestation.created',
      'attestation.revoked',
    ]),
  )
})

test('the events of an account follow its chain', async () => {
  const sequences = new Map<string, number[]>()
  for (const { content, subject } of await readAll(null, 1_000)) {
    const sequence = sequenceOf(content)
    if (sequence !== null) sequences.set(subject, [...(sequences.get(subject) ?? []), sequence])
  }
  expect(sequences.size).toBeGreaterThan(2)
  for (const found of sequences.values()) expect(found).toEqual(found.map((_, index) => index))
})

function sequenceOf(content: LedgerEvent['content']): number | null {
  if (content.kind === 'entry') return content.entry.sequence
  if (content.kind !== 'transaction') return null
  const { sequence } = JSON.parse(content.receipt.payload) as { readonly sequence: number | null }
  return sequence
}

test('an event shows the transaction as it ended, also after its compensation', async () => {
  const [compensated] = await ledger.sql<{ txn_id: string }[]>`
    SELECT txn_id FROM transactions WHERE compensated_by IS NOT NULL LIMIT 1`
  expect(await shownOf(compensated?.txn_id ?? '')).toMatchObject({ compensatedBy: null })
})

test('a refund has an event of its own, and does not change that of the refunded transfer', async () => {
  const { alice, bob } = told
  const transfer = await parties.submit(alice, { type: 'transfer', amount: '2', to_account_id: bob.accountId })
  await parties.atRest()
  const refund = await parties.submit(bob, { type: 'transfer', amount: '1.5', refunds: transfer })
  await parties.atRest()
  const [row] = await ledger.sql`SELECT refunded IS NOT NULL AS refunded FROM transactions WHERE txn_id = ${transfer}`
  expect(row).toEqual({ refunded: true })
  expect(await shownOf(transfer)).toMatchObject({ status: 'completed', refunded: null })
  expect(await shownOf(refund)).toMatchObject({ status: 'completed', refunds: transfer })
})

/** The transaction in its event. */
async function shownOf(txnId: string): Promise<TransactionView | undefined> {
  const event = (await readAll(null, 1_000)).find((of) => txnIdsOf([of])[0] === txnId)
  return event?.content.kind === 'transaction' ? event.content.transaction : undefined
}

test('the events of an erased account lose their content', async () => {
  const carol = await parties.open('carol')
  const credit = await parties.submit(carol, { type: 'credit', amount: '3' })
  await parties.submit(carol, { type: 'debit', amount: '3' })
  await parties.atRest()
  const ask = (operation: Parameters<typeof ledger.node.ask>[1]) => ledger.node.ask(accountAddress('carol'), operation)
  await ask({ kind: 'change_status', status: 'closed', incoming: null, reason: 'secret reason' })
  await ask({ kind: 'erase', reason: 'secret reason' })
  const erased = events.erasedNameOf('carol')
  const ofCarol = (await readAll(null, 1_000)).filter(({ subject }) => subject === erased)
  expect(ofCarol.map(({ name }) => name)).toEqual([
    'account.registered',
    'transaction.completed',
    'transaction.completed',
    'account.redacted',
    'account.erased',
  ])
  expect(ofCarol[1]?.content).toMatchObject({ kind: 'erased_transaction', transaction: { txnId: credit } })
  expect(JSON.stringify(ofCarol)).not.toMatch(/carol|secret|amount/)
})

test('a read touches few pages of a table with many commits', async () => {
  await ledger.sql.unsafe(`DO $$ BEGIN FOR i IN 1..5000 LOOP
    INSERT INTO commits (final, pending, ended) VALUES ('{}', '{}', '{}'); COMMIT; END LOOP; END $$`)
  await ledger.sql`ANALYZE commits`
  const plans: string[] = []
  const onnotice = ({ message }: postgres.Notice): void => void plans.push(message ?? '')
  const explained = postgres(ledger.url, { max: 1, onnotice })
  try {
    await explained.unsafe(`LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
      SET auto_explain.log_buffers = on; SET client_min_messages = log`)
    plans.length = 0
    expect((await findPlaces(explained, null, 30)).places).toHaveLength(30)
  } finally {
    await explained.end()
  }
  const [, hit] = /Buffers: shared hit=([0-9]+)/.exec(plans.join('\n')) ?? []
  expect(Number(hit)).toBeLessThan(500)
})

test('an entry of an unknown kind is an event, and does not stop the log', async () => {
  const { vault, sql } = ledger
  const start = await events.end()
  const ref = vault.accountRef(told.alice.accountId)
  const [last] = await sql<{ shard_id: number }[]>`SELECT shard_id FROM audit_entries WHERE account_id = ${ref} LIMIT 1`
  const [shardId, sequence] = [last?.shard_id ?? 0, 1_000]
  const payload = canonical({ account_id: told.alice.accountId, kind: 'of_a_later_version' })
  const sealed = Buffer.from(vault.seal(accountKeyName(ref), PLACES.entry(shardId, ref, sequence), payload), 'hex')
  const hash = Buffer.alloc(32)
  await sql`INSERT INTO audit_entries (shard_id, account_id, sequence, previous_hash, audit_hash, payload)
            VALUES (${shardId}, ${ref}, ${sequence}, ${hash}, ${hash}, ${sealed})`
  const later = await parties.submit(told.alice, { type: 'credit', amount: '1' })
  await untilLogged(later, start)
  const [unknown, known] = await readAll(start, 1_000)
  expect(unknown).toMatchObject({ name: 'account.changed', subject: told.alice.accountId, timeMs: null })
  expect(known?.name).toBe('transaction.completed')
})

test('a position beyond this database is refused', async () => {
  const [acceptance, xid] = (await events.end()).split('.')
  const ahead = `${acceptance}.${BigInt(xid ?? '') + 1_000_000n}.0`
  await expect(events.read(ahead, 1)).rejects.toThrow(EventsUnavailable)
})
