/**
 * Compares what the owner of an account knows with what the log has of it.
 *   A1. Each known entry is in the log, with the known hash. One of the last minute may not be in it yet.
 *   A2. The log has no other entry of the account: none that the owner was not shown, and not two in one place of the chain.
 *   A3. Known entries form one chain, as far as they follow each other.
 */
import { EntrySalts, logEntry } from '../log-entry.ts'
import type { FoundEntry, WatchedAccount } from './account-tags.ts'
import type { Finding, FindingKind } from './finding.ts'

/** An entry of an account's chain that its owner has: from a receipt, or from the chain. */
export interface KnownEntry {
  readonly accountId: string
  readonly sequence: number
  /** 32 bytes. */
  readonly auditHash: Buffer
  /** `auditHash` of the entry before; 32 bytes. */
  readonly previousHash?: Buffer | undefined
  /** A fault of the document that has it. */
  readonly problem?: string
  /** When the ledger processed it: milliseconds since 1970; undefined if nothing tells it. */
  readonly atMs: number | undefined
}

export interface AccountReport {
  readonly accountId: string
  /** Known entries that are in the log. */
  readonly found: number
  /** Known entries so new that the log need not have them. */
  readonly pending: number
  readonly findings: readonly Finding[]
}

/** The log has an entry within two seconds of its commit. The clocks may differ by some more. */
const GRACE_MS = 60_000
const MOST_FINDINGS = 20
const GENESIS_HASH = Buffer.alloc(32)

export function judgeAccount(
  account: WatchedAccount,
  found: readonly FoundEntry[],
  { known, nowMs }: { readonly known: readonly KnownEntry[]; readonly nowMs: () => number },
): AccountReport {
  const { accountId } = account
  const ofAccount = bySequence(known.filter((entry) => entry.accountId === accountId))
  const inLog = bySequence(found)
  const findings: Finding[] = []
  const add = (kind: FindingKind, sequence: number, problem: string): void => {
    const places = (inLog.get(sequence) ?? []).map(({ place }) => place)
    const facts = { account_id: accountId, sequence, places }
    findings.push({ kind, detail: `entry ${sequence} of ${accountId}: ${problem}`, facts })
  }
  const salts = new EntrySalts(account.key)
  for (const [sequence, entries] of ofAccount) {
    const before = sequence === 0 ? [{ auditHash: GENESIS_HASH }] : (ofAccount.get(sequence - 1) ?? [])
    const isLinked = (hash: Buffer): boolean => before.some(({ auditHash }) => auditHash.equals(hash))
    const problems = entries.flatMap(({ problem, previousHash }) => {
      if (problem !== undefined) return [problem]
      if (previousHash === undefined || before.length === 0 || isLinked(previousHash)) return []
      return [sequence === 0 ? 'its previous_hash is not 32 zero bytes' : `it does not follow entry ${sequence - 1}`]
    })
    for (const problem of new Set(problems)) add('tampered', sequence, problem)
  }
  let [good, pending] = [0, 0]
  for (const [sequence, entries] of ofAccount) {
    const [{ auditHash, atMs } = { auditHash: Buffer.alloc(0), atMs: undefined }] = entries
    const logged = inLog.get(sequence) ?? []
    const expected = logEntry(salts.of(sequence), auditHash)
    if (entries.some((other) => !other.auditHash.equals(auditHash))) {
      add('forked', sequence, 'the given documents have different hashes for it: the chain has two histories')
    } else if (logged.some(({ entry }) => entry.equals(expected))) good += 1
    else if (logged.length > 0)
      add('tampered', sequence, `the log has another entry in its place, at ${placesOf(logged)}`)
    else if (atMs !== undefined && nowMs() - atMs < GRACE_MS) pending += 1
    else if (inLog.size > 0) add('missing', sequence, 'it is not in the log')
    else add('missing', sequence, 'it is not in the log, and no other entry is: the log key may be of another account')
  }
  for (const [sequence, entries] of inLog) {
    if (entries.length > 1) add('forked', sequence, `the log has it ${entries.length} times, at ${placesOf(entries)}`)
    else if (ofAccount.size > 0 && !ofAccount.has(sequence))
      add('not_shown', sequence, `the log has it, at ${placesOf(entries)}, and no given document does`)
  }
  if (ofAccount.size === 0 && inLog.size > 0) {
    const detail = `the given documents have no entry of ${accountId}, and the log has ${inLog.size}: give its whole chain`
    findings.push({ kind: 'not_shown', detail, facts: { account_id: accountId, entries: inLog.size } })
  }
  return { accountId, found: good, pending, findings: bounded(findings, accountId) }
}

function bySequence<T extends { readonly sequence: number }>(entries: readonly T[]): ReadonlyMap<number, readonly T[]> {
  const grouped = new Map<number, T[]>()
  for (const entry of entries.toSorted((left, right) => left.sequence - right.sequence)) {
    const group = grouped.get(entry.sequence)
    if (group === undefined) grouped.set(entry.sequence, [entry])
    else group.push(entry)
  }
  return grouped
}

function placesOf(entries: readonly FoundEntry[]): string {
  const shown = entries.slice(0, 3).map(({ place }) => place)
  return `${shown.length > 1 ? 'places' : 'place'} ${shown.join(', ')}`
}

function bounded(findings: readonly Finding[], accountId: string): readonly Finding[] {
  const [shown, rest] = [findings.slice(0, MOST_FINDINGS), findings.slice(MOST_FINDINGS)]
  const kinds = [...new Set(rest.map(({ kind }) => kind))]
  return [
    ...shown,
    ...kinds.map((kind) => {
      const more = rest.filter((finding) => finding.kind === kind).length
      return { kind, detail: `${more} more entries of ${accountId}`, facts: { account_id: accountId, more } }
    }),
  ]
}
