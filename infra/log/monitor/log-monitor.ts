/**
 * Follows a log without trust in it.
 *   M1. A head counts only with the signatures that the policy demands.
 *   M2. A head continues the last verified one. That is proved from tiles, whose hashes the log cannot choose.
 *   M3. Every entry below a head is read, and the tree that is computed from the entries has the root of the head.
 *   M4. Only a head for which M1 to M3 hold becomes the last verified one. A run that is interrupted continues where it was,
 *       or one part of the log before.
 *   M5. Heads that others have are parts of the same history. Two of one size are compared even if the log shows none.
 */
import { noteText, parseNote, type SignedNote } from '../../../api/client/log/signed-note.ts'
import { type TrustedHead, trustedHead, type TrustPolicy } from '../../../api/client/log/trust-policy.ts'
import { EMPTY_TREE, rootOf, type TreeEdge } from '../../../runtime/log/tree.ts'
import { AccountTags, type FoundEntry, type WatchedAccount } from './account-tags.ts'
import { FaultFound, type Finding } from './finding.ts'
import { type AccountReport, judgeAccount, type KnownEntry } from './judge-account.ts'
import { requireContinuation } from './continuation.ts'
import { LogIncomplete, type LogReader, LogUnreachable } from './log-reader.ts'
import type { MonitorState, MonitorStore, VerifiedHead } from './monitor-file.ts'
import { judgeAmongEachOther, judgeOtherHead, type OtherHead, signedAtMs } from './other-heads.ts'
import { CLOCK_TOLERANCE_MS } from '../witness-request.ts'
import { readTree } from './read-tree.ts'

export interface MonitorOptions {
  readonly reader: LogReader
  readonly policy: TrustPolicy
  readonly store: MonitorStore
  readonly accounts: readonly WatchedAccount[]
  readonly known: readonly KnownEntry[]
  /** Entries of an account that are searched behind the last known one. */
  readonly ahead: number
  /** Undefined: a head may have any age. */
  readonly maxAgeMs: number | undefined
  /** Reads all entries again. */
  readonly isAnew: boolean
  /** Heads that others have. */
  readonly others: (origin: string) => Promise<readonly OtherHead[]>
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  /** Of `size` entries, those below `done` were read. */
  readonly onProgress: (done: number, size: number) => void
  /** Entries in memory; 65,536 by default. */
  readonly partEntries?: number
}

export interface MonitorReport {
  readonly findings: readonly Finding[]
  /** Undefined unless it was verified with all entries below it. */
  readonly head: TrustedHead | undefined
  /** Entries that were read. */
  readonly read: number
  readonly accounts: readonly AccountReport[]
}

/** Writing the file of a busy account takes as long as reading a part. */
const PARTS_PER_SAVE = 8

/** One run. Rejects with LogUnreachable, MonitorFileUnusable and TooManyTags. */
export async function monitorLog(options: MonitorOptions): Promise<MonitorReport> {
  const findings: Finding[] = []
  try {
    const { head, note } = await shownHead(options)
    findings.push(...tooOld(head, options), ...(await fromFuture(note, options)))
    const { found, read } = await verifiedTree({ ...head, note: noteText(note) }, options)
    const others = await options.others(head.origin)
    for (const other of others) findings.push(...(await judgeOtherHead(other, head, options)))
    findings.push(...(await judgeAmongEachOther(others, head.origin, options.policy)))
    const judged = [...found].map(([account, entries]) => judgeAccount(account, entries, options))
    return {
      findings: [...findings, ...judged.flatMap(({ findings: ofAccount }) => ofAccount)],
      head,
      read,
      accounts: judged,
    }
  } catch (error) {
    const isWithheld = error instanceof LogIncomplete || error instanceof LogUnreachable
    if (!isWithheld && !(error instanceof FaultFound)) throw error
    const forks = await forksAmongOthers(options)
    if (error instanceof LogUnreachable && forks.length === 0) throw error
    findings.push(isWithheld ? { kind: 'withheld', detail: error.message } : error.finding, ...forks)
    return { findings, head: undefined, read: 0, accounts: [] }
  }
}

/** M5, whatever the log shows. */
async function forksAmongOthers({ policy, others }: MonitorOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const origin of new Set(policy.logs.map(({ key }) => key.name)))
    findings.push(...(await judgeAmongEachOther(await others(origin), origin, policy)))
  return findings
}

/** M1. */
async function shownHead({ reader, policy }: MonitorOptions): Promise<{ head: TrustedHead; note: SignedNote }> {
  const note = parseNote(await reader.checkpoint())
  if (note === undefined) throw new FaultFound('untrusted', 'the head of the log is malformed')
  const head = await trustedHead(note, policy)
  if ('problem' in head) throw new FaultFound('untrusted', head.problem, { head: noteText(note) })
  return { head, note }
}

function tooOld({ size, witnessedAtMs }: TrustedHead, { maxAgeMs, nowMs }: MonitorOptions): readonly Finding[] {
  if (maxAgeMs === undefined) return []
  if (witnessedAtMs === undefined) return [{ kind: 'stale', detail: 'no witness states the time of the head' }]
  const ageMs = nowMs() - witnessedAtMs
  if (ageMs <= maxAgeMs) return []
  const at = new Date(witnessedAtMs).toISOString()
  const detail = `the log shows a head of ${size} entries that was witnessed at ${at}, ${Math.floor(ageMs / 1_000)} s ago`
  return [{ kind: 'stale', detail, facts: { size, witnessed_at: at } }]
}

/** A head from the future would look fresh for long. */
async function fromFuture(note: SignedNote, { policy, nowMs }: MonitorOptions): Promise<readonly Finding[]> {
  const atMs = await signedAtMs(note, policy)
  if (atMs === undefined || atMs - nowMs() <= CLOCK_TOLERANCE_MS) return []
  const at = new Date(atMs).toISOString()
  const detail = `a witness signed the head with the time ${at}, which is to come: its clock is wrong, or the one here`
  return [{ kind: 'untrusted', detail, facts: { head: noteText(note), witnessed_at: at } }]
}

/** M2 to M4. */
async function verifiedTree(
  head: VerifiedHead,
  options: MonitorOptions,
): Promise<{ found: ReadonlyMap<WatchedAccount, readonly FoundEntry[]>; read: number }> {
  const { reader, store, accounts, ahead, onProgress, isAnew } = options
  const state = store.load(accounts) ?? { verified: undefined, edge: EMPTY_TREE, ahead, found: new Map() }
  const { verified } = state
  if (verified !== undefined) await requireContinuation(verified, head, reader)
  const isUsable = !isAnew && state.ahead >= ahead && state.edge.size <= head.size
  const from = isUsable ? state.edge : EMPTY_TREE
  const tags = searchedTags(isUsable ? state.found : new Map(), options)
  const stateAt = (edge: TreeEdge): MonitorState => ({ verified, edge, ahead, found: foundBelow(edge.size, tags) })
  let [edge, previous, parts] = [from, from, 0]
  try {
    for await (const next of readTree(reader, from, head.size, options.partEntries)) {
      tags.search(next.part)
      ;[previous, edge, parts] = [edge, next.edge, parts + 1]
      onProgress(edge.size, head.size)
      // Not the end of this part: the next one may show what to search here (T2).
      if (parts % PARTS_PER_SAVE === 0) store.save(stateAt(previous))
    }
    if (!rootOf(edge).equals(head.root)) {
      throw new FaultFound('tampered', `the entries do not have the root of the signed head of ${head.size} entries`)
    }
  } catch (error) {
    // The entries that were read since the last verified head may be wrong.
    if (error instanceof FaultFound) store.save({ verified, edge: EMPTY_TREE, ahead, found: new Map() })
    throw error
  }
  store.save({ ...stateAt(edge), verified: head })
  return { found: tags.all(), read: edge.size - from.size }
}

function searchedTags(
  found: ReadonlyMap<WatchedAccount, readonly FoundEntry[]>,
  { accounts, known, ahead }: MonitorOptions,
): AccountTags {
  const searched = accounts.map((account) => {
    const sequences = known.filter(({ accountId }) => accountId === account.accountId).map(({ sequence }) => sequence)
    const highest = sequences.reduce((most, sequence) => Math.max(most, sequence), -1)
    return { ...account, highest, found: found.get(account) ?? [] }
  })
  return new AccountTags(searched, ahead)
}

function foundBelow(size: number, tags: AccountTags): ReadonlyMap<WatchedAccount, readonly FoundEntry[]> {
  return new Map([...tags.all()].map(([account, found]) => [account, found.filter(({ place }) => place < size)]))
}
