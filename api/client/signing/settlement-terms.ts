import { canonicalJson } from '../../../actors/canonical-json.ts'
import { shownSha256 } from './bytes.ts'
import type { GroupLegTerms } from '../generated/api-types.ts'
import { definedMembers, type Order } from './sign-order.ts'

/** The terms of a settlement group. */
export interface GroupTerms {
  readonly groupId: string
  /** Exactly as they are registered. */
  readonly legs: readonly GroupLegTerms[]
  readonly timeoutSeconds: number
}

/** Names the terms on which a leg is signed. */
export interface AgreedGroup {
  readonly group_id: string
  readonly terms_hash: string
}

/** `terms_hash` of the group: compare it before you sign a leg. */
export function termsHash({ groupId, legs, timeoutSeconds }: GroupTerms): Promise<string> {
  return shownSha256(
    canonicalJson(definedMembers({ group_id: groupId.toLowerCase(), legs, timeout_seconds: timeoutSeconds })),
  )
}

/** The order that the leg waits for. */
export function legOrder({ group_id, terms_hash }: AgreedGroup, leg: GroupLegTerms): Order {
  const { boundary: _, ...fields } = leg
  const given: object = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
  return { ...(given as Order), group_id, terms_hash }
}
