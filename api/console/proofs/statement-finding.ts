import { type KeySet, type Statement, verifyStatement } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED } from './finding.ts'

const UNPROVED = ['That the statement agrees with the audit chain: verify the chain, too.', KEYS_UNPROVED]

/** `isWhole`: false if pages are missing, because the statement is long. */
export async function statementFinding(
  pages: readonly Statement[],
  keySet: KeySet,
  isWhole: boolean,
): Promise<Finding> {
  if (!isWhole) {
    return {
      outcome: 'unproved',
      problem: 'Only a whole statement can be verified: choose a shorter time.',
      proved: [],
      unproved: [],
    }
  }
  return findingOf(await verifyStatement(pages, keySet), 'The statement', UNPROVED)
}
