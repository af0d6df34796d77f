/** Verdicts on signed responses of the API. A valid document may state something bad, which its line says. */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import {
  type Assertion,
  type ComplianceResult,
  type Invalid,
  type LiabilityProof,
  type ProvenanceResult,
  type Receipt,
  type Statement,
  type Verdict,
  type VerifiedChain,
  verifyAssertion,
  verifyLiabilityProof,
  verifyReceipt,
} from '../../../api/client/index.ts'
import { statedBy } from '../../../api/client/verify/verify-assertion.ts'
import { outcomeText } from '../../../api/client/verify/verify-receipt.ts'
import { gapIn, inOrder, verifyPage } from '../../../api/client/verify/verify-statement.ts'
import { type ReceiptKeys, unsuitableJwks } from './jwks.ts'
import type { VerdictLine, VerdictWord } from './verdicts.ts'

/** Pages of one account, token and range. */
export interface GivenStatement {
  readonly name: string
  /** In the order of their movements. */
  readonly pages: readonly Statement[]
}

const WORDS: Readonly<Record<Invalid['reason'], VerdictWord>> = {
  tampered: 'TAMPERED',
  // Other keys are NOT CHECKED before: here the document names no key.
  wrong_keys: 'TAMPERED',
  incomplete: 'INCOMPLETE',
  unexpected: 'UNEXPECTED',
}

/** Members that a receipt must have. */
export type ExpectedReceipt = Partial<Receipt['receipt']>

/** Undefined for a valid document. `signed`: has the members ledger_id and key_id. */
export async function problemOf(
  name: string,
  signed: object,
  keys: ReceiptKeys,
  verify: () => Promise<Verdict>,
): Promise<VerdictLine | undefined> {
  const unsuitable = unsuitableJwks(signed as JsonObject, keys)
  if (unsuitable !== undefined) return { verdict: 'NOT CHECKED', detail: `${name}: ${unsuitable}` }
  const verdict = await verify()
  if (verdict.ok) return undefined
  return { verdict: WORDS[verdict.reason], detail: `${name}: ${verdict.problem}` }
}

interface ReceiptContext {
  readonly chains: readonly VerifiedChain[]
  readonly expected: ExpectedReceipt | undefined
}

export async function checkReceipt(
  given: Receipt,
  keys: ReceiptKeys,
  { chains, expected }: ReceiptContext,
): Promise<VerdictLine> {
  const { receipt } = given
  const { txn_id: txnId, account_id: accountId } = receipt
  const chain = chains.find((candidate) => candidate.accountId === accountId)
  const name = `receipt of ${typeof txnId === 'string' ? txnId : '(no txn_id)'}`
  const verify = (): Promise<Verdict> => verifyReceipt(given, keys.document, { chain, expected })
  const problem = await problemOf(name, receipt, keys, verify)
  if (problem !== undefined) return problem
  const { status, type, amount, token_id, class_id, instance_id, from_account_id, to_account_id, failure } = receipt
  const parties = { account_id: accountId, from_account_id, to_account_id }
  const facts = { txn_id: txnId, status, type, amount, token_id, class_id, instance_id, ...parties, failure }
  const missing = chain === undefined ? ' (not compared with its chain)' : ''
  const detail = `${name}: ${status === 'failed' ? 'FAILED' : status}: ${outcomeText(receipt)}${missing}`
  return { verdict: 'ok', detail, facts }
}

export function mixedLedgers(receipts: readonly Receipt[]): readonly VerdictLine[] {
  const ledgers = new Set(receipts.map(({ receipt }) => receipt.ledger_id))
  return ledgers.size > 1 ? [{ verdict: 'TAMPERED', detail: 'the receipts are of different ledgers' }] : []
}

export async function checkAssertion(given: Assertion, keys: ReceiptKeys): Promise<VerdictLine> {
  const { result, assertion_type } = given
  const name = `${assertion_type} for ${quoted(result.requester)} of ${quoted(result.generated_at)}`
  const problem = await problemOf(name, result, keys, () => verifyAssertion(given, keys.document))
  if (problem !== undefined) return problem
  const { compliant, provenance_valid } = result as Partial<ComplianceResult & ProvenanceResult>
  const facts = { assertion_type, compliant, provenance_valid }
  return { verdict: 'ok', detail: `${name}: ${statedBy(result)}`, facts }
}

/** Verifies one page: `incompleteProofs` names the proofs whose last page is missing. */
export async function checkProof(given: LiabilityProof, keys: ReceiptKeys): Promise<readonly VerdictLine[]> {
  const { account_id: accountId, assertion, proofs } = given
  const verify = (): Promise<Verdict> => verifyLiabilityProof({ ...given, next_page_token: '' }, keys.document)
  const problem = await problemOf(`liability proof of ${accountId}`, assertion.result, keys, verify)
  if (problem !== undefined) return [problem]
  const of = `in the liabilities of ${quoted(assertion.result.as_of)}`
  const shown =
    proofs.length === 0
      ? [`the proof of ${accountId} has no token ${of}, so it proves nothing`]
      : proofs.map(({ amount, token_id: tokenId }) => `${accountId} is owed ${amount} ${tokenId} ${of}`)
  return shown.map((detail) => ({ verdict: 'ok', detail }))
}

/** Pages of one proof have the same account and root. */
export function incompleteProofs(given: readonly LiabilityProof[]): readonly VerdictLine[] {
  const nameOf = ({ account_id: accountId, merkle_root: root }: LiabilityProof): string => `${accountId}, ${root}`
  const ended = new Set(given.filter(({ next_page_token: next }) => next === '').map(nameOf))
  return [...new Set(given.map(nameOf))]
    .filter((name) => !ended.has(name))
    .map((name) => ({ verdict: 'INCOMPLETE', detail: `liability proof of ${name}: its last page is missing` }))
}

export function statementsOf(given: readonly Statement[]): readonly GivenStatement[] {
  const statements = new Map<string, readonly Statement[]>()
  for (const page of given) {
    const { account_id: accountId, token_id: tokenId, from, to } = page
    const name = `statement of ${quoted(accountId)}, ${quoted(tokenId)}, from ${quoted(from)} to ${quoted(to)}`
    statements.set(name, [...(statements.get(name) ?? []), page])
  }
  return [...statements].map(([name, pages]) => ({ name, pages: inOrder(pages) }))
}

/** Names each invalid page. */
export async function checkStatement(
  { name, pages }: GivenStatement,
  keys: ReceiptKeys,
): Promise<readonly VerdictLine[]> {
  const problems: VerdictLine[] = []
  for (const page of pages) {
    const ofPage = `${name}, behind entry ${quoted(page.opening_sequence)}`
    const problem = await problemOf(ofPage, page, keys, () => verifyPage(page, keys.document))
    if (problem !== undefined) problems.push(problem)
  }
  if (problems.length > 0) return problems
  const gap = gapIn(pages)
  if (gap !== undefined) return [{ verdict: 'INCOMPLETE', detail: `${name}: ${gap}: give all pages` }]
  const [opening, closing] = [pages[0]?.opening, pages.at(-1)?.closing]
  return [{ verdict: 'ok', detail: `${name}: opens with ${quoted(opening)}, closes with ${quoted(closing)}` }]
}

/** Quotes a value from the file, which may contain anything. */
function quoted(member: Json | undefined): string {
  return JSON.stringify(member ?? null)
}
