/** Verdicts on the chains of saved or fetched pages. */
import { chainHash, showHash } from '../../../actors/audit-chain.ts'
import type { VerifiedChain } from '../../../api/client/index.ts'
import { type GivenEntry, judgeChain } from '../../../api/client/verify/verify-chain.ts'
import { UsageError } from '../common/command.ts'
import type { ExportedPage } from './export-file.ts'
import type { VerdictLine } from './verdicts.ts'

export interface ExpectedChain {
  /** A known `audit_hash` of the only account, of any entry. */
  readonly tip?: string | undefined
  /** `audit_hash` of the last entry. */
  readonly last?: string | undefined
  /** The account that was requested. */
  readonly accountId?: string | undefined
}

export interface CheckedChains {
  readonly lines: readonly VerdictLine[]
  /** Undefined if a chain does not verify. */
  readonly chains: readonly VerifiedChain[] | undefined
}

/** Ends at the first chain that does not verify. Throws UsageError: a tip is given for other than one account. */
export function checkChains(pages: readonly ExportedPage[], expected: ExpectedChain): CheckedChains {
  const given = groupPages(pages)
  if (expected.accountId !== undefined && given.length === 0) {
    return {
      lines: [{ verdict: 'INCOMPLETE', detail: `chain of ${expected.accountId}: no entries` }],
      chains: undefined,
    }
  }
  if (expected.tip !== undefined && given.length !== 1) {
    throw new UsageError('--tip needs the chain of exactly one account')
  }
  const lines: VerdictLine[] = []
  const chains: VerifiedChain[] = []
  for (const one of given) {
    const chain = checkChain(one, expected)
    if ('verdict' in chain) return { lines: [...lines, chain], chains: undefined }
    chains.push(chain)
    lines.push({ verdict: 'ok', detail: chainText(chain), facts: { account_id: chain.accountId, tip: chain.tip } })
  }
  return { lines, chains }
}

function checkChain({ accountId, entries, total }: GivenChain, expected: ExpectedChain): VerifiedChain | VerdictLine {
  const result = judgeChain(entries, hashOf, { tip: expected.tip })
  if (!result.ok) {
    const { sequence, txnId, problem } = result
    const transaction = (txnId ?? null) === null ? '' : ` (${txnId})`
    const entry = sequence === undefined ? '' : `entry ${sequence}${transaction}: `
    return { verdict: 'TAMPERED', detail: `${entry}${problem}` }
  }
  // A chain without payloads names no account.
  const named = result.accountId === '' ? accountId : result.accountId
  const other = [accountId, named].find((id) => expected.accountId !== undefined && id !== expected.accountId)
  if (other !== undefined) {
    return { verdict: 'UNEXPECTED', detail: `the chain is of account ${other}, not of ${expected.accountId}` }
  }
  if (expected.last !== undefined && result.tip !== expected.last) {
    return { verdict: 'TAMPERED', detail: `the chain ends with ${result.tip}, not with ${expected.last}` }
  }
  if (result.entries.size < total) {
    const detail = `the files have ${result.entries.size} of ${total} entries: give all pages`
    return { verdict: 'INCOMPLETE', detail }
  }
  return { ...result, accountId: named }
}

function chainText({ accountId, entries, erased, tip }: VerifiedChain): string {
  const unproved = erased === 0 ? '' : ` (${erased} of them with an erased payload: only their links can be verified)`
  return `chain of ${accountId}, ${entries.size} entries${unproved}, ends with ${tip}`
}

/** In this thread: WebCrypto needs about ten times as long. */
function hashOf({ previous_hash: previous, payload }: GivenEntry): string {
  return showHash(chainHash(previous.replace('sha256:', ''), payload ?? ''))
}

interface GivenChain {
  readonly accountId: string
  readonly entries: readonly GivenEntry[]
  /** The smallest total_count of the pages; 0 if none has one. */
  readonly total: number
}

/** Groups the entries by account. Pages without an account_id form one chain. */
function groupPages(pages: readonly ExportedPage[]): readonly GivenChain[] {
  const groups = new Map<string, GivenChain>()
  for (const page of pages) {
    const key = page.accountId ?? ''
    const group = groups.get(key)
    groups.set(key, {
      accountId: key,
      entries: [...(group?.entries ?? []), ...page.entries],
      total: Math.min(page.total ?? Number.POSITIVE_INFINITY, group?.total ?? Number.POSITIVE_INFINITY),
    })
  }
  return [...groups.values()]
    .filter(({ entries }) => entries.length > 0)
    .map(({ accountId, entries, total }) => ({ accountId, entries, total: Number.isFinite(total) ? total : 0 }))
}
