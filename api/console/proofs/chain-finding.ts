import { type GivenEntry, type VerifiedChain, verifyChain } from '../../client/index.ts'
import { type Finding, findingOf, tampered } from './finding.ts'

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

/** The account of the page, and its values on the page. */
export interface ChainSubject {
  readonly accountId: string
  /** `audit_hash` of the account, read before the entries. A longer chain, which contains it, is fine. */
  readonly tip: string
  /** The entries that the page shows. */
  readonly shown?: readonly GivenEntry[]
}

export async function chainFinding(
  entries: readonly GivenEntry[],
  { accountId, tip, shown = [] }: ChainSubject,
): Promise<ChainFinding> {
  const known = entries.findIndex(({ audit_hash }) => audit_hash === tip)
  const verdict = await verifyChain(entries, known === -1 ? { tip } : {})
  if (!verdict.ok) {
    const at = 'sequence' in verdict ? verdict.sequence : undefined
    return {
      ...findingOf(verdict, at === undefined ? 'The chain' : `Entry ${at} of the chain`, []),
      ...(at === undefined ? {} : { brokenAt: at }),
    }
  }
  if (verdict.accountId === '') {
    const problem = 'All entries are erased, so they do not prove of which account the chain is.'
    return { outcome: 'unproved', problem, proved: [], unproved: [] }
  }
  if (verdict.accountId !== accountId) {
    return tampered(`The chain is of account ${verdict.accountId}, but this page is of ${accountId}.`)
  }
  const other = shown.find((entry) => !isSame(entry, verdict.entries.get(entry.sequence)))
  if (other !== undefined) {
    const problem = `Entry ${other.sequence} on this page is not that of the verified chain.`
    return { ...tampered(problem), brokenAt: other.sequence }
  }
  const found = findingOf(verdict, 'The chain', UNPROVED)
  const proved = [...found.proved, `The chain contains the hash that the account shows (${tip}).`]
  return { ...found, proved, chain: verdict }
}

function isSame(shown: GivenEntry, verified: GivenEntry | undefined): boolean {
  const { txn_id: txnId, audit_hash: hash, payload } = shown
  return verified?.txn_id === txnId && verified.audit_hash === hash && verified.payload === payload
}
