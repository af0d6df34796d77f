/** Attacks on the log by an operator who has its database and all of its keys. Each title tells what names the attack. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLogProof } from '../../../api/client/log/log-proof.ts'
import { accountLogKey, EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { LogSequencer, type TreeHead } from '../../../runtime/log/sequencer.ts'
import { EMPTY_TREE, grow, HASH_BYTES, leafHash, rootOf } from '../../../runtime/log/tree.ts'
import type { LogStore } from '../../../runtime/ports/log-store.ts'
import {
  attackedCopy,
  type AttackedLedger,
  ALICE,
  createAttackedLedger,
  LOG_KEY,
  passHour,
} from '../../support/log/attacked-log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'

let ledger: AttackedLedger
beforeAll(async () => {
  ledger = await createAttackedLedger()
})
afterAll(() => ledger.close())

const anEntry = (): Buffer => randomBytes(48)

async function shownBy({ log }: Awaited<ReturnType<typeof attackedCopy>>['operator']): Promise<string> {
  return (await log.checkpoint()) ?? ''
}

test('without an attack nothing is named, before and after the last entries are in the log', async () => {
  const { operator, monitor, publish } = await attackedCopy(ledger)
  expect(await monitor('bob', { asksWitnesses: true })).toEqual([])
  expect(await publish(await operator.integrate())).toEqual([])
  expect(await monitor('bob', { asksWitnesses: true, known: ledger.known })).toEqual([])
  expect(await monitor('new', { known: ledger.known })).toEqual([])
})

test('a split view is refused by the witnesses, and named by the publisher and by monitors that compare heads', async () => {
  const { operator, monitor, publish, publishAlone, another, alone } = await attackedCopy(ledger)
  const other = await another()
  const [left, right] = [await operator.append(anEntry()), await other.append(anEntry())]
  expect(left.size).toBe(right.size)
  expect(await publish(left)).toEqual([])
  expect(await publish(right, other)).toEqual(expect.arrayContaining(['log_inconsistent', 'log_not_witnessed']))
  expect(await monitor('bob')).toEqual([])
  // The log's key alone signs the other view: only readers who demand no witness accept it.
  await publishAlone(right, other)
  expect(await monitor('carol', { of: other })).toEqual(['untrusted'])
  expect(await monitor('carol', { of: other, policy: alone })).toEqual([])
  const note = await shownBy(other)
  expect(await monitor('bob', { others: () => Promise.resolve([{ name: 'carol', note }]) })).toEqual(['forked'])
  expect(await monitor('carol', { of: other, policy: alone, asksWitnesses: true })).toEqual(['forked'])
})

test('a split view that two witnesses were shown one half each is named by a monitor that asks the witnesses', async () => {
  const { operator, monitor, publish, another, witnesses } = await attackedCopy(ledger)
  const other = await another()
  const [left, right] = [await operator.append(anEntry()), await other.append(anEntry())]
  const only = (name: string) => {
    const one = [...witnesses.policy.witnesses].filter(([known]) => known === name)
    return { ...witnesses.policy, witnesses: new Map(one), quorum: name }
  }
  expect(await publish(left, operator, operator.store, only('w1'))).toEqual([])
  expect(await publish(right, other, other.store, only('w2'))).toEqual([])
  expect(await monitor('bob', { policy: only('w1') })).toEqual([])
  expect(await monitor('carol', { policy: only('w2'), of: other })).toEqual([])
  expect(await monitor('bob', { policy: only('w1'), asksWitnesses: true })).toEqual(['forked'])
  expect(await monitor('carol', { policy: only('w2'), of: other, asksWitnesses: true })).toEqual(['forked'])
})

test('a database that was put back is refused by the witnesses, and named by the publisher and by monitors', async () => {
  const { operator, monitor, publish, publishAlone, another, alone } = await attackedCopy(ledger)
  await publish(await operator.integrate())
  expect(await monitor('bob', { known: ledger.known })).toEqual([])
  const old = await another()
  const { edge } = await old.store.head()
  expect(await publish({ size: edge.size, root: rootOf(edge) }, old)).toEqual(
    expect.arrayContaining(['log_behind_witness', 'log_not_witnessed']),
  )
  expect(await monitor('bob', { of: old })).toEqual(['went_back'])
  // It goes on from the old state, without the lost entries.
  const extended = await old.append(anEntry(), anEntry(), anEntry(), anEntry())
  expect(await publish(extended, old)).toEqual(expect.arrayContaining(['log_inconsistent', 'log_not_witnessed']))
  await publishAlone(extended, old)
  expect(await monitor('bob', { of: old, policy: alone })).toEqual(['forked'])
})

/** Another hash for entry 1 of alice, as if the chain had been computed anew. */
const REWRITTEN = Buffer.alloc(32, 9)
const SEQUENCE = 1

async function rewriteChain({ sql, aliceRef }: Awaited<ReturnType<typeof attackedCopy>>['operator']): Promise<void> {
  for (const table of ['audit_entries', 'transactions']) {
    await sql`UPDATE ${sql(table)} SET audit_hash = ${REWRITTEN} WHERE account_id = ${aliceRef} AND sequence = ${SEQUENCE}`
  }
}

test('an entry that is rewritten in the chain alone has no proof, which verify says, and a monitor names it', async () => {
  const { operator, monitor, witnesses } = await attackedCopy(ledger)
  const before = await operator.log.proof(ALICE, SEQUENCE)
  if (before?.kind !== 'proved') throw new Error('the entry is in the log')
  const hash = ledger.known[SEQUENCE]?.auditHash.toString('hex') ?? ''
  await rewriteChain(operator)
  expect(await operator.log.proof(ALICE, SEQUENCE)).toEqual({ kind: 'lacking' })
  expect(operator.errors).toEqual(['log_lacks_entry'])
  const policy = witnesses.policy
  expect(await verifyLogProof(before.text, `sha256:${REWRITTEN.toString('hex')}`, policy)).toMatchObject({ ok: false })
  expect(await verifyLogProof(before.text, `sha256:${hash}`, policy)).toMatchObject({ ok: true })
  const shown = ledger.known.slice(0, ledger.logged).map((entry) => {
    return entry.sequence === SEQUENCE ? { ...entry, auditHash: REWRITTEN } : entry
  })
  expect(await monitor('bob')).toEqual([])
  expect(await monitor('bob', { known: shown })).toEqual(['tampered'])
})

/** Replaces the log's entry, and all hashes above it. */
async function rewriteLog({
  sql,
  store,
  aliceRef,
}: Awaited<ReturnType<typeof attackedCopy>>['operator']): Promise<TreeHead> {
  const salt = new EntrySalts(accountLogKey(LOG_KEY, aliceRef)).of(SEQUENCE)
  const { edge } = await store.head()
  const entries = await store.entries(0, edge.size)
  if (entries === undefined || edge.levels.length > 1) throw new Error('the log has one tile')
  const at = entries.indexOf(logEntry(salt, ledger.known[SEQUENCE]?.auditHash ?? Buffer.alloc(32)))
  if (at < 0) throw new Error('the log has the entry')
  logEntry(salt, REWRITTEN).copy(entries, at)
  const leaves = Array.from({ length: edge.size }, (_, index) =>
    leafHash(entries.subarray(index * 48, (index + 1) * 48)),
  )
  const root = rootOf(grow(EMPTY_TREE, Buffer.concat(leaves)).edge)
  await sql`UPDATE log_tiles SET content = ${entries} WHERE level = 0 AND number = 0`
  await sql`UPDATE log_head SET root = ${root}`
  expect(leaves.length * HASH_BYTES).toBe(edge.levels[0]?.length)
  return { size: edge.size, root }
}

test('an entry that is rewritten in the chain and in the log is named by monitors and refused by the witnesses', async () => {
  const { operator, monitor, publish, publishAlone, alone } = await attackedCopy(ledger)
  expect(await monitor('bob')).toEqual([])
  await rewriteChain(operator)
  const head = await rewriteLog(operator)
  // The published head stays: its root is not that of the entries.
  expect(await monitor('new')).toEqual(['tampered'])
  expect(await publish(head)).toEqual(expect.arrayContaining(['log_inconsistent', 'log_not_witnessed']))
  const next = await operator.append(anEntry())
  expect(await publish(next)).toEqual(expect.arrayContaining(['log_inconsistent', 'log_not_witnessed']))
  await publishAlone(next)
  expect(await monitor('bob', { policy: alone })).toEqual(['forked'])
  // Even a new monitor, if the owner kept an old receipt.
  expect(await monitor('another', { policy: alone })).toEqual(['tampered'])
})

test('an entry that the log has not come to is pending, and one that it passed over is reported', async () => {
  const { operator, publish } = await attackedCopy(ledger)
  const last = ledger.known.at(-1)?.sequence ?? 0
  const { sql, aliceRef, log, errors } = operator
  expect(await log.proof(ALICE, last)).toEqual({ kind: 'pending' })
  const [row] = await sql<{ xid: string }[]>`
    SELECT ended_xid::text AS xid FROM transactions WHERE account_id = ${aliceRef} AND sequence = ${last}`
  await sql`DELETE FROM commits WHERE commit_xid = ${row?.xid ?? ''}::xid8`
  await publish(await operator.append(anEntry()))
  expect(await log.proof(ALICE, last)).toEqual({ kind: 'pending' })
  await operator.integrate()
  expect(await log.proof(ALICE, last)).toEqual({ kind: 'lacking' })
  expect(errors).toEqual(['log_lacks_entry'])
})

test('an entry that is removed before it is in the log is named by the monitor of an owner who has its receipt', async () => {
  const { operator, monitor, publish } = await attackedCopy(ledger)
  const last = ledger.known.at(-1)?.sequence ?? 0
  const { sql, aliceRef } = operator
  const removed = await sql`DELETE FROM transactions WHERE account_id = ${aliceRef} AND sequence = ${last}`
  expect(removed.count).toBe(1)
  expect(await publish(await operator.integrate())).toEqual([])
  expect(await monitor('bob', { known: ledger.known.slice(0, -1) })).toEqual([])
  expect(await monitor('bob', { known: ledger.known })).toEqual(['missing'])
})

function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

/** A sequencer whose batch has the entries in another order, and whose append is under its control. */
function pausedSequencer(store: LogStore, append: LogStore['append'], onHead: (head: TreeHead) => void) {
  const clock = createManualClock(0)
  const events: string[] = []
  const note = (event: string): void => void events.push(event)
  const sequencer = new LogSequencer({
    store: {
      ...store,
      since: async (position) => {
        const found = await store.since(position)
        return { ...found, entries: found.entries.toReversed() }
      },
      append,
    },
    holder: 'paused',
    clock,
    log: { info: note, warn: note, error: note },
    onHead,
  })
  sequencer.start()
  return { sequencer, clock, events }
}

test('a forked sequencer, paused and resumed, changes nothing; without its fence the witnesses refuse it', async () => {
  const { operator, monitor, publish } = await attackedCopy(ledger)
  const { store } = operator
  const heads: TreeHead[] = []
  const [resume, reached] = [gate(), gate()]
  const results: boolean[] = []
  let forked: TreeHead | undefined
  let tiles: readonly { level: number; number: number; hashes: Buffer }[] = []
  const append: LogStore['append'] = async (head, batch) => {
    forked ??= { size: batch.edge.size, root: rootOf(batch.edge) }
    if (tiles.length === 0) tiles = batch.tiles
    reached.open()
    await resume.opened
    results.push(await store.append(head, batch))
    return results.at(-1) === true
  }
  const { sequencer, clock } = pausedSequencer(store, append, (head) => void heads.push(head))
  const working = clock.pass(1_000)
  await reached.opened
  // Its lease runs out while it is paused.
  await operator.sql`UPDATE log_lease SET until = now() - interval '1 s'`
  const head = await operator.integrate()
  resume.open()
  await working
  await until(() => results.length > 0)
  await sequencer.stop()
  expect(results).toEqual([false])
  expect(forked?.size).toBe(head.size)
  expect(rootOf((await store.head()).edge)).toEqual(head.root)
  expect(heads.filter((one) => one.size === head.size && !one.root.equals(head.root))).toEqual([])
  expect(await publish(head)).toEqual([])
  // Without the fence its head would be handed on.
  if (forked === undefined) throw new Error('it computed a head')
  const ofFork = {
    ...store,
    hashes: async (level: number, number: number, width: number) => {
      return tiles
        .find((tile) => tile.level === level && tile.number === number)
        ?.hashes.subarray(0, width * HASH_BYTES)
    },
  }
  expect(await publish(forked, operator, ofFork)).toEqual(
    expect.arrayContaining(['log_inconsistent', 'log_not_witnessed']),
  )
  expect(await monitor('bob', { known: ledger.known })).toEqual([])
})

test('an old head that is shown again is named by its monitor, by the witnesses, and by its age', async () => {
  const { operator, monitor, publish } = await attackedCopy(ledger)
  const old = await shownBy(operator)
  passHour()
  expect(await publish(await operator.integrate())).toEqual([])
  passHour()
  expect(await monitor('bob', { known: ledger.known })).toEqual([])
  const get = async (path: string, most: number) =>
    path === 'checkpoint' ? { status: 200, body: Buffer.from(old) } : operator.get(path, most)
  expect(await monitor('bob', { get })).toEqual(['went_back'])
  // One that has never seen the log.
  expect(await monitor('new', { get })).toEqual([])
  expect(await monitor('new', { get, asksWitnesses: true })).toEqual(['went_back'])
  expect(await monitor('new', { get, maxAgeMs: 5_400_000 })).toEqual(['stale'])
  expect(await monitor('bob', { known: ledger.known, maxAgeMs: 5_400_000 })).toEqual([])
})
