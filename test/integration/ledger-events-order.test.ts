/** V2, V3: readers of the event log beside many connections whose commits overtake each other. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLedgerEvents, type PostgresLedgerEvents } from '../../infra/postgres/reads/ledger-events-postgres.ts'
import type { EventPosition, LedgerEvent } from '../../runtime/ports/ledger-events.ts'
import { type AuditedLedger, createAuditedLedger, Parties, type Party } from '../support/audited-ledger.ts'
import { until } from '../support/postgres/ledger-store-postgres.ts'

const ACCOUNTS = 4
const ORDERS = 30

let ledger: AuditedLedger
let events: PostgresLedgerEvents
let parties: Parties
let accounts: readonly Party[]

beforeAll(async () => {
  ledger = await createAuditedLedger()
  const { url, ledgerId, vault } = ledger
  events = createLedgerEvents({ url, ledgerId, vault })
  parties = new Parties(ledger)
  accounts = await Promise.all(Array.from({ length: ACCOUNTS }, (_, index) => parties.open(`account-${index}`)))
})
afterAll(async () => {
  await events?.close()
  await ledger?.close()
})

/** Each account has one order at a time. Returns the transactions' IDs. */
async function submitOrders(): Promise<readonly string[]> {
  const ids = await Promise.all(
    accounts.map(async (party) => {
      const own: string[] = []
      for (let order = 0; order < ORDERS; order += 1) {
        own.push(await parties.submit(party, { type: 'credit', amount: '1' }))
      }
      return own
    }),
  )
  return ids.flat()
}

/**
 * A commit with an early transaction number, which ends after `later` other commits, or once `isOver`. It makes the
 * transactions events a second time, as if they had ended now.
 */
async function commitLate(txnIds: readonly string[], later: number, isOver: () => boolean): Promise<void> {
  const connection = await ledger.sql.reserve()
  const count = async (): Promise<number> => {
    const [row] = await connection<{ commits: number }[]>`SELECT count(*)::integer AS commits FROM commits`
    return row?.commits ?? 0
  }
  try {
    await connection`BEGIN`
    await connection`INSERT INTO commits (final, pending, ended) VALUES (${[...txnIds]}, '{}', '{}')`
    const before = await count()
    await until(async () => isOver() || (await count()) >= before + later)
  } finally {
    await connection`COMMIT`
    connection.release()
  }
}

/** Reads in pages while the others commit, and to the end of the log after `isOver`. */
async function follow(start: EventPosition, limit: number, isOver: () => boolean): Promise<readonly LedgerEvent[]> {
  const all: LedgerEvent[] = []
  for (let next = start; ;) {
    const over = isOver()
    const page = await events.read(next, limit)
    all.push(...page.events)
    if (over && page.atEnd) return all
    next = page.next
  }
}

function placesOf(of: readonly LedgerEvent[]): readonly string[] {
  return of.map(({ position, id }) => `${position} ${id}`)
}

function txnIdsOf(of: readonly LedgerEvent[]): readonly string[] {
  return of.flatMap(({ content }) => (content.kind === 'transaction' ? [content.transaction.txnId] : []))
}

test('each event is read exactly once and in one order, whichever commit ends first', async () => {
  const earlier = await submitOrders()
  await until(async () => txnIdsOf((await events.read(null, 1_000)).events).length === earlier.length)
  const start = await events.end()
  const [submitting, reading] = [new AbortController(), new AbortController()]
  const readers = [3, 10, 1_000].map((limit) => follow(start, limit, () => reading.signal.aborted))
  const lateIds: string[] = []
  const late = [25, 12, 4, 1].map(async (later, index) => {
    const own = earlier.slice(index * ORDERS, (index + 1) * ORDERS)
    while (own.length > 0 && !submitting.signal.aborted) {
      const txnIds = own.splice(0, 2)
      lateIds.push(...txnIds)
      await commitLate(txnIds, later, () => submitting.signal.aborted)
    }
  })
  const submitted = await submitOrders()
  submitting.abort()
  await Promise.all(late)
  await parties.atRest()
  // The log ends below transactions of other tests on the same server.
  await until(
    async () => txnIdsOf((await events.read(start, 1_000)).events).length === submitted.length + lateIds.length,
  )
  reading.abort()
  const followed = await Promise.all(readers)
  const { events: first } = await events.read(start, 1_000)
  for (const all of followed) expect(placesOf(all)).toEqual(placesOf(first))
  expect(txnIdsOf(first).toSorted()).toEqual([...submitted, ...lateIds].toSorted())
  expect(lateIds.length).toBeGreaterThan(20)
  for (const { accountId } of accounts) {
    const own = txnIdsOf(first.filter(({ subject }) => subject === accountId)).filter((id) => submitted.includes(id))
    expect(own).toEqual(submitted.filter((id) => own.includes(id)))
    expect(own).toHaveLength(ORDERS)
  }
})
