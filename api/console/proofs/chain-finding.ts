import { type GivenEntry, type VerifiedChain, verifyChain } from '../../client/index.ts'
import { type Finding, findingOf } from './finding.ts'

export interface ChainFinding extends Finding {
  /** The verified chain; undefined if it does not verify. */
  readonly chain?: VerifiedChain
  /** The sequence of the first changed entry. */
  readonly brokenAt?: number
}

const UNPROVED = [
  'That the ledger shows everyone this same chain: compare its last hash with one that you kept, or with that of the other party.',
  'That the orders in it were signed by the account: receipts name the signed order.',
]

/** `tip`: `audit_hash` of the account, read before the entries. A longer chain, which begins with it, is fine. */
export async function chainFinding(entries: readonly GivenEntry[], tip: string): Promise<ChainFinding> {
  const known = entries.findIndex(({ audit_hash }) => audit_hash === tip)
  const verdict = await verifyChain(entries, known === -1 ? { tip } : {})
  if (!verdict.ok) {
    const at = 'sequence' in verdict ? verdict.sequence : undefined
    return {
      ...findingOf(verdict, at === undefined ? 'The chain' : `Entry ${at} of the chain`, []),
      ...(at === undefined ? {} : { brokenAt: at }),
    }
  }
  const found = findingOf(verdict, 'The chain', UNPROVED)
  const proved = [...found.proved, `The chain contains the hash that the account shows (${tip}).`]
  return { ...found, proved, chain: verdict }
}
