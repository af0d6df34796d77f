/**
 * Exports of a ledger in PostgreSQL. Invariants X1 to X3 of the port.
 *   E1. One export at a time: a second one is told so, and waits for nothing.
 *   E2. What can be read of an account by another ledger than the audience is what the interface says of keys and names;
 *       quantities, and the salt of hashes of used keys, are encrypted to it.
 */
import { createHmac } from 'node:crypto'
import { usedKeyHash } from '../../actors/account/used-key.ts'
import { MAX_USED_KEYS } from '../../actors/arrival.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { EXPORT_FORMAT } from '../../api/schemas/export-record.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import {
  type BegunExport,
  type ExportOrder,
  ExportsUnavailable,
  type LedgerExports,
} from '../../runtime/ports/ledger-exports.ts'
import type { LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { Log } from '../../runtime/ports/log.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import { fieldsOf } from '../../runtime/ports/trail.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { encryptKeySalt } from '../keys/balance-jwe.ts'
import { type AccountsQuery, readAccounts, type ReadAccount, UsedKeys } from './export-accounts.ts'
import { ExportLines } from './export-lines.ts'
import { departAll, lookAtDepartures } from './export-move.ts'
import { proofLine } from './export-proof.ts'
import { accountRecord } from './export-records.ts'
import { exportedAccount, isLeftOut, type Selected, type Selection, select } from './export-selection.ts'
import { openSnapshot, type Snapshot } from './export-snapshot.ts'
import { contentOf } from './export-stream.ts'
import { readAttestations, readClasses, readInstances, readTokens } from './export-things.ts'

export interface ExportsOptions {
  readonly url: string
  readonly ledgerId: string
  readonly shardOf: (accountId: string) => number
  readonly vault: RowVault
  /** 32 secret bytes, the same for the life of the ledger: salts of hashes of used keys are derived from it. */
  readonly saltKey: Buffer
  readonly serviceKeys: ServiceKeys
  readonly gateway: LedgerGateway
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /** How long one look at the ledger may take. */
  readonly longestMs?: number
}

export interface PostgresExports extends LedgerExports {
  /** Breaks off what is under way. */
  readonly close: () => void
}

const LONGEST_MS = 60_000

export function createLedgerExports(options: ExportsOptions): PostgresExports {
  const { log } = options
  const longestMs = options.longestMs ?? LONGEST_MS
  let isBusy = false
  const open = new Set<Snapshot>()

  const snapshot = async (): Promise<Snapshot> => {
    const opened = await openSnapshot(options.url, longestMs)
    open.add(opened)
    return { ...opened, close: () => (open.delete(opened), opened.close()) }
  }

  const looking = async <T>(work: (looked: Snapshot) => Promise<T>): Promise<T> => {
    const looked = await snapshot()
    try {
      return await work(looked)
    } finally {
      looked.close()
    }
  }

  const begin = async (order: ExportOrder, done: () => void): Promise<BegunExport> => {
    if (order.mode === 'move') {
      const unmoved = await move(options, order, looking)
      if (unmoved !== undefined) return unmoved
    }
    const looked = await snapshot()
    try {
      const selected = await selectIn(options, order, looked)
      if (!selected.ok) {
        looked.close()
        return selected.refused
      }
      const { caller, mode, audience, trail } = order
      log.info('export_begun', { ...fieldsOf(trail), clientId: caller.clientId, mode, audience })
      const lines = linesOf(options, order, selected.selection, looked)
      const ended = (failure: unknown): void => {
        looked.close()
        done()
        const fields = { ...fieldsOf(order.trail), ...(failure === undefined ? {} : told(failure)) }
        if (failure === undefined) log.info('export_done', fields)
        else log.warn('export_broken_off', fields)
      }
      return { kind: 'begun', content: contentOf(lines, looked, ended) }
    } catch (cause) {
      looked.close()
      throw cause
    }
  }

  return {
    begin: async (order) => {
      if (isBusy) return { kind: 'busy' }
      isBusy = true
      const done = (): void => {
        isBusy = false
      }
      try {
        const begun = await begin(order, done)
        if (begun.kind !== 'begun') done()
        return begun
      } catch (cause) {
        done()
        log.warn('export_failed', { ...fieldsOf(order.trail), ...told(cause) })
        throw new ExportsUnavailable('The ledger could not be read.', { cause })
      }
    },
    close: () => {
      for (const one of open) one.close()
    },
  }
}

/** What of a failure may be in a log. */
function told(failure: unknown): Readonly<Record<string, string>> {
  if (failure instanceof UnreadableRow) return { failure: failure.name, row: failure.message }
  return { failure: failure instanceof Error ? failure.name : typeof failure }
}

/** Undefined once all of them have gone. */
async function move(
  { vault, shardOf, gateway }: ExportsOptions,
  order: ExportOrder,
  looking: <T>(work: (looked: Snapshot) => Promise<T>) => Promise<T>,
) {
  // Before anything leaves: what speaks against the export speaks against the move.
  const selected = await looking((looked) => selectIn({ vault, shardOf }, order, looked))
  if (!selected.ok) return selected.refused
  const places = selected.selection.places ?? []
  return departAll(gateway, order, () => looking(({ sql }) => lookAtDepartures(sql, vault, places, order)))
}

async function selectIn(
  { vault, shardOf }: Pick<ExportsOptions, 'vault' | 'shardOf'>,
  order: ExportOrder,
  { sql }: Snapshot,
): Promise<Selected> {
  return select({ sql, vault, shardOf }, order)
}

const SALT_BYTES = 16

/** 32 hexadecimal digits: two exports to one audience have the same. */
function keySaltOf(saltKey: Buffer, audience: string): string {
  return createHmac('sha256', saltKey).update(audience, 'utf8').digest().subarray(0, SALT_BYTES).toString('hex')
}

async function* linesOf(
  options: ExportsOptions,
  order: ExportOrder,
  selection: Selection,
  { sql, atMs }: Snapshot,
): AsyncGenerator<string, void, undefined> {
  const { ledgerId, vault, saltKey } = options
  const { audience, mode, recipient } = order
  const lines = new ExportLines()
  const salt = keySaltOf(saltKey, audience)
  yield lines.add({
    record: 'ledger',
    format: EXPORT_FORMAT,
    ledger_id: ledgerId,
    audience,
    mode,
    partial: selection.partial,
    exported_at: isoTimestamp(atMs),
    encrypted_key_salt: encryptKeySalt(recipient, salt),
  })
  const things = { sql, vault, owners: selection.owners, tokenIds: selection.tokenIds }
  for (const read of [readTokens, readClasses, readInstances, readAttestations]) {
    for await (const record of read(things)) yield lines.add(record)
  }
  const query: AccountsQuery = { name: 'exported', vault, places: selection.places }
  const usedKeys = new UsedKeys(sql, query)
  for await (const read of readAccounts(sql, query)) {
    if (isLeftOut(read, mode)) continue
    const exported = exportedAccount(read, mode === 'move' ? audience : null)
    yield lines.add(accountRecord(exported, recipient))
    for await (const part of hashesOf(usedKeys, read, salt)) {
      yield lines.add({ record: 'used_keys', account_id: read.document.accountId, ...part })
    }
  }
  yield await proofLine(lines, order, options)
}

/** At most so many at a time. */
async function* hashesOf(
  usedKeys: UsedKeys,
  read: ReadAccount,
  salt: string,
): AsyncGenerator<{ readonly part: number; readonly hashes: readonly string[] }> {
  let hashes: string[] = []
  let part = 0
  for await (const usedKey of usedKeys.of(read)) {
    hashes.push(usedKeyHash(salt, read.document.accountId, usedKey))
    if (hashes.length < MAX_USED_KEYS) continue
    yield { part, hashes }
    part += 1
    hashes = []
  }
  if (hashes.length > 0) yield { part, hashes }
}
