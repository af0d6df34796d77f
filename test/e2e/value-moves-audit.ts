/**
 * What must hold once everything has come to rest: by a bookkeeping of its own over the transactions as they are stored,
 * and for samples by nothing but the interface. Each fault is one thing that is not as it must be.
 */
import { createHash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import type postgres from 'postgres'
import { parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import type { RowVault } from '../../infra/vault/row-vault.ts'
import { type LedgerClient, textOf } from '../support/client.ts'
import { canonical, type Members } from '../support/client-keys.ts'
import type { Acknowledged, ValueMovesLoad } from './value-moves-load.ts'
import { type Booked, createStoredMoves, type StoredMoves } from './value-moves-stored.ts'

/** Whatever is still on its way, with up to three names of each kind. What is set aside is beside it: it is sealed. */
const UNFINISHED = `
SELECT what, count(*)::integer AS count, (array_agg(name ORDER BY name))[1:3] AS names FROM (
  SELECT 'pending transactions' AS what, txn_id AS name FROM transactions WHERE status = 'pending'
  UNION ALL SELECT 'open ' || kind || 's', actor_id || ' ' || status FROM actors
             WHERE CASE kind WHEN 'group' THEN status NOT IN ('settled', 'reverted')
                             WHEN 'token' THEN status <> 'active'
                             WHEN 'exchange' THEN status <> 'expired'
                             ELSE true END
  UNION ALL SELECT 'holds', account_id || ' ' || hold_id FROM holds
  UNION ALL SELECT 'messages', o.shard_id || ' to ' || o.target_shard || ': ' || o.number FROM outbox o
              LEFT JOIN inbox_marks m ON m.shard_id = o.target_shard AND m.source_shard = o.shard_id
             WHERE o.number > coalesce(m.mark, 0)) AS unfinished
 GROUP BY what ORDER BY what`

const GIVES_BACK: Readonly<Record<string, string>> = {
  credit: 'debit',
  mint: 'debit',
  debit: 'credit',
  transfer: 'credit',
  exchange: 'credit',
  burn: 'credit',
}

/** A transfer has one credit when it is completed, and none when it is not. */
function hasItsCredits({ status }: Booked, credits: readonly Booked[], groupStatus: string | undefined): boolean {
  if (status !== 'completed') return credits.length === 0
  return groupStatus === 'reverted' ? credits.length <= 1 : credits.length === 1
}

function isCreditOf(credit: Booked, transfer: Booked): boolean {
  return (
    credit.accountId === transfer.toAccountId &&
    credit.fromAccountId === transfer.accountId &&
    credit.tokenId === transfer.tokenId &&
    credit.amount === transfer.amount &&
    credit.status === 'completed' &&
    credit.groupId === transfer.groupId
  )
}

export class ValueMovesAudit {
  readonly faults: string[] = []
  readonly counts = { settled: 0, reverted: 0, compensated: 0, exchanged: 0, expired: 0, transferred: 0, failed: 0 }
  private readonly sql: postgres.Sql
  private readonly stored: StoredMoves
  private readonly client: LedgerClient

  constructor(sql: postgres.Sql, vault: RowVault, client: LedgerClient) {
    this.sql = sql
    this.stored = createStoredMoves(sql, vault)
    this.client = client
  }

  /** One line a kind of thing that is not over; empty at rest. */
  async unfinished(): Promise<readonly string[]> {
    const rows = await this.sql.unsafe<{ what: string; count: number; names: string[] }[]>(UNFINISHED)
    if (rows.length > 0) return rows.map(({ what, count, names }) => `${count} ${what}: ${names.join(', ')}`)
    const kept: string[] = []
    for (const { accountRef, tokenId, balance } of await this.stored.balances()) {
      for (const part of ['reserved', 'incoming', 'room'] as const) {
        if (!balance[part].isZero()) kept.push(`${part}: ${accountRef} ${tokenId}`)
      }
    }
    for (const { tokenId, held } of await this.stored.actors('token')) {
      if (Object.keys(held).length > 0) kept.push(`held: ${tokenId}`)
    }
    return kept
  }

  /** A second bookkeeping: what the completed transactions of an account sum up to. */
  async books(): Promise<void> {
    const transactions = await this.stored.transactions()
    const sums = new Map<string, Quantity>()
    const book = (ref: string, tokenId: string, amount: Quantity): void => {
      const name = `${ref} ${tokenId}`
      sums.set(name, (sums.get(name) ?? ZERO).plus(amount))
    }
    for (const { status, type, accountRef, tokenId, amount, receive } of transactions) {
      if (status !== 'completed') continue
      const quantity = parseQuantity(amount)
      book(accountRef, tokenId, type === 'credit' || type === 'mint' ? quantity : quantity.negated())
      if (receive !== null) book(accountRef, receive.tokenId, parseQuantity(receive.amount))
    }
    for (const { accountRef, tokenId, balance } of await this.stored.balances()) {
      book(accountRef, tokenId, balance.balance.negated())
    }
    for (const [name, sum] of sums) if (!sum.isZero()) this.fault(`books: ${name} is off by ${sum.toFixed()}`)
    await this.transfers(transactions)
  }

  /** No credit comes from nothing. */
  private async transfers(transactions: readonly Booked[]): Promise<void> {
    const statuses = new Map((await this.stored.actors('group')).map(({ id, status }) => [id, status]))
    const credits = groupedBy(
      transactions.filter(({ type, fromAccountId }) => type === 'credit' && fromAccountId !== null),
      ({ counterTxnId }) => counterTxnId,
    )
    for (const transfer of transactions) {
      if (transfer.type !== 'transfer' || transfer.toAccountId === null) continue
      const own = credits.get(transfer.txnId) ?? []
      credits.delete(transfer.txnId)
      const isSound = own.every((credit) => isCreditOf(credit, transfer))
      const groupStatus = transfer.groupId === null ? undefined : statuses.get(transfer.groupId)
      if (!isSound || !hasItsCredits(transfer, own, groupStatus)) {
        this.fault(`transfer: ${transfer.txnId} is ${transfer.status} with ${own.length} credits`)
      }
    }
    for (const [txnId, own] of credits) {
      this.fault(`transfer: ${String(txnId)} is none and has ${own.length} credits`)
    }
  }

  /** I2, I3: each 202 is one final transaction, as it was sent, and clients have no others. */
  async acknowledged({ acknowledged, exchanges }: ValueMovesLoad): Promise<void> {
    const rows = (await this.stored.transactions()).filter(({ origin }) => origin === 'client')
    const found = new Map(rows.map((row) => [row.txnId, row]))
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
    const states = await this.stored.actors('group')
    const registered = new Set(states.map(({ id }) => id))
    const rows = (await this.stored.transactions()).filter(({ groupId }) => groupId !== null && registered.has(groupId))
    const byGroup = groupedBy(rows, (row) => row.groupId)
    for (const groupId of groups.keys()) if (!registered.has(groupId)) this.fault(`group ${groupId} is not there`)
    for (const { id: groupId, status, partialFailures } of states) {
      const group = groups.get(groupId)
      const legs = byGroup.get(groupId) ?? []
      if (group === undefined) this.fault(`group ${groupId} was never acknowledged`)
      else if (legs.filter(({ origin }) => origin === 'client').length !== group.admitted) {
        this.fault(`group ${groupId} has other legs than were admitted`)
      }
      if (partialFailures.length !== 0) this.fault(`group ${groupId} has partial failures`)
      if (status === 'settled') this.settled(groupId, legs, group?.order.legs)
      else if (status === 'reverted') this.reverted(groupId, legs)
      else this.fault(`group ${groupId} is ${status}`)
    }
  }

  private settled(
    groupId: string,
    legs: readonly Booked[],
    agreed: readonly { readonly toAccountId: string | null }[] = [],
  ): void {
    this.counts.settled += 1
    const sides = agreed.reduce((count, { toAccountId }) => count + (toAccountId === null ? 1 : 2), 0)
    const completed = legs.filter(({ status }) => status === 'completed')
    if (completed.length !== sides || legs.length !== sides) {
      this.fault(`group ${groupId} settled with ${completed.length} completed of ${legs.length}, agreed were ${sides}`)
    }
    for (const { txnId, compensates, compensatedBy: by } of legs) {
      if (compensates !== null || by !== null) this.fault(`${txnId} of settled ${groupId} is or has a compensation`)
    }
  }

  private reverted(groupId: string, legs: readonly Booked[]): void {
    this.counts.reverted += 1
    const undoing = groupedBy(
      legs.filter(({ compensates }) => compensates !== null),
      ({ compensates }) => compensates,
    )
    for (const leg of legs) {
      if (leg.compensates !== null) continue
      const [by, ...more] = undoing.get(leg.txnId) ?? []
      undoing.delete(leg.txnId)
      if (leg.status !== 'completed') {
        if (by !== undefined) this.fault(`${leg.txnId} of ${groupId} is ${leg.status} and undone`)
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

function isAsSent(row: Booked, { accountId, type, amount, tokenId }: Acknowledged): boolean {
  return row.accountId === accountId && row.type === type && row.amount === amount && row.tokenId === tokenId
}

function undoes(by: Booked, leg: Booked): boolean {
  return (
    by.status === 'completed' &&
    by.origin === 'ledger' &&
    by.accountId === leg.accountId &&
    by.tokenId === leg.tokenId &&
    by.amount === leg.amount &&
    by.type === GIVES_BACK[leg.type] &&
    leg.compensatedBy === by.txnId
  )
}
