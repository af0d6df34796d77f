/** The keys of accounts, and the entries that their owners know, which `ledger monitor` is given. */
import { parseTimestamp } from '../../../actors/timestamp.ts'
import type { GivenEntry } from '../../../api/client/index.ts'
import type { WatchedAccount } from '../../log/monitor/account-tags.ts'
import type { KnownEntry } from '../../log/monitor/judge-account.ts'
import { type CommandIo, UsageError } from '../common/command.ts'
import { jsonObjectOf, readGivenText } from '../common/given-file.ts'
import { type Exported, readExport } from '../verify/export-file.ts'

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

/** Entries of accounts without a key are left out. */
export async function readKnownEntries(
  names: readonly string[],
  accounts: readonly WatchedAccount[],
  io: CommandIo,
): Promise<readonly KnownEntry[]> {
  const found: Exported = { pages: [], receipts: [], assertions: [], proofs: [], statements: [] }
  for (const name of names) readExport(await readGivenText(name, io), name, found)
  const only = accounts.length === 1 ? accounts[0]?.accountId : undefined
  const entries = found.pages.flatMap((page) => page.entries.map((entry) => entryOf(entry, page.accountId ?? only)))
  const watched = new Set(accounts.map(({ accountId }) => accountId))
  return [...entries, ...found.receipts.map(({ receipt }) => entryOfReceipt({ ...receipt }))].flatMap((entry) =>
    entry !== undefined && watched.has(entry.accountId) ? [entry] : [],
  )
}

function entryOf(
  { sequence, audit_hash: hash, payload }: GivenEntry,
  page: string | undefined,
): KnownEntry | undefined {
  const fields = payload === null ? undefined : jsonObjectOf(payload)
  const named = fields?.['account_id'] ?? page
  const atMs = timeOf(fields?.['processed_at'] ?? fields?.['created_at'])
  return known(named, sequence, hash, atMs)
}

/** Undefined for one of a transaction without an entry. */
function entryOfReceipt(receipt: Readonly<Record<string, unknown>>): KnownEntry | undefined {
  const { account_id: accountId, sequence, audit_hash: hash, processed_at: at } = receipt
  return known(accountId, sequence, hash, timeOf(at))
}

function timeOf(text: unknown): number | undefined {
  return typeof text === 'string' ? parseTimestamp(text) : undefined
}

function known(accountId: unknown, sequence: unknown, hash: unknown, atMs: number | undefined): KnownEntry | undefined {
  const [, digits] = typeof hash === 'string' ? (HASH.exec(hash) ?? []) : []
  if (digits === undefined || typeof accountId !== 'string' || typeof sequence !== 'number') return undefined
  return { accountId, sequence, auditHash: Buffer.from(digits, 'hex'), atMs }
}
