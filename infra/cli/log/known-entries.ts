/** The keys of accounts, and the entries that their owners know, which `ledger monitor` is given. */
import { chainHash, showHash } from '../../../actors/audit-chain.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { parseTimestamp } from '../../../actors/timestamp.ts'
import type { GivenEntry } from '../../../api/client/index.ts'
import type { WatchedAccount } from '../../log/monitor/account-tags.ts'
import type { KnownEntry } from '../../log/monitor/judge-account.ts'
import { type CommandIo, UsageError } from '../common/command.ts'
import { jsonObjectOf, readGivenText } from '../common/given-file.ts'
import { noneExported, readExport } from '../verify/export-file.ts'

const KEY_BYTES = 32
const ACCOUNT_ID = /^[A-Za-z0-9_.:@-]{1,128}$/
const HASH = /^sha256:([0-9a-f]{64})$/

/** Each line has an account ID and its log key in base64, or is a response of GET /v1/accounts/{id}/log-key. Throws UsageError. */
export async function readAccountKeys(names: readonly string[], io: CommandIo): Promise<readonly WatchedAccount[]> {
  const accounts = new Map<string, WatchedAccount>()
  for (const name of names) {
    const lines = (await readGivenText(name, io)).split('\n').entries()
    for (const [index, line] of lines) {
      if (line.trim() === '' || line.startsWith('#')) continue
      const account = accountOf(line.trim())
      // The line may have a key.
      if (account === undefined)
        throw new UsageError(`${name}, line ${index + 1}: this is no account ID with a log key`)
      if (accounts.has(account.accountId)) throw new UsageError(`${name}: ${account.accountId} has two log keys`)
      accounts.set(account.accountId, account)
    }
  }
  return [...accounts.values()]
}

function accountOf(line: string): WatchedAccount | undefined {
  const { account_id: named, log_key: encoded } = jsonObjectOf(line) ?? {}
  const [accountId, text, ...others] = line.startsWith('{') ? [named, encoded] : line.split(/\s+/)
  if (typeof accountId !== 'string' || typeof text !== 'string' || others.length > 0) return undefined
  const key = Buffer.from(text, 'base64')
  return ACCOUNT_ID.test(accountId) && key.length === KEY_BYTES ? { accountId, key } : undefined
}

/**
 * Entries of accounts without a key are left out. The hash of an entry of a chain is computed again. A receipt is believed:
 * it does not have the whole entry.
 */
export async function readKnownEntries(
  names: readonly string[],
  accounts: readonly WatchedAccount[],
  io: CommandIo,
): Promise<readonly KnownEntry[]> {
  const only = accounts.length === 1 ? accounts[0]?.accountId : undefined
  const watched = new Set(accounts.map(({ accountId }) => accountId))
  const entries: (KnownEntry | undefined)[] = []
  for (const name of names) {
    const found = noneExported()
    readExport(await readGivenText(name, io), name, found)
    for (const { accountId, entries: given } of found.pages)
      for (const entry of given) entries.push(entryOf(entry, { name, accountId, only }))
    for (const { receipt } of found.receipts) entries.push(entryOfReceipt({ ...receipt }))
  }
  return entries.flatMap((entry) => (entry !== undefined && watched.has(entry.accountId) ? [entry] : []))
}

interface Page {
  /** Of the file. */
  readonly name: string
  readonly accountId: string | undefined
  /** The account of entries that name none. */
  readonly only: string | undefined
}

function entryOf(entry: GivenEntry, { name, accountId, only }: Page): KnownEntry | undefined {
  const fields = entry.payload === null ? undefined : jsonObjectOf(entry.payload)
  const named = accountId ?? fields?.['account_id'] ?? only
  const problem = entry.payload === null ? undefined : problemOf(entry, fields ?? {}, named)
  const found = known({ ...entry, account_id: named, at: fields?.['processed_at'] ?? fields?.['created_at'] })
  return found && problem !== undefined ? { ...found, problem: `in ${name} ${problem}` } : found
}

function problemOf({ payload, ...entry }: GivenEntry, fields: JsonObject, accountId: unknown): string | undefined {
  const computed = showHash(chainHash(entry.previous_hash.replace('sha256:', ''), payload ?? ''))
  if (computed !== entry.audit_hash) return 'its audit_hash is not the hash of its previous_hash and payload'
  const named = { account_id: accountId, sequence: entry.sequence, txn_id: entry.txn_id }
  const other = Object.entries(named).find(([field, value]) => fields[field] !== value)
  return other && `its payload has another ${other[0]}`
}

/** Undefined for one of a transaction without an entry. */
function entryOfReceipt(receipt: Readonly<Record<string, unknown>>): KnownEntry | undefined {
  return known({ ...receipt, at: receipt['processed_at'] })
}

function timeOf(text: unknown): number | undefined {
  return typeof text === 'string' ? parseTimestamp(text) : undefined
}

function hashOf(text: unknown): Buffer | undefined {
  const [, digits] = typeof text === 'string' ? (HASH.exec(text) ?? []) : []
  return digits === undefined ? undefined : Buffer.from(digits, 'hex')
}

function known(fields: Readonly<Record<string, unknown>>): KnownEntry | undefined {
  const { account_id: accountId, sequence } = fields
  const [auditHash, previousHash] = [hashOf(fields['audit_hash']), hashOf(fields['previous_hash'])]
  if (auditHash === undefined || typeof accountId !== 'string' || typeof sequence !== 'number') return undefined
  return { accountId, sequence, auditHash, previousHash, atMs: timeOf(fields['at']) }
}
