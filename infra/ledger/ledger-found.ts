import { LoggableError } from '../../runtime/common/reason.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { isInRecovery } from '../postgres/store/recovery.ts'
import { type LedgerRecord, MigrationRefused, otherAmountIndex, readLedgerAt } from '../postgres/migrations/migrate.ts'
import type { LedgerProperties } from './ledger-creation.ts'

const POLL_MS = 500
const POLLS_PER_LOG_LINE = 20

/** The configuration contradicts a property that was fixed when the ledger was created. */
export class OtherProperties extends LoggableError {
  override readonly name = 'OtherProperties'
}

/**
 * Waits until the database is available, recovered and migrated; undefined if `stopped` came first. Throws MigrationRefused.
 * `onUnmigrated` is called once, if the database has no ledger yet.
 */
export async function findLedger(
  url: string,
  log: Log,
  stopped: () => boolean,
  onUnmigrated: () => Promise<void> = () => Promise.resolve(),
): Promise<LedgerRecord | undefined> {
  let isReported = false
  for (let polls = 0; !stopped(); polls += 1) {
    const found = await look(url)
    if (typeof found === 'object') return found
    if (found === 'not_migrated' && !isReported) {
      isReported = true
      await onUnmigrated()
    }
    if (polls % POLLS_PER_LOG_LINE === 0) log.warn('waiting_for_ledger', { because: found })
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return undefined
}

async function look(
  url: string,
): Promise<LedgerRecord | 'not_migrated' | 'database_not_reached' | 'database_in_recovery'> {
  try {
    if (await isInRecovery(url)) return 'database_in_recovery'
    return (await readLedgerAt(url)) ?? 'not_migrated'
  } catch (error) {
    if (error instanceof MigrationRefused) throw error
    return 'database_not_reached'
  }
}

/** Throws OtherProperties. */
export function refuseOtherProperties(ledger: LedgerRecord, { shards, amountIndex }: LedgerProperties): void {
  if (shards !== undefined && shards !== ledger.shardCount) {
    throw new OtherProperties(
      `LEDGER_SHARDS is ${shards}, but the ledger was created with ${ledger.shardCount} shards, which is fixed: set it to ${ledger.shardCount} or leave it out`,
    )
  }
  if (amountIndex !== undefined && amountIndex !== ledger.amountIndex) {
    throw new OtherProperties(otherAmountIndex(amountIndex, ledger.amountIndex))
  }
}
