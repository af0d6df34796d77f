/** Adds to the finding of a receipt or a chain that the log, which witnesses watch, has its entry. */
import {
  Ed25519Missing,
  isLedgerError,
  parsePolicy,
  PolicyMalformed,
  type TrustPolicy,
  verifyLogProof,
} from '../../client/index.ts'
import { parseLogProof } from '../../client/log/log-proof.ts'
import { type Finding, findingOf } from './finding.ts'

export interface LogEvidence {
  /** The proof of the entry, in the form of C2SP. */
  readonly proof: string
  /** The key of the log, as the ledger serves it. */
  readonly logKey: string
}

export interface LogQuestion {
  /** Of the verified entry. */
  readonly auditHash: string
  /** Rejects with a LedgerError. */
  readonly fetch: () => Promise<LogEvidence>
  /** A policy that the reader got from elsewhere, in the form of C2SP; empty: none. */
  readonly policy: string
}

const NOT_YET = 'That the log of the ledger has it: it does not have it yet. Verify again in a few seconds.'
const NO_PROOF = 'That the log of the ledger has it: the ledger gives no proof.'
const NO_ED25519 = 'That the log of the ledger has it: this browser cannot verify its signatures (Ed25519).'

/** A receipt or a chain that does not verify is not looked for in the log. */
export async function withLog(found: Finding, { auditHash, fetch, policy }: LogQuestion): Promise<Finding> {
  if (found.outcome !== 'verified') return found
  let evidence: LogEvidence
  try {
    evidence = await fetch()
  } catch (error) {
    if (isLedgerError(error, 'ERR_WAIT_TIMEOUT')) return withUnproved(found, NOT_YET)
    if (isLedgerError(error, 'ERR_NOT_FOUND')) return withUnproved(found, NO_PROOF)
    throw error
  }
  try {
    const isOwn = policy.trim() === ''
    const trusted = await parsePolicy(isOwn ? `log ${evidence.logKey}\nquorum none` : policy)
    return await judged(found, { ...evidence, auditHash, isOwn }, trusted)
  } catch (error) {
    if (error instanceof Ed25519Missing) return withUnproved(found, NO_ED25519)
    if (error instanceof PolicyMalformed) {
      return { outcome: 'unproved', problem: `The policy: ${error.message}.`, proved: found.proved, unproved: [] }
    }
    throw error
  }
}

interface Claim extends LogEvidence {
  readonly auditHash: string
  /** The policy is of the ledger itself. */
  readonly isOwn: boolean
}

async function judged(found: Finding, { proof, auditHash, isOwn }: Claim, policy: TrustPolicy): Promise<Finding> {
  const verdict = await verifyLogProof(proof, auditHash, policy)
  if (!verdict.ok) return findingOf(verdict, 'The proof of the log', [])
  const { origin, size, witnesses } = verdict.head
  const proved = [
    ...found.proved,
    `The log ${origin} has it in place ${verdict.index} of ${size}, counted from 0.`,
    ...(witnesses.length === 0 ? [] : [`Of the witnesses of your policy, ${witnesses.join(', ')} signed this log.`]),
  ]
  if (!isOwn && witnesses.length > 0) return { ...found, proved }
  const names = parseLogProof(proof)?.checkpoint.signatures.map(({ name }) => name) ?? []
  return withUnproved({ ...found, proved }, unwitnessed(names.filter((name) => name !== origin)))
}

/** `names`: in signatures that this page has no keys for. */
function unwitnessed(names: readonly string[]): string {
  const claim = 'That the ledger shows everyone this same log: '
  if (names.length === 0) return `${claim}no witness signed it.`
  const witnesses = [...new Set(names)].join(', ')
  return `${claim}it has signatures in the names of ${witnesses}, whose keys this page does not have. Enter a policy with them on the page of the keys.`
}

function withUnproved(found: Finding, sentence: string): Finding {
  return { ...found, unproved: [...found.unproved, sentence] }
}
