/** Findings about signed responses of the API, as lines for people. */
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import {
  type Assertion,
  type LiabilityProof,
  type Receipt,
  type Statement,
  type Verdict,
  type VerifiedChain,
  verifyAssertion,
  verifyLiabilityProof,
  verifyReceipt,
} from '../../../api/client/index.ts'
import { gapIn, inOrder, verifyPage } from '../../../api/client/verify/verify-statement.ts'
import { type ReceiptKeys, unsuitableJwks } from './jwks.ts'

export interface Finding {
  readonly ok: boolean
  readonly lines: readonly string[]
}

/** Pages of one account, token and range. */
export interface GivenStatement {
  readonly name: string
  /** In the order of their movements. */
  readonly pages: readonly Statement[]
}

/** `signed`: has the members ledger_id and key_id. `shown`: follows `ok: ` in the line of a success. */
async function finding(
  name: string,
  signed: object,
  keys: ReceiptKeys,
  verify: () => Promise<Verdict>,
  shown: readonly string[] = [name],
): Promise<Finding> {
  const unsuitable = unsuitableJwks(signed as JsonObject, keys)
  if (unsuitable !== undefined) return { ok: false, lines: [`NOT CHECKED: ${name}: ${unsuitable}`] }
  const verdict = await verify()
  if (!verdict.ok) return { ok: false, lines: [`TAMPERED: ${name}: ${verdict.problem}`] }
  return { ok: true, lines: shown.map((text) => `ok: ${text}`) }
}

export function checkReceipt(given: Receipt, keys: ReceiptKeys, chains: readonly VerifiedChain[]): Promise<Finding> {
  const { txn_id: txnId, account_id: accountId } = given.receipt
  const chain = chains.find((candidate) => candidate.accountId === accountId)
  const name = `receipt of ${typeof txnId === 'string' ? txnId : '(no txn_id)'}`
  const shown = chain === undefined ? `${name} (its chain is not in the files)` : name
  return finding(name, given.receipt, keys, () => verifyReceipt(given, keys.document, { chain }), [shown])
}

export function mixedLedgers(receipts: readonly Receipt[]): readonly Finding[] {
  const ledgers = new Set(receipts.map(({ receipt }) => receipt.ledger_id))
  return ledgers.size > 1 ? [{ ok: false, lines: ['TAMPERED: the receipts are of different ledgers'] }] : []
}

export function checkAssertion(given: Assertion, keys: ReceiptKeys): Promise<Finding> {
  const { requester, generated_at: generatedAt } = given.result
  const name = `${given.assertion_type} for ${quoted(requester)} of ${quoted(generatedAt)}`
  return finding(name, given.result, keys, () => verifyAssertion(given, keys.document))
}

export function checkProof(given: LiabilityProof, keys: ReceiptKeys): Promise<Finding> {
  const { account_id: accountId, assertion, proofs } = given
  const name = `liability proof of ${accountId}`
  const of = `in the liabilities of ${quoted(assertion.result.as_of)}`
  const shown =
    proofs.length === 0
      ? [`the proof of ${accountId} has no token ${of}, so it proves nothing`]
      : proofs.map(({ amount, token_id: tokenId }) => `${accountId} is owed ${amount} ${tokenId} ${of}`)
  return finding(name, assertion.result, keys, () => verifyLiabilityProof(given, keys.document), shown)
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
export async function checkStatement({ name, pages }: GivenStatement, keys: ReceiptKeys): Promise<Finding> {
  const lines: string[] = []
  for (const page of pages) {
    const ofPage = `${name}, behind entry ${quoted(page.opening_sequence)}`
    const found = await finding(ofPage, page, keys, () => verifyPage(page, keys.document))
    if (!found.ok) lines.push(...found.lines)
  }
  if (lines.length > 0) return { ok: false, lines }
  const gap = gapIn(pages)
  if (gap !== undefined) return { ok: false, lines: [`INCOMPLETE: ${name}: ${gap}: give all pages`] }
  const [opening, closing] = [pages[0]?.opening, pages.at(-1)?.closing]
  return { ok: true, lines: [`ok: ${name}: opens with ${quoted(opening)}, closes with ${quoted(closing)}`] }
}

/** Quotes a value from the file, which may contain anything. */
function quoted(member: Json | undefined): string {
  return JSON.stringify(member ?? null)
}
