/** Verdicts on proofs that the log of the ledger has the given receipts and chains. */
import type { Invalid, Receipt, TrustPolicy, VerifiedChain, VerifiedInclusion } from '../../../api/client/index.ts'
import { parsePolicy, PolicyMalformed } from '../../../api/client/index.ts'
import { judgeLogProof } from '../../../api/client/log/log-proof.ts'
import { CommandFailed, type CommandIo } from '../common/command.ts'
import { readGivenText } from '../common/given-file.ts'
import type { VerdictLine, VerdictWord } from './verdicts.ts'

export interface GivenLogProof {
  /** Of the file, for messages. */
  readonly name: string
  readonly text: string
}

export interface LogProofs {
  readonly policy: TrustPolicy
  readonly given: readonly GivenLogProof[]
  /** Names of requested proofs of entries that no published head of the log has yet. */
  readonly pending?: readonly string[]
  /** Log keys by account; empty: the places of entries in their chains are not verified. */
  readonly accountKeys: ReadonlyMap<string, Uint8Array>
}

/** Only what has verified: a proof says nothing about the rest of a receipt. */
export interface ProvableContent {
  readonly receipts: readonly Receipt[]
  readonly chains: readonly VerifiedChain[]
}

interface Provable {
  readonly name: string
  readonly facts: object
  readonly place: { readonly accountId: string; readonly sequence: number }
}

export const VERDICT_WORDS: Readonly<Record<Invalid['reason'], VerdictWord>> = {
  tampered: 'TAMPERED',
  wrong_keys: 'NOT CHECKED',
  incomplete: 'INCOMPLETE',
  unexpected: 'UNEXPECTED',
}

/** Throws CommandFailed. */
export async function readPolicy(name: string, io: CommandIo): Promise<TrustPolicy> {
  const text = await readGivenText(name, io)
  try {
    return await parsePolicy(text)
  } catch (cause) {
    if (cause instanceof PolicyMalformed) throw new CommandFailed(`${name} is no policy: ${cause.message}`, { cause })
    throw cause
  }
}

/**
 * A verdict on each proof; and if all verify, one on each receipt that none of them proves. The proof of an entry proves
 * the entries before it in a given chain, too: its hash covers theirs.
 */
export async function checkLogProofs(
  { given, pending = [], policy, accountKeys }: LogProofs,
  content: ProvableContent,
): Promise<readonly VerdictLine[]> {
  const awaited = pending.map((name): VerdictLine => ({
    verdict: 'INCOMPLETE',
    detail: `${name}: the entry is not yet in a published head of the log; verify again later`,
  }))
  const provable = provableIn(content)
  if (provable.size === 0) {
    const detail = 'there is no valid receipt or entry that it could be of'
    return [...given.map(({ name }) => ({ verdict: 'NOT CHECKED', detail: `${name}: ${detail}` }) as const), ...awaited]
  }
  const entries = [...provable].map(
    ([
      auditHash,
      {
        place: { accountId, sequence },
      },
    ]) => {
      const key = accountKeys.get(accountId)
      return { auditHash, place: key && { logKey: Buffer.from(key).toString('base64'), sequence } }
    },
  )
  const lines: VerdictLine[] = [...awaited]
  const proved: Provable['place'][] = []
  for (const { name, text } of given) {
    const verdict = await judgeLogProof(text, entries, policy)
    const found = verdict.ok ? provable.get(verdict.auditHash) : undefined
    if (!verdict.ok) lines.push({ verdict: VERDICT_WORDS[verdict.reason], detail: `${name}: ${verdict.problem}` })
    if (!verdict.ok || found === undefined) continue
    if (accountKeys.size > 0 && !accountKeys.has(found.place.accountId)) {
      lines.push({
        verdict: 'NOT CHECKED',
        detail: `${name}: no --account-key has the log key of ${found.place.accountId}`,
      })
      continue
    }
    proved.push(found.place)
    const keyed = accountKeys.size === 0 ? '' : '; those who have the log key find it there'
    lines.push({
      verdict: 'ok',
      detail: `${name}: ${provedText(verdict, found)}${keyed}`,
      facts: factsOf(verdict, found),
    })
  }
  return lines.every(({ verdict }) => verdict === 'ok') ? [...lines, ...unproved(content, proved)] : lines
}

/** By hash: receipts first, then the entries of chains from the last one on, which proofs are mostly of. */
function provableIn({ receipts, chains }: ProvableContent): ReadonlyMap<string, Provable> {
  const provable = new Map<string, Provable>()
  for (const { receipt } of receipts) {
    const { account_id: accountId, audit_hash: hash, sequence, txn_id: txnId } = receipt
    if (hash === null || sequence === null) continue
    provable.set(hash, {
      name: `the entry of ${txnId}`,
      facts: { txn_id: txnId, account_id: accountId, sequence },
      place: { accountId, sequence },
    })
  }
  for (const { accountId, entries } of chains) {
    for (const { audit_hash: hash, sequence, txn_id: txnId } of [...entries.values()].toReversed()) {
      const transaction = (txnId ?? null) === null ? {} : { txn_id: txnId }
      const named = 'txn_id' in transaction ? ` (${txnId})` : ''
      provable.set(hash, {
        name: `entry ${sequence}${named} of the chain of ${accountId}${sequence === 0 ? '' : ', and with it all before,'}`,
        facts: { ...transaction, account_id: accountId, sequence },
        place: { accountId, sequence },
      })
    }
  }
  return provable
}

function provedText({ index, head }: VerifiedInclusion, { name }: Provable): string {
  const by = head.witnesses.length === 0 ? 'the log alone' : `the log and ${head.witnesses.join(', ')}`
  const at = head.witnessedAtMs === undefined ? '' : ` at ${new Date(head.witnessedAtMs).toISOString()}`
  return `the log ${head.origin} has ${name} in place ${index} of ${head.size}; signed by ${by}${at}`
}

function factsOf({ index, head }: VerifiedInclusion, { facts }: Provable): object {
  const { origin, size, witnesses, witnessedAtMs } = head
  const witnessed = witnessedAtMs === undefined ? {} : { witnessed_at: new Date(witnessedAtMs).toISOString() }
  return { ...facts, log: origin, index, size, witnesses, ...witnessed }
}

function unproved({ receipts, chains }: ProvableContent, proved: readonly Provable['place'][]): readonly VerdictLine[] {
  const isProved = ({ receipt: { account_id: accountId, sequence } }: Receipt): boolean => {
    const hasChain = chains.some((chain) => chain.accountId === accountId)
    return (
      sequence === null ||
      proved.some(
        (one) => one.accountId === accountId && (hasChain ? one.sequence >= sequence : one.sequence === sequence),
      )
    )
  }
  return receipts
    .filter((receipt) => !isProved(receipt))
    .map(({ receipt }) => ({
      verdict: 'INCOMPLETE',
      detail: `receipt of ${receipt.txn_id}: no proof is of its entry, or of a later one of its chain`,
    }))
}
