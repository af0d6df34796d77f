/**
 * Verifies an account's proof of liabilities.
 *   L1. The assertion, which signs the total and the root, is valid.
 *   L2. The totals of the tokens equal the signed ones, hash to the root and add up to the total.
 *   L3. Each token has a share. Every share of the account is its own leaf. Its siblings lead to the root and the total of
 *       its token.
 *   L4. No page is missing at the end.
 *
 * Hashed bytes, lengths in parentheses; sums count units of 10^-18, the most significant byte first:
 *   leaf         0x00 | nonce (16) | length of token (1) | token | length of account (1) | account | amount (16)
 *   node         0x01 | left hash (32) | left sum (32) | right hash (32) | right sum (32)
 *   merkle_root  0x03 | for each token, in the order of bytes: length (1) | token | root hash (32) | root sum (32)
 */
import { canonicalJson } from '../../../actors/canonical-json.ts'
import { formatQuantity, parseQuantity, type Quantity } from '../../../actors/money.ts'
import { type Bytes, concat, fromHex, hex, sha256, utf8 } from '../signing/bytes.ts'
import type { InclusionShare, LiabilityProof, TokenInclusion } from '../generated/api-types.ts'
import { definedMembers } from '../signing/sign-order.ts'
import type { TrustedKeys } from './service-signature.ts'
import { judged, tampered, unexpected, type Verdict } from './verdict.ts'
import { assertionProblem, liabilitiesText } from './verify-assertion.ts'

interface Node {
  readonly hash: Bytes
  readonly sum: Quantity
}

type TokenTotal = LiabilityProof['totals'][number]

const PREFIX = 'sha256:'
const HASH_BYTES = 32
const SUM_BYTES = 32
const AMOUNT_BYTES = 16
const NONCE_BYTES = 16
/** More levels than any real tree has. */
const MAX_LEVELS = 40

export interface LiabilityExpectation {
  /** Members that the proof must have, such as `{ account_id, merkle_root }`. */
  readonly expected?: Partial<Pick<LiabilityProof, 'account_id' | 'merkle_root'>> | undefined
}

/** `proof`: with the proofs of all its pages. */
export async function verifyLiabilityProof(
  proof: LiabilityProof,
  keySet: TrustedKeys,
  { expected = {} }: LiabilityExpectation = {},
): Promise<Verdict> {
  return judged<Verdict>(async () => {
    const { account_id: accountId, assertion, totals, proofs } = proof
    const invalid = await assertionProblem(assertion, keySet)
    if (invalid !== undefined) return invalid
    const problem = await problemOfTotals(proof)
    if (problem !== undefined) return tampered(problem)
    const tokens = proofs.map(({ token_id: tokenId }) => tokenId)
    if (new Set(tokens).size !== tokens.length) return tampered('it has two proofs of one token')
    for (const token of proofs) {
      const wrong = await problemOfToken(accountId, token, totals)
      if (wrong !== undefined) return tampered(`${token.token_id}: ${wrong}`)
    }
    const other = unexpected(expected, proof)
    if (other !== undefined) return other
    if (proof.next_page_token !== '') {
      return { ok: false, reason: 'incomplete', problem: 'it has further pages, and each shows other tokens' }
    }
    const { ledger_id, as_of } = assertion.result
    return {
      ok: true,
      proved: [
        `Ledger ${ledger_id} signed ${liabilitiesText(assertion.result)} as of ${as_of}.`,
        ...proofs.map(({ token_id, amount }) => `They contain ${amount} ${token_id} owed to ${accountId}.`),
        ...(proofs.length === 0 ? [`The proof has no token of ${accountId}, so it proves nothing about it.`] : []),
      ],
    }
  })
}

async function problemOfTotals({ merkle_root, totals, assertion }: LiabilityProof): Promise<string | undefined> {
  if (assertion.assertion_type !== 'proof-of-liabilities') return 'its assertion is not a proof of liabilities'
  if (assertion.result.merkle_root !== merkle_root) return 'its merkle_root is not the signed one'
  if ((await rootOf(totals)) !== merkle_root) return 'its totals do not hash to its merkle_root'
  const byToken = totals.map(({ token_id, total }) => ({ token_id, total }))
  if (canonicalJson(byToken) !== canonicalJson(definedMembers(assertion.result)['by_token'] ?? null)) {
    return 'its totals are not the signed ones'
  }
  const sum = totals.reduce((units, { total }) => units + parseQuantity(total), 0n)
  return formatQuantity(sum) === assertion.result.total_liabilities
    ? undefined
    : 'its totals do not add up to the signed total'
}

async function rootOf(totals: readonly TokenTotal[]): Promise<string | undefined> {
  const parts: Bytes[] = [Uint8Array.of(0x03)]
  let before: string | undefined
  for (const { token_id: tokenId, root, total } of totals) {
    // Tokens are ASCII: the order of their UTF-16 units is that of their bytes.
    if (before !== undefined && before >= tokenId) return undefined
    before = tokenId
    parts.push(lengthAnd(tokenId), hashOf(root), unsigned(parseQuantity(total), SUM_BYTES))
  }
  return PREFIX + hex(await sha256(concat(...parts)))
}

async function problemOfToken(
  accountId: string,
  { token_id, amount, shares }: TokenInclusion,
  totals: readonly TokenTotal[],
): Promise<string | undefined> {
  const expected = totals.find((total) => total.token_id === token_id)
  if (expected === undefined) return 'its token is not among the totals'
  // Without a leaf, any account could be shown with an amount of 0.
  if (shares.length === 0) return 'it has no share'
  if (new Set(shares.map(({ index }) => index)).size !== shares.length) return 'a leaf is shown twice'
  let sum = 0n
  for (const share of shares) {
    const top = await topOf(accountId, token_id, share)
    if (PREFIX + hex(top.hash) !== expected.root) return 'a share does not lead to the root of its token'
    if (formatQuantity(top.sum) !== expected.total) return 'a share does not lead to the total of its token'
    sum += parseQuantity(share.amount)
  }
  return formatQuantity(sum) === amount ? undefined : 'its shares do not add up to its amount'
}

async function topOf(
  accountId: string,
  tokenId: string,
  { index, amount, nonce, siblings }: InclusionShare,
): Promise<Node> {
  const isInTree =
    Number.isSafeInteger(index) && index >= 0 && siblings.length <= MAX_LEVELS && index < 2 ** siblings.length
  if (!isInTree) throw new RangeError('The leaf is outside the tree.')
  const units = parseQuantity(amount)
  const leaf = concat(
    Uint8Array.of(0x00),
    bytesOf(nonce, NONCE_BYTES),
    lengthAnd(tokenId),
    lengthAnd(accountId),
    unsigned(units, AMOUNT_BYTES),
  )
  let node: Node = { hash: await sha256(leaf), sum: units }
  let place = index
  for (const { hash, sum } of siblings) {
    const sibling = { hash: hashOf(hash), sum: parseQuantity(sum) }
    node = await (place % 2 === 0 ? parentOf(node, sibling) : parentOf(sibling, node))
    place = Math.floor(place / 2)
  }
  return node
}

async function parentOf(left: Node, right: Node): Promise<Node> {
  const sides = [left, right].flatMap(({ hash, sum }) => [hash, unsigned(sum, SUM_BYTES)])
  return { hash: await sha256(concat(Uint8Array.of(0x01), ...sides)), sum: left.sum + right.sum }
}

function lengthAnd(text: string): Bytes {
  const bytes = utf8(text)
  if (bytes.length > 255) throw new RangeError('A name is too long.')
  return concat(Uint8Array.of(bytes.length), bytes)
}

/** Throws a RangeError for a number that is negative or too large. */
function unsigned(units: bigint, length: number): Bytes {
  if (units < 0n || units >= 1n << BigInt(8 * length)) throw new RangeError('A sum is out of range.')
  return bytesOf(units.toString(16).padStart(2 * length, '0'), length)
}

function hashOf(shown: string): Bytes {
  if (!shown.startsWith(PREFIX)) throw new RangeError('A hash is malformed.')
  return bytesOf(shown.slice(PREFIX.length), HASH_BYTES)
}

function bytesOf(text: string, length: number): Bytes {
  const bytes = fromHex(text, length)
  if (bytes === undefined) throw new RangeError('A hash or nonce is malformed.')
  return bytes
}
