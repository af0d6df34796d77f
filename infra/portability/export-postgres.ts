/**
 * Exports of a ledger in PostgreSQL. Invariants X1 to X3 of the port.
 *   E1. One export runs at a time. A second request is refused at once.
 *   E2. Quantities and the salt of the used keys' hashes are encrypted to the audience. Only names and public keys are
 *       readable by others.
 */
import { createHmac } from 'node:crypto'
import { usedKeyHash } from '../../actors/account/used-key.ts'
import { MAX_USED_KEYS } from '../../actors/arrival.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { EXPORT_FORMAT } from '../../api/schemas/requests/export-records.ts'
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
import { ExportLines, proofLine } from './export-lines.ts'
import { openExportLog } from './export-log.ts'
import { departAll, checkDepartures } from './export-move.ts'
import { accountRecord } from './export-records.ts'
import { exportedAccount, isLeftOut, type Selection, select } from './export-selection.ts'
import { openSnapshot, type Snapshot } from './export-snapshot.ts'
import { contentOf } from './export-stream.ts'
import { readAttestations, readClasses, readInstances, readTokens } from './export-things.ts'

export interface ExportsOptions {
  readonly url: string
  readonly ledgerId: string
  readonly shardOf: (accountId: string) => number
  readonly vault: RowVault
  /** 32 secret bytes, constant for the life of the ledger. Salts of the used keys' hashes are derived from it. */
  readonly saltKey: Buffer
  /** The secret from which the log keys of all accounts follow. */
  readonly logKey: Buffer
  readonly serviceKeys: ServiceKeys
  readonly gateway: LedgerGateway
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  /** Longest life of one snapshot, in milliseconds. */
  readonly longestMs?: number
}

export interface PostgresExports extends LedgerExports {
  /** Aborts running exports. */
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

  const withSnapshot = async <T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T> => {
    const opened = await snapshot()
    try {
      return await work(opened)
    } finally {
      opened.close()
    }
  }

  const begin = async (order: ExportOrder, done: () => void): Promise<BegunExport> => {
    if (order.mode === 'move') {
      const refused = await move(options, order, withSnapshot)
      if (refused !== undefined) return refused
    }
    const opened = await snapshot()
    try {
      const selection = await select({ ...options, sql: opened.sql }, order)
      if ('kind' in selection) {
        opened.close()
        return selection
      }
      const { caller, mode, audience, trail } = order
      log.info('export_begun', { ...fieldsOf(trail), client_id: caller.clientId, mode, audience })
      const lines = linesOf(options, order, selection, opened)
      const ended = (failure: unknown): void => {
        opened.close()
        done()
        const fields = { ...fieldsOf(order.trail), ...(failure === undefined ? {} : failureFields(failure)) }
        if (failure === undefined) log.info('export_completed', fields)
        else log.warn('export_aborted', fields)
      }
      return { kind: 'begun', content: contentOf(lines, opened, ended) }
    } catch (cause) {
      opened.close()
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
        log.warn('export_failed', { ...fieldsOf(order.trail), ...failureFields(cause) })
        throw new ExportsUnavailable('The ledger could not be read.', { cause })
      }
    },
    close: () => {
      for (const one of open) one.close()
    },
  }
}

/** Fields that a log may contain: no other messages, because they may quote data. */
function failureFields(failure: unknown): Readonly<Record<string, string>> {
  if (failure instanceof UnreadableRow) return { failure: failure.name, row: failure.message }
  return { failure: failure instanceof Error ? failure.name : typeof failure }
}

/** Undefined once all accounts have left. */
async function move(
  { vault, shardOf, gateway }: ExportsOptions,
  order: ExportOrder,
  withSnapshot: <T>(work: (snapshot: Snapshot) => Promise<T>) => Promise<T>,
) {
  // An export that would be refused must not move anything.
  const selection = await withSnapshot(({ sql }) => select({ sql, vault, shardOf }, order))
  if ('kind' in selection) return selection
  const places = selection.places ?? []
  return departAll(gateway, order, () => withSnapshot(({ sql }) => checkDepartures(sql, vault, places, order)))
}

const SALT_BYTES = 16

/** 32 hexadecimal digits, the same in every export to one audience. */
function keySaltOf(saltKey: Buffer, audience: string): string {
  return createHmac('sha256', saltKey).update(audience, 'utf8').digest().subarray(0, SALT_BYTES).toString('hex')
}

async function* linesOf(
  options: ExportsOptions,
  order: ExportOrder,
  selection: Selection,
  { sql, atMs }: Snapshot,
): AsyncGenerator<string, void, undefined> {
  const { ledgerId, vault, saltKey, logKey } = options
  const { audience, mode, recipient } = order
  const lines = new ExportLines()
  const salt = keySaltOf(saltKey, audience)
  const log = await openExportLog(sql, selection, logKey)
  yield lines.add({
    record: 'ledger',
    format: EXPORT_FORMAT,
    ledger_id: ledgerId,
    audience,
    mode,
    partial: selection.partial,
    exported_at: isoTimestamp(atMs),
    encrypted_key_salt: encryptKeySalt(recipient, salt),
    ...log.head,
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
    yield lines.add({ ...accountRecord(exported, recipient), ...(await log.proofOf(read)) })
    for await (const part of hashesOf(usedKeys, read, salt)) {
      yield lines.add({ record: 'used_keys', account_id: read.document.accountId, ...part })
    }
  }
  yield await proofLine(lines, order, options)
}

/** Hashes in parts of at most MAX_USED_KEYS. */
async function* hashesOf(
  usedKeys: UsedKeys,
  read: ReadAccount,
  salt: string,
): AsyncGenerator<{ readonly part: number; readonly hashes: string[] }> {
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
