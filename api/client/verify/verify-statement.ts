/**
 * Verifies the pages of a statement.
 *   S1. Each page is signed by an assertion key of the ledger that was in use at `generated_at`.
 *   S2. `opening` and the amounts add up to each `balance_after`, and to `closing`.
 *   S3. The pages follow each other without a gap, and the first and the last are there.
 *   S4. If members are expected, each page has them.
 */
import { isDecimalString, parseQuantity, type Quantity } from '../../../actors/money.ts'
import type { Statement } from '../generated/api-types.ts'
import { signatureProblem, type TrustedKeys } from './service-signature.ts'
import { type Invalid, judged, tampered, unexpected, type Verdict } from './verdict.ts'

export interface StatementExpectation {
  /** Members that the statement must have, such as `{ account_id, token_id, from, to }`. Times may be of any offset. */
  readonly expected?: Partial<Pick<Statement, 'account_id' | 'token_id' | 'from' | 'to' | 'ledger_id'>> | undefined
}

const SIGN = /^[+-]/

/** `pages`: all pages of one statement, in any order. */
export async function verifyStatement(
  pages: readonly Statement[],
  keySet: TrustedKeys,
  { expected = {} }: StatementExpectation = {},
): Promise<Verdict> {
  return judged<Verdict>(async () => {
    const [first, ...others] = inOrder(pages)
    if (first === undefined) return incomplete('it has no pages')
    const sorted = [first, ...others]
    for (const page of sorted) {
      const invalid = (await pageProblem(page, keySet)) ?? unexpected(expected, page)
      if (invalid !== undefined) return invalid
    }
    if (others.some((page) => nameOf(page) !== nameOf(first))) return incomplete('its pages are of several statements')
    const gap = gapIn(sorted)
    return gap === undefined ? { ok: true, proved: provedBy(first, sorted.at(-1) ?? first) } : incomplete(gap)
  })
}

/** Why a page is invalid by itself; undefined if it is valid (S1, S2). Throws for a malformed page. */
async function pageProblem(page: Statement, keySet: TrustedKeys): Promise<Invalid | undefined> {
  const { signature, next_page_token: _, ...signed } = page
  const claim = { signed, signature, purpose: 'assertion', timeMember: 'generated_at' } as const
  const problem = (await signatureProblem(claim, keySet)) ?? problemOfSum(page)
  return typeof problem === 'string' ? tampered(problem) : problem
}

/** The verdict on one page alone. */
export async function verifyPage(page: Statement, keySet: TrustedKeys): Promise<Verdict> {
  return judged<Verdict>(async () => (await pageProblem(page, keySet)) ?? { ok: true, proved: [] })
}

export function inOrder(pages: readonly Statement[]): readonly Statement[] {
  return pages.toSorted((one, other) => orderOf(one) - orderOf(other))
}

function incomplete(problem: string): Verdict {
  return { ok: false, reason: 'incomplete', problem }
}

function provedBy({ ledger_id, account_id, token_id, from, opening }: Statement, last: Statement): readonly string[] {
  const range = `from ${from ?? 'the beginning'} to ${last.to}`
  return [
    `Ledger ${ledger_id} signed every page of the statement of ${account_id}, ${token_id}, ${range}.`,
    `Its movements add up from ${opening} to ${last.closing}, and no page is missing.`,
  ]
}

function problemOfSum({ opening, opening_sequence: first, movements, closing }: Statement): string | undefined {
  let [balance, last] = [quantityOf(opening), first ?? -1]
  for (const { sequence, amount, balance_after: after } of movements) {
    if (sequence <= last) return `movement ${sequence} is out of order`
    if (!SIGN.test(amount)) return `the amount of movement ${sequence} has no sign`
    balance += (amount.startsWith('-') ? -1n : 1n) * quantityOf(amount.slice(1))
    last = sequence
    if (quantityOf(after) !== balance) return `the balance after movement ${sequence} does not add up`
  }
  return balance === quantityOf(closing) ? undefined : 'its opening and movements do not add up to its closing'
}

/** Throws a RangeError for anything but a decimal string. */
function quantityOf(text: string): Quantity {
  if (!isDecimalString(text)) throw new RangeError('A quantity is malformed.')
  return parseQuantity(text)
}

function nameOf({ account_id, token_id, from, to }: Statement): string {
  return JSON.stringify([account_id, token_id, from, to])
}

function orderOf({ opening_sequence: first, closing_sequence: last }: Statement): number {
  return first === null ? -1 : first - (first === last ? 0.5 : 0)
}

/** Why valid pages, in order, are no whole statement; undefined if they are (S3). */
export function gapIn(pages: readonly Statement[]): string | undefined {
  let before: Statement | undefined
  if (pages[0]?.first_page !== true) return 'its first page is missing'
  for (const page of pages) {
    const follows =
      before === undefined || (before.closing === page.opening && before.closing_sequence === page.opening_sequence)
    if (!follows) return `no page continues after entry ${JSON.stringify(before?.closing_sequence ?? null)}`
    before = page
  }
  return before?.last_page === true ? undefined : 'its last page is missing'
}
