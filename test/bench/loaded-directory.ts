/**
 * Data directories of loaded ledgers, one for each size, for measurements. They are kept.
 *   D1. A note marks a directory as loaded. It is written last, so that an interrupted load is never measured.
 *   D2. A measured directory keeps its accounts; measurements add transactions.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadFreshLedger } from '../support/loader/fresh-ledger.ts'
import { removeData } from '../support/processes/cluster-process.ts'
import { say } from './context.ts'
import type { GrowthSize } from './scenes/growth-sizes.ts'
import type { Begun } from './load/interruptible.ts'
import type { LoadedAccounts } from './load/load-messages.ts'

export interface LoadedDirectory {
  readonly dataDir: string
  readonly accounts: LoadedAccounts
  /** Duration of the load; null: it was loaded before. */
  readonly loadedMs: number | null
}

interface Note {
  readonly accounts: number
  readonly transactionsEach: number
  readonly loaded: LoadedAccounts
}

const SEED = 1
/** More than the number of keys that a node caches: with few shared keys all look-ups would hit. */
const MOST_KEYS = 60_000
const NOTE = 'loaded.json'

/** Loads it if it is missing; an interrupted load is removed. Throws for an incomplete load. */
export async function loadedDirectory(
  size: GrowthSize,
  parent: string,
  { onEnd }: Pick<Begun, 'onEnd'>,
): Promise<LoadedDirectory> {
  const { accounts, transactionsEach } = size
  const dataDir = resolve(parent, `${accounts}-accounts-${transactionsEach}-each`)
  const note = readNote(dataDir)
  if (note !== undefined) {
    say(`${dataDir} is loaded already.`)
    return { dataDir, accounts: note.loaded, loadedMs: null }
  }
  if (existsSync(dataDir)) throw new Error(`${dataDir} was not loaded to its end: remove it, and start again`)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  let isWhole = false
  let stopPostgres: (() => Promise<void>) | undefined
  // Clean-up runs in reverse order.
  onEnd(() => {
    if (!isWhole) removeData(dataDir)
  })
  onEnd(() => stopPostgres?.())
  const loaded = { seed: SEED, keys: Math.min(accounts, MOST_KEYS) }
  say(`Loading ${accounts} accounts with ${transactionsEach} transactions each into ${dataDir} ...`)
  const { tookMs, stop } = await loadFreshLedger({
    dataDir,
    accounts,
    transactions: transactionsEach,
    ...loaded,
    say,
    onStarted: (stopStarted) => {
      stopPostgres = stopStarted
    },
  })
  await stop()
  stopPostgres = undefined
  writeFileSync(join(dataDir, NOTE), `${JSON.stringify({ accounts, transactionsEach, loaded } satisfies Note)}\n`)
  isWhole = true
  return { dataDir, accounts: loaded, loadedMs: tookMs }
}

function readNote(dataDir: string): Note | undefined {
  const file = join(dataDir, NOTE)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Note) : undefined
}
