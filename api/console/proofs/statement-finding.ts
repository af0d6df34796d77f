import { type KeySet, type Statement, verifyStatement } from '../../client/index.ts'
import { type Finding, findingOf, KEYS_UNPROVED, tampered } from './finding.ts'

/** The statement that the page is of. */
export interface StatementSubject {
  readonly accountId: string
  readonly tokenId: string
  /** RFC 3339; empty: from the beginning. */
  readonly from: string
  /** RFC 3339, the first time after it; empty: until now. */
  readonly to: string
}

const UNPROVED = ['That the statement agrees with the audit chain: verify the chain, too.', KEYS_UNPROVED]

/** `isWhole`: false if pages are missing, because the statement is long. */
export async function statementFinding(
  pages: readonly Statement[],
  keySet: KeySet,
  isWhole: boolean,
  subject: StatementSubject,
): Promise<Finding> {
  if (!isWhole) {
    return {
      outcome: 'unproved',
      problem: 'Only a whole statement can be verified: choose a shorter time.',
      proved: [],
      unproved: [],
    }
  }
  const problem = pages.map((page) => otherSubject(page, subject)).find((one) => one !== undefined)
  if (problem !== undefined) return tampered(`The statement: ${problem}.`)
  const openEnd = `That no movement came after ${pages[0]?.to ?? 'its end'}: the ledger chose this end.`
  const unproved = subject.to === '' ? [openEnd, ...UNPROVED] : UNPROVED
  return findingOf(await verifyStatement(pages, keySet), 'The statement', unproved)
}

function otherSubject(page: Statement, { accountId, tokenId, from, to }: StatementSubject): string | undefined {
  if (page.account_id !== accountId) return `it is of account ${page.account_id}, not of ${accountId}`
  if (page.token_id !== tokenId) return `it is of token ${page.token_id}, not of ${tokenId}`
  if (from === '' ? page.from !== null : !isTime(page.from, from)) return `it begins at ${page.from ?? 'the beginning'}`
  return to === '' || isTime(page.to, to) ? undefined : `it ends at ${page.to}`
}

function isTime(time: string | null, expected: string): boolean {
  return time !== null && Date.parse(time) === Date.parse(expected)
}
