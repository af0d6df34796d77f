/**
 * Verifies statements of accounts offline:
 *   S1. Each page is signed by an assertion key of the ledger that was in use at `generated_at`.
 *   S2. `opening` and the amounts add up to each `balance_after`, and to `closing`.
 *   S3. The pages of a statement follow each other without a gap, and the first and the last are there.
 */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { parseQuantity, type Quantity } from '../../../actors/money.ts'
import { signatureProblem, timeMsIn } from '../../../api/endpoint/service-signature.ts'
import { type ReceiptKeys, signatureProblemText } from './verify-receipt.ts'

export interface GivenStatementPage {
  /** The page without `signature` and `next_page_token`. */
  readonly signed: JsonObject
  /** DER in base64. */
  readonly signature: string
}

const quantity = v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/), v.transform(parseQuantity))
const change = v.pipe(
  v.string(),
  v.regex(/^[+-](0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/),
  v.transform((text): Quantity => (text.startsWith('-') ? -1n : 1n) * parseQuantity(text.slice(1))),
)
const sequence = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

const pageSchema = v.object({
  account_id: v.string(),
  token_id: v.string(),
  from: v.nullable(v.string()),
  to: v.string(),
  opening: quantity,
  opening_sequence: v.nullable(sequence),
  movements: v.array(v.object({ sequence, amount: change, balance_after: quantity })),
  closing: quantity,
  closing_sequence: v.nullable(sequence),
  first_page: v.boolean(),
  last_page: v.boolean(),
})
type Page = v.InferOutput<typeof pageSchema>

/** Why a page is invalid by itself; undefined if it is valid (S1, S2). */
export function problemOfPage({ signed, signature }: GivenStatementPage, keys: ReceiptKeys): string | undefined {
  if (keys.ledgerId !== undefined && signed['ledger_id'] !== keys.ledgerId)
    return 'its ledger_id is not that of the JWKS'
  const atMs = timeMsIn(signed['generated_at'])
  const claim = { keyId: signed['key_id'], atMs, text: canonicalJson(signed), signature }
  const problem = signatureProblem(claim, 'assertion', keys.keys)
  if (problem !== undefined) return signatureProblemText(problem, 'generated_at')
  const page = v.safeParse(pageSchema, signed)
  if (!page.success) return `it is no statement (wrong: ${v.getDotPath(page.issues[0]) ?? 'the whole page'})`
  return problemOfSum(page.output)
}

function problemOfSum({ opening, opening_sequence: first, movements, closing }: Page): string | undefined {
  let [balance, last] = [opening, first ?? -1]
  for (const movement of movements) {
    if (movement.sequence <= last) return `movement ${movement.sequence} is out of order`
    balance += movement.amount
    last = movement.sequence
    if (movement.balance_after !== balance) return `the balance after movement ${movement.sequence} does not add up`
  }
  return balance === closing ? undefined : 'its opening and movements do not add up to its closing'
}

export interface GivenStatement {
  /** As `alice: 4 pages of BASE from 2026-01-01T00:00:00.000Z to 2026-02-01T00:00:00.000Z`. */
  readonly name: string
  readonly pages: readonly GivenStatementPage[]
}

/** Pages of one account, token and range belong together. */
export function statementsOf(given: readonly GivenStatementPage[]): readonly GivenStatement[] {
  const statements = new Map<string, GivenStatementPage[]>()
  for (const page of given) {
    const { account_id: accountId, token_id: tokenId, from, to } = page.signed
    const name = `statement of ${text(accountId)}, ${text(tokenId)}, from ${text(from)} to ${text(to)}`
    statements.set(name, [...(statements.get(name) ?? []), page])
  }
  return [...statements].map(([name, pages]) => ({
    name,
    pages: pages.toSorted((one, other) => orderOf(one) - orderOf(other)),
  }))
}

function text(member: unknown): string {
  return JSON.stringify(member ?? null)
}

function orderOf({ signed }: GivenStatementPage): number {
  const { opening_sequence: first, closing_sequence: last } = signed
  return typeof first === 'number' ? first - (first === last ? 0.5 : 0) : -1
}

/** Why valid pages, in order, are no whole statement; undefined if they are (S3). */
export function gapIn({ pages }: GivenStatement): string | undefined {
  let before: JsonObject | undefined
  if (pages[0]?.signed['first_page'] !== true) return 'its first page is missing'
  for (const { signed } of pages) {
    const follows =
      before === undefined ||
      (before['closing'] === signed['opening'] && before['closing_sequence'] === signed['opening_sequence'])
    if (!follows) return `no page goes on behind entry ${text(before?.['closing_sequence'])}`
    before = signed
  }
  return before?.['last_page'] === true ? undefined : 'its last page is missing'
}
