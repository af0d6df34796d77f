/** Refusals that depend on facts of other actors, on time, or on an account's groups: they may hold or not (M3). */
import type { RefusalCode } from '../../../actors/refusal.ts'
import { decimalsOf, isNftAsset, type SignedFields } from './fields.ts'
import type { GroupedUse, ModelFacts, ModelState, Window } from './model.ts'
import { isAgreed, isSelfTransfer } from './rules.ts'

/** Largest error of any node's clock. */
export const CLOCK_ERROR_MS = 1_500

export interface Doubtful {
  /** Milliseconds since 1970 at a virtual time. */
  readonly wallAt: (ms: number) => number
  readonly facts: ModelFacts
  /** Submissions that may have been entered by the state with this index. */
  readonly grouped: readonly GroupedUse[]
  readonly index: number
}

interface Doubt {
  readonly code: RefusalCode
  readonly certain: boolean
}

/** Refusals in the ledger's order of checks, before those that depend on the account's state. */
export function* doubtsOf(
  doubtful: Doubtful,
  { legs }: ModelState,
  accountId: string,
  fields: SignedFields,
  { fromMs, toMs }: Window,
): Generator<Doubt> {
  const { expiresAtMs, toAccountId, type, tokenId, receive } = fields
  const { wallAt, facts } = doubtful
  if (expiresAtMs !== null && expiresAtMs <= wallAt(toMs) + CLOCK_ERROR_MS) {
    yield { code: 'expired', certain: expiresAtMs < wallAt(fromMs) - CLOCK_ERROR_MS }
  }
  const since = (known: number | undefined): { readonly may: boolean; readonly certain: boolean } => ({
    may: known === undefined || known >= fromMs,
    certain: known === undefined || known > toMs,
  })
  const sides = [{ tokenId, amount: fields.amount }, ...(receive === null ? [] : [receive])]
  for (const side of sides.filter((one) => one.tokenId !== 'BASE')) {
    if (isNftAsset(side.tokenId)) {
      const nftClass = since(facts.nftClass(side.tokenId.slice(0, side.tokenId.indexOf('/')))?.fromMs)
      if (nftClass.may) yield { code: 'class_not_found', certain: nftClass.certain }
      const minted = since(facts.mintedSince(side.tokenId))
      if (minted.may) yield { code: 'instance_not_found', certain: minted.certain }
      continue
    }
    const token = facts.token(side.tokenId)
    const { may, certain } = since(token?.fromMs)
    if (may) yield { code: 'token_not_found', certain }
    if (decimalsOf(side.amount) > (token?.decimals ?? 18)) yield { code: 'amount_precision', certain: true }
  }
  if (type === 'mint' && facts.token(tokenId)?.issuer !== accountId) yield { code: 'not_issuer', certain: true }
  const receiver = since(toAccountId === null ? -Infinity : facts.openSince(toAccountId))
  if (receiver.may) yield { code: 'receiver_not_found', certain: receiver.certain }
  yield* groupDoubts(doubtful, legs, fields)
}

function* groupDoubts({ grouped, index }: Doubtful, legs: ModelState['legs'], fields: SignedFields): Generator<Doubt> {
  const { groupId, termsHash, type, tokenId } = fields
  if (groupId === null) return
  if (termsHash !== null) {
    const expected = legs.some((leg) => leg.state === 'expected' && isAgreed(leg, fields))
    if (!expected) yield { code: 'group_terms_unknown', certain: true }
    return
  }
  if (legs.some((leg) => leg.groupId === groupId)) yield { code: 'group_registered', certain: true }
  const known = grouped.filter((use) => use.groupId === groupId && use.tokenId === tokenId)
  const uses = known.filter((use) => isSelfTransfer(use.type, type))
  if (uses.length > 0) yield { code: 'self_transfer', certain: uses.some(({ surelyFrom }) => surelyFrom <= index) }
}
