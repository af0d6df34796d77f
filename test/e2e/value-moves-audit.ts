/**
 * What must hold once everything has come to rest: by a bookkeeping of its own over the transactions, in SQL, and for
 * samples by nothing but the interface. Each fault is one thing that is not as it must be.
 */
import { createHash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import type postgres from 'postgres'
import { type LedgerClient, textOf } from '../support/client.ts'
import { canonical, type Members } from '../support/client-keys.ts'
import type { Acknowledged, ValueMovesLoad } from './value-moves-load.ts'

/** Whatever is still on its way, with up to three names of each kind. */
const UNFINISHED = `
SELECT what, count(*)::integer AS count, (array_agg(name ORDER BY name))[1:3] AS names FROM (
  SELECT 'pending transactions' AS what, txn_id AS name FROM transactions WHERE status = 'pending'
  UNION ALL SELECT 'open ' || kind || 's', actor_id || ' ' || status FROM actors
             WHERE CASE kind WHEN 'group' THEN status NOT IN ('settled', 'reverted')
                             WHEN 'token' THEN status <> 'active' OR document::json ->> 'held' <> '{}'
                             ELSE true END
  UNION ALL SELECT 'holds', account_id || ' ' || hold_id FROM holds
  UNION ALL SELECT 'reserved', account_id || ' ' || token_id FROM balances WHERE reserved <> 0
  UNION ALL SELECT 'incoming', account_id || ' ' || token_id FROM balances WHERE incoming <> 0
  UNION ALL SELECT 'room', account_id || ' ' || token_id FROM balances WHERE room <> 0
  UNION ALL SELECT 'messages', o.shard_id || ' to ' || o.target_shard || ': ' || o.number FROM outbox o
              LEFT JOIN inbox_marks m ON m.shard_id = o.target_shard AND m.source_shard = o.shard_id
             WHERE o.number > coalesce(m.mark, 0)) AS unfinished
 GROUP BY what ORDER BY what`

/** A second bookkeeping: what the completed transactions of an account sum up to. */
const BOOKS = `
WITH booked AS (
  SELECT account_id, token_id, CASE WHEN type IN ('credit', 'mint') THEN quantity ELSE -quantity END AS value
    FROM transactions WHERE status = 'completed'
  UNION ALL
  SELECT account_id, details::json -> 'receive' ->> 'tokenId', (details::json -> 'receive' ->> 'amount')::numeric
    FROM transactions WHERE status = 'completed' AND type = 'exchange' AND details::json ->> 'receive' IS NOT NULL),
summed AS (SELECT account_id, token_id, sum(value) AS value FROM booked GROUP BY account_id, token_id)
SELECT account_id, token_id, b.balance::text AS shown, s.value::text AS booked
  FROM balances b FULL JOIN summed s USING (account_id, token_id)
 WHERE coalesce(b.balance, 0) <> coalesce(s.value, 0)`

/** A transfer has one credit when it is completed, and none when it is not; no credit comes from nothing. */
const TRANSFERS = `
WITH credits AS (
  SELECT details::json ->> 'counterTxnId' AS transfer, t.* FROM transactions t
   WHERE type = 'credit' AND from_account_id IS NOT NULL)
SELECT coalesce(t.txn_id, c.txn_id) AS txn_id, t.status, g.status AS group_status, count(c.txn_id)::integer AS credits,
       bool_and(c.account_id = t.to_account_id AND c.from_account_id = t.account_id AND c.token_id = t.token_id
                AND c.quantity = t.quantity AND c.status = 'completed' AND c.group_id = t.group_id) AS same
  FROM (SELECT * FROM transactions WHERE type = 'transfer' AND to_account_id IS NOT NULL) t
  FULL JOIN credits c ON c.transfer = t.txn_id
  LEFT JOIN actors g ON g.kind = 'group' AND g.actor_id = t.group_id::text
 GROUP BY 1, t.txn_id, t.status, g.status
HAVING t.txn_id IS NULL OR NOT bool_and(coalesce(c.account_id = t.to_account_id AND c.from_account_id = t.account_id
         AND c.token_id = t.token_id AND c.quantity = t.quantity AND c.status = 'completed'
         AND c.group_id = t.group_id, true))
    OR NOT CASE WHEN t.status <> 'completed' THEN count(c.txn_id) = 0
                WHEN g.status = 'reverted' THEN count(c.txn_id) <= 1
                ELSE count(c.txn_id) = 1 END`

interface LegRow {
  readonly txn_id: string
  readonly account_id: string
  readonly token_id: string
  readonly type: string
  readonly quantity: string
  readonly status: string
  readonly group_id: string
  readonly origin: string
  readonly compensates: string | null
  readonly compensated_by: string | null
}

const GIVES_BACK: Readonly<Record<string, string>> = {
  credit: 'debit',
  mint: 'debit',
  debit: 'credit',
  transfer: 'credit',
  exchange: 'credit',
  burn: 'credit',
}

export class ValueMovesAudit {
  readonly faults: string[] = []
  readonly counts = { settled: 0, reverted: 0, compensated: 0, exchanged: 0, expired: 0, transferred: 0, failed: 0 }
  private readonly sql: postgres.Sql
  private readonly client: LedgerClient

  constructor(sql: postgres.Sql, client: LedgerClient) {
    this.sql = sql
    this.client = client
  }

  /** One line a kind of thing that is not over; empty at rest. */
  async unfinished(): Promise<readonly string[]> {
    const rows = await this.sql.unsafe<{ what: string; count: number; names: string[] }[]>(UNFINISHED)
    return rows.map(({ what, count, names }) => `${count} ${what}: ${names.join(', ')}`)
  }

  async books(): Promise<void> {
    for (const row of await this.sql.unsafe<{ account_id: string }[]>(BOOKS))
      this.fault(`books: ${JSON.stringify(row)}`)
    for (const row of await this.sql.unsafe<{ txn_id: string }[]>(TRANSFERS)) {
      this.fault(`transfer: ${JSON.stringify(row)}`)
    }
  }

  /** I2, I3: each 202 is one final transaction, as it was sent, and clients have no others. */
  async acknowledged({ acknowledged, exchanges }: ValueMovesLoad): Promise<void> {
    const rows = await this.sql<
      { txn_id: string; account_id: string; type: string; amount: string; token_id: string; status: string }[]
    >`SELECT txn_id, account_id, type, amount, token_id, status FROM transactions WHERE origin = 'client'`
    const found = new Map(rows.map((row) => [row.txn_id, row]))
    for (const sent of acknowledged) {
      const row = found.get(sent.txnId)
      if (row === undefined || !isAsSent(row, sent)) this.fault(`${JSON.stringify(sent)} is ${JSON.stringify(row)}`)
      if (row?.status === 'completed' && row.type === 'transfer') this.counts.transferred += 1
      if (row?.status === 'failed') this.counts.failed += 1
      else if (row?.status !== 'completed') this.fault(`${sent.txnId} is ${String(row?.status)}`)
    }
    if (new Set(acknowledged.map(({ txnId }) => txnId)).size !== acknowledged.length) this.fault('one answer for two')
    if (rows.length !== acknowledged.length)
      this.fault(`${rows.length} transactions for ${acknowledged.length} answers`)
    for (const { order, txnIds } of exchanges) {
      const ended = txnIds.map((txnId) => found.get(txnId)?.status)
      if (ended.includes('completed') && (ended.length < 2 || ended.includes('failed'))) {
        this.fault(`exchange ${order.groupId} is ${ended.join(' and ')}`)
      }
      if (ended.includes('completed')) this.counts.exchanged += 1
      else this.counts.expired += 1
    }
  }

  /** I8: settled with every leg, or reverted with every completed leg undone once. */
  async groups({ groups }: ValueMovesLoad): Promise<void> {
    const rows = await this.sql<LegRow[]>`
      SELECT t.txn_id, t.account_id, t.token_id, t.type, t.quantity::text, t.status, t.group_id::text, t.origin,
             t.details::json ->> 'compensates' AS compensates, t.compensated_by
        FROM transactions t JOIN actors g ON g.kind = 'group' AND g.actor_id = t.group_id::text`
    const states = await this.sql<{ actor_id: string; status: string; partial: number }[]>`
      SELECT actor_id, status, json_array_length(document::json -> 'partialFailures') AS partial
        FROM actors WHERE kind = 'group'`
    const byGroup = groupedBy(rows, (row) => row.group_id)
    const registered = new Set(states.map(({ actor_id: groupId }) => groupId))
    for (const groupId of groups.keys()) if (!registered.has(groupId)) this.fault(`group ${groupId} is not there`)
    for (const { actor_id: groupId, status, partial } of states) {
      const group = groups.get(groupId)
      const legs = byGroup.get(groupId) ?? []
      if (group === undefined) this.fault(`group ${groupId} was never acknowledged`)
      else if (legs.filter(({ origin }) => origin === 'client').length !== group.admitted) {
        this.fault(`group ${groupId} has other legs than were admitted`)
      }
      if (partial !== 0) this.fault(`group ${groupId} has partial failures`)
      if (status === 'settled') this.settled(groupId, legs, group?.order.legs)
      else if (status === 'reverted') this.reverted(groupId, legs)
      else this.fault(`group ${groupId} is ${status}`)
    }
  }

  private settled(
    groupId: string,
    legs: readonly LegRow[],
    agreed: readonly { readonly toAccountId: string | null }[] = [],
  ): void {
    this.counts.settled += 1
    const sides = agreed.reduce((count, { toAccountId }) => count + (toAccountId === null ? 1 : 2), 0)
    const completed = legs.filter(({ status }) => status === 'completed')
    if (completed.length !== sides || legs.length !== sides) {
      this.fault(`group ${groupId} settled with ${completed.length} completed of ${legs.length}, agreed were ${sides}`)
    }
    for (const { txn_id: txnId, compensates, compensated_by: by } of legs) {
      if (compensates !== null || by !== null) this.fault(`${txnId} of settled ${groupId} is or has a compensation`)
    }
  }

  private reverted(groupId: string, legs: readonly LegRow[]): void {
    this.counts.reverted += 1
    const undoing = groupedBy(
      legs.filter(({ compensates }) => compensates !== null),
      ({ compensates }) => compensates,
    )
    for (const leg of legs) {
      if (leg.compensates !== null) continue
      const [by, ...more] = undoing.get(leg.txn_id) ?? []
      undoing.delete(leg.txn_id)
      if (leg.status !== 'completed') {
        if (by !== undefined) this.fault(`${leg.txn_id} of ${groupId} is ${leg.status} and undone`)
      } else if (by === undefined || more.length > 0 || !undoes(by, leg)) {
        this.fault(`${JSON.stringify(leg)} is undone by ${JSON.stringify([by, ...more])}`)
      } else {
        this.counts.compensated += 1
      }
    }
    for (const txnId of undoing.keys()) this.fault(`${String(txnId)} is undone in ${groupId} and no leg of it`)
  }

  /** The same by the interface: what it shows of a group is what its transactions are. */
  async shownGroup(groupId: string): Promise<void> {
    const [group, list] = await Promise.all([
      this.client.read(`/v1/settlement-groups/${groupId}`),
      this.client.read(`/v1/transactions/group/${groupId}`),
    ])
    const { status, partial_failures: partial } = group
    const compensations = group['compensations'] as readonly Members[]
    const legs = group['legs'] as readonly Members[]
    const statuses = new Set(legs.map((leg) => leg['leg_status']))
    if (
      status === 'settled' ? [...statuses].join() !== 'completed' : status !== 'reverted' || statuses.has('completed')
    ) {
      this.fault(`group ${groupId} is shown as ${JSON.stringify(group)}`)
    }
    const listed = new Set((list['transactions'] as readonly Members[]).map((one) => one['txn_id']))
    const named = compensations.flatMap((one) => [one['compensates'], one['txn_id']])
    if (new Set(named).size !== named.length || !named.every((txnId) => listed.has(txnId ?? null))) {
      this.fault(`group ${groupId} shows compensations ${JSON.stringify(compensations)}`)
    }
    if (JSON.stringify(partial) !== '[]') this.fault(`group ${groupId} shows partial failures`)
  }

  /** I6: every hash follows from the one before, and the last one is the account's. */
  async chain(accountId: string): Promise<void> {
    const entries = await this.client.readAll(`/v1/accounts/${accountId}/audit-chain`, 'entries')
    const account = await this.client.read(`/v1/accounts/${accountId}`)
    let previous = `sha256:${'0'.repeat(64)}`
    for (const [position, entry] of entries.entries()) {
      const payload = createHash('sha256').update(textOf(entry, 'payload')).digest()
      const before = Buffer.from(previous.slice('sha256:'.length), 'hex')
      const hash = `sha256:${createHash('sha256').update(before).update(payload).digest('hex')}`
      if (entry['sequence'] !== position || entry['previous_hash'] !== previous || entry['audit_hash'] !== hash) {
        this.fault(`entry ${position} of ${accountId} does not follow from the one before`)
      }
      previous = hash
    }
    if (account['audit_hash'] !== previous || account['sequence'] !== entries.length - 1) {
      this.fault(`the tip of ${accountId} is not its last entry`)
    }
  }

  /** I7. `points`: the service's keys for receipts. */
  async receipt(txnId: string, points: ReadonlyMap<unknown, Uint8Array>): Promise<void> {
    const read = await this.client.read(`/v1/transactions/${txnId}/receipt`)
    const receipt = read['receipt'] as Members
    const point = points.get(receipt['key_id'])
    const payload = Buffer.from(canonical(receipt))
    const signature = Buffer.from(textOf(read, 'signature'), 'base64')
    const good = point !== undefined && p256.verify(signature, payload, point, { format: 'der', lowS: false })
    if (!good || receipt['txn_id'] !== txnId) this.fault(`the receipt of ${txnId} does not verify`)
  }

  /** Up to so many of each kind of transaction, those that the ledger made itself among them. */
  async kindsOfTransactions(ofEach: number): Promise<readonly string[]> {
    const rows = await this.sql<{ txn_id: string }[]>`
      SELECT txn_id FROM (
        SELECT txn_id, row_number() OVER (PARTITION BY type, origin, status ORDER BY txn_id DESC) AS place
          FROM transactions) numbered
       WHERE place <= ${ofEach} ORDER BY txn_id`
    return rows.map((row) => row.txn_id)
  }

  private fault(text: string): void {
    this.faults.push(text)
  }
}

function groupedBy<T, Key>(all: readonly T[], keyOf: (one: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one))
    if (group === undefined) groups.set(keyOf(one), [one])
    else group.push(one)
  }
  return groups
}

function isAsSent(
  row: { readonly account_id: string; readonly type: string; readonly amount: string; readonly token_id: string },
  { accountId, type, amount, tokenId }: Acknowledged,
): boolean {
  return row.account_id === accountId && row.type === type && row.amount === amount && row.token_id === tokenId
}

function undoes(by: LegRow, leg: LegRow): boolean {
  return (
    by.status === 'completed' &&
    by.origin === 'ledger' &&
    by.account_id === leg.account_id &&
    by.token_id === leg.token_id &&
    by.quantity === leg.quantity &&
    by.type === GIVES_BACK[leg.type] &&
    leg.compensated_by === by.txn_id
  )
}
