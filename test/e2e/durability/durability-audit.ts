/**
 * Compares the acknowledgements of clients with the lists, chains, balances and receipts of the API. Recomputes every
 * hash, and verifies receipts with an implementation that shares no code with that of the ledger.
 */
import { createHash } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { type LedgerClient, membersOf, send, textOf } from '../../support/client/client.ts'
import { canonical, type Members } from '../../support/client/client-keys.ts'
import type { Operation } from './durability-load.ts'

const READERS = 8
const ATTO = 10n ** 18n

/** Each line is one error. */
export class DurabilityAudit {
  readonly faults: string[] = []
  completed = 0
  failed = 0
  /** Credits from transfers of other accounts. */
  received = 0
  /** Completed transfers by group: entries of the intended receiver, and of the credited account. */
  private readonly transfers = new Map<unknown, { readonly sent: string[]; readonly received: string[] }>()
  private readonly client: LedgerClient

  constructor(client: LedgerClient) {
    this.client = client
  }

  /** I2, I3, I6: the account holds exactly what was acknowledged, each once. */
  async account(accountId: string, operations: readonly Operation[]): Promise<void> {
    const fault = (text: string): void => void this.faults.push(`${accountId}: ${text}`)
    const query = `/v1/transactions?account_id=${accountId}`
    const listed = new Map((await this.client.readAll(query, 'transactions')).map((one) => [one['txn_id'], one]))
    const entries = await this.client.readAll(`/v1/accounts/${accountId}/audit-chain`, 'entries')
    const chained = this.walkChain(entries, fault)
    const acknowledged = new Set<unknown>()
    let balance = 0n
    let completed = 0
    for (const operation of operations) {
      const txnId = txnIdOf(operation)
      if (acknowledged.has(txnId)) fault(`${txnId} acknowledges two submissions`)
      acknowledged.add(txnId)
      const { status, type, amount } = listed.get(txnId) ?? {}
      if (type !== operation.fields['type'] || amount !== operation.fields['amount']) fault(`${txnId} is another one`)
      if (status === 'completed') {
        completed += 1
        balance +=
          type === 'credit' ? atto(String(operation.fields['amount'])) : -atto(String(operation.fields['amount']))
        if (type === 'transfer') {
          this.transferIn(groupOf(operation)).sent.push(movedOf(amount, operation.fields['to_account_id']))
        }
        if (chained.get(txnId) !== operation.hash) fault(`${txnId} is not in the chain as it was signed`)
      } else if (status !== 'failed' || chained.has(txnId))
        fault(`${txnId} is ${String(status)}, or failed and in the chain`)
      else this.failed += 1
    }
    this.completed += completed
    const others = [...listed.keys()].filter((txnId) => !acknowledged.has(txnId))
    for (const txnId of others) balance += await this.credit(accountId, String(txnId), chained.has(txnId))
    const booked = completed + others.length
    if (chained.size !== booked) fault(`${chained.size} entries for ${booked} completed transactions`)
    await this.balance(accountId, balance, fault)
  }

  /** The value that transfers of other accounts have credited, in units of 10^-18. */
  private async credit(accountId: string, txnId: string, isChained: boolean): Promise<bigint> {
    const detail = await this.client.read(`/v1/transactions/${txnId}`)
    const { type, status, amount, from_account_id: from, group_id: groupId } = detail
    if (type !== 'credit' || status !== 'completed' || from === undefined || !isChained) {
      this.faults.push(`${accountId}: ${txnId} was not submitted, and is no credit of a transfer in the chain`)
    }
    this.received += 1
    this.transferIn(groupId).received.push(movedOf(amount, accountId))
    return atto(String(amount))
  }

  /**
   * I4, once every account was checked: each completed transfer was credited once to its receiver, and no other credits
   * exist.
   */
  conservation(): void {
    for (const [groupId, { sent, received }] of this.transfers) {
      if (sent.length === 1 && sent[0] === received[0] && received.length === 1) continue
      this.faults.push(`transfer ${String(groupId)}: sent ${sent.join()}; received ${received.join()}`)
    }
  }

  private transferIn(groupId: unknown): { readonly sent: string[]; readonly received: string[] } {
    const transfer = this.transfers.get(groupId) ?? { sent: [], received: [] }
    this.transfers.set(groupId, transfer)
    return transfer
  }

  private walkChain(entries: readonly Members[], fault: (text: string) => void): ReadonlyMap<unknown, unknown> {
    const chained = new Map<unknown, unknown>()
    let previous = `sha256:${'0'.repeat(64)}`
    for (const [position, entry] of entries.entries()) {
      const payload = textOf(entry, 'payload')
      const digest = createHash('sha256').update(payload).digest()
      const before = Buffer.from(previous.slice('sha256:'.length), 'hex')
      const hash = `sha256:${createHash('sha256').update(before).update(digest).digest('hex')}`
      if (entry['sequence'] !== position || entry['previous_hash'] !== previous || entry['audit_hash'] !== hash) {
        fault(`entry ${position} does not follow from the one before`)
      }
      previous = hash
      const { txn_id: txnId, submission_hash: submission } = JSON.parse(payload) as Members
      if (txnId === null) continue
      if (chained.has(txnId)) fault(`${String(txnId)} is in the chain twice`)
      chained.set(txnId, typeof submission === 'string' ? `sha256:${submission.replace('sha256:', '')}` : undefined)
    }
    return chained
  }

  private async balance(accountId: string, expected: bigint, fault: (text: string) => void): Promise<void> {
    const { balances } = await this.client.read(`/v1/accounts/${accountId}/balances`)
    const [base] = balances as readonly Members[]
    const shown = base === undefined ? 0n : atto(textOf(base, 'balance'))
    if (shown !== expected) fault(`the balance is ${shown}, the completed ones sum up to ${expected} (10^-18)`)
  }

  /** D7: the key still returns the original reply of the only transaction. */
  async repeat(operation: Operation): Promise<void> {
    const { accountId, fields, acknowledged } = operation
    const again = await this.client.post('/v1/transactions', operation.body)
    const replayed = again.headers['idempotency-replayed']
    if (again.status !== 202 || again.body !== acknowledged?.body || replayed !== 'true') {
      this.faults.push(`repeat of ${txnIdOf(operation)}: ${again.status} ${again.body}`)
    }
    const key = encodeURIComponent(textOf(fields, 'idempotency_key'))
    const found = await this.client.read(`/v1/transactions?account_id=${accountId}&idempotency_key=${key}`)
    const ids = (found['transactions'] as readonly Members[]).map((one) => one['txn_id'])
    if (ids.length !== 1 || ids[0] !== txnIdOf(operation)) this.faults.push(`key ${key} finds ${ids.join()}`)
  }

  /** I7. */
  async receipt(operation: Operation, points: ReadonlyMap<unknown, Uint8Array>): Promise<void> {
    const txnId = txnIdOf(operation)
    const read = await this.client.read(`/v1/transactions/${txnId}/receipt`)
    const receipt = read['receipt'] as Members
    const point = points.get(receipt['key_id'])
    const payload = Buffer.from(canonical(receipt))
    const signature = Buffer.from(textOf(read, 'signature'), 'base64')
    const good = point !== undefined && p256.verify(signature, payload, point, { format: 'der', lowS: false })
    if (!good) this.faults.push(`the receipt of ${txnId} does not verify`)
    if (receipt['txn_id'] !== txnId || receipt['amount'] !== operation.fields['amount']) {
      this.faults.push(`the receipt of ${txnId} is of another transaction`)
    }
  }
}

/** The service's public keys for receipts, as uncompressed points. */
export async function receiptKeys(origin: string): Promise<ReadonlyMap<unknown, Uint8Array>> {
  const { keys } = membersOf(await send(origin, { method: 'GET', path: '/.well-known/jwks.json' }))
  const receiptOnes = (keys as readonly Members[]).filter(({ purpose }) => purpose === 'receipt')
  const coordinate = (key: Members, name: string): Buffer => Buffer.from(textOf(key, name), 'base64url')
  return new Map(
    receiptOnes.map((key) => [key['kid'], Buffer.concat([Buffer.of(4), coordinate(key, 'x'), coordinate(key, 'y')])]),
  )
}

/** Runs `run` for each item, a few at a time. */
export async function forAll<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all]
  const reader = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await run(next)
  }
  await Promise.all(Array.from({ length: READERS }, reader))
}

export function txnIdOf({ acknowledged }: Operation): string {
  return acknowledged === undefined ? 'what was never acknowledged' : textOf(membersOf(acknowledged), 'txn_id')
}

function groupOf({ acknowledged }: Operation): unknown {
  return acknowledged === undefined ? undefined : membersOf(acknowledged)['group_id']
}

function movedOf(amount: unknown, accountId: unknown): string {
  return `${String(amount)} to ${String(accountId)}`
}

/** A decimal string in units of 10^-18. */
function atto(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * ATTO + BigInt(fraction.padEnd(18, '0'))
}
