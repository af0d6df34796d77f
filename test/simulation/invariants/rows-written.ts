/**
 * The rows of batches by name, so that several batches compare with one batch of the same rows. Signatures of receipts
 * are omitted: they are made between step and commit.
 */
import type { ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { plainEnvelope } from '../../support/nats/next-wire.ts'
import { actorKey } from '../../support/reference-encoding.ts'
import { differenceOf, isEqual } from './rows-equal.ts'
import { signedUnits } from '../store/value.ts'

interface Versioned {
  readonly previousVersion: number
  readonly state: unknown
}

interface Crossed {
  readonly credited: bigint
  readonly debited: bigint
}

/** Replaces a removed hold. */
const REMOVED = 'removed'

export class WrittenRows {
  private readonly rows = new Map<string, unknown>()

  note(batch: ShardBatch): void {
    for (const { account, previousVersion } of batch.accounts) {
      // Balances and holds have rows of their own.
      const row = { ...account, balances: undefined, holds: undefined }
      this.versioned(`account ${account.accountId}`, previousVersion, row)
    }
    for (const { address, state, previousVersion } of batch.actors) {
      this.versioned(actorKey(address), previousVersion, state)
    }
    for (const { tokenId, ...crossing } of batch.boundary) this.crossed(`boundary ${tokenId}`, crossing)
    for (const row of batch.balances) this.set(`balance ${row.accountId} ${row.tokenId}`, row)
    for (const row of batch.removedHolds) this.set(`hold ${row.accountId} ${row.holdId}`, REMOVED)
    for (const row of batch.holds) this.set(`hold ${row.accountId} ${row.holdId}`, row)
    for (const row of batch.keys) this.set(`key ${row.accountId} ${row.fromSequence}`, row)
    for (const row of batch.entries) this.set(`entry ${row.accountId} ${row.sequence}`, row)
    for (const { transaction } of batch.transactions) this.set(`transaction ${transaction.txnId}`, transaction)
    for (const { txnId, finished, compensatedBy } of batch.transactionChanges) {
      if (finished !== null) this.set(`end of ${txnId}`, finished.transaction)
      if (compensatedBy !== null) this.set(`compensation of ${txnId}`, compensatedBy)
    }
    for (const row of batch.refunds) this.set(`refunds of ${row.txnId}`, row)
    for (const row of batch.operations) this.set(`${row.operation} ${row.accountId} ${row.idempotencyKey}`, row)
    for (const row of batch.nftEvents) this.set(`event ${row.event.number} of ${row.nftId}`, row)
    for (const row of batch.outbox) {
      // The version of an envelope depends on its writer.
      this.set(`message ${row.number} to ${row.target}`, { ...row, envelope: plainEnvelope(row.envelope) })
    }
    for (const row of batch.sent) this.set(`counter of ${row.target}`, row)
    for (const row of batch.marks) this.set(`mark of ${row.source}`, row)
  }

  /** The rows that only one side has written, and the rows that differ. */
  differences(other: WrittenRows): readonly string[] {
    const missing = [...this.rows.keys()]
      .filter((name) => !other.rows.has(name))
      .map((name) => `${name} is not written`)
    const wrong = [...other.rows].flatMap(([name, written]) => {
      const ordered = this.rows.get(name)
      if (ordered === undefined) return [`${name} is written, and no command orders it`]
      return isEqual(ordered, written) ? [] : [`${name}${differenceOf(ordered, written)} is written otherwise`]
    })
    return [...missing, ...wrong]
  }

  private set(name: string, row: unknown): void {
    this.rows.set(name, row)
  }

  /** Versions continue from the first previous version; a row created and removed in between never existed. */
  private versioned(name: string, previousVersion: number, state: unknown): void {
    const known = this.rows.get(name) as Versioned | undefined
    const first = known?.previousVersion ?? previousVersion
    if (state === null && first === 0) this.rows.delete(name)
    else this.rows.set(name, { previousVersion: first, state } satisfies Versioned)
  }

  private crossed(name: string, crossing: { readonly credited: string; readonly debited: string }): void {
    const { credited, debited } = (this.rows.get(name) as Crossed | undefined) ?? { credited: 0n, debited: 0n }
    this.rows.set(name, {
      credited: credited + signedUnits(crossing.credited),
      debited: debited + signedUnits(crossing.debited),
    } satisfies Crossed)
  }
}
