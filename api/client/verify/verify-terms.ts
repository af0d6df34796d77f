/**
 * Verifies that `terms_hash` of a settlement group is the hash of the legs and the time that the group shows: the signer of a
 * leg agrees to that hash. The ledger shows `BASE` also for a leg that was registered without a token, so both are tried. Terms
 * that were registered with null members, unknown members, `boundary: false`, or BASE in some legs only have another hash
 * than the shown legs: for them, as for changed legs, the verdict is `incomplete`.
 */
import type { GroupLeg, SettlementGroup } from '../generated/api-types.ts'
import { termsHash } from '../signing/settlement-terms.ts'
import { type Invalid, judged, unexpected, type Verdict } from './verdict.ts'

export interface TermsExpectation {
  /** Members that the group must have, such as the `group_id` and the `terms_hash` that the parties agreed on. */
  readonly expected?: Partial<Pick<SettlementGroup, 'group_id' | 'terms_hash'>> | undefined
}

const BASE_UNIT = 'BASE'

export async function verifyTerms(group: SettlementGroup, { expected = {} }: TermsExpectation = {}): Promise<Verdict> {
  return judged<Verdict>(async () => {
    const { group_id: groupId, terms_hash: hash, created_at: from, due_at: to } = group
    const other = unexpected(expected, group)
    if (other !== undefined) return other
    if (hash === null || from === null || to === null) {
      return incomplete('it has no registered terms')
    }
    const timeoutSeconds = (Date.parse(to) - Date.parse(from)) / 1_000
    const shown = group.legs.map(termsOf)
    for (const legs of [shown, shown.map(withoutBase)]) {
      if ((await termsHash({ groupId, legs, timeoutSeconds })) !== hash) continue
      return { ok: true, proved: [`${hash} is the hash of the ${legs.length} legs, due within ${timeoutSeconds} s.`] }
    }
    return incomplete(
      'its terms_hash cannot be recomputed from the legs that it shows: they were changed, or registered in another form',
    )
  })
}

function incomplete(problem: string): Invalid {
  return { ok: false, reason: 'incomplete', problem }
}

type Terms = Omit<GroupLeg, 'leg_status' | 'txn_id'>

function termsOf(leg: GroupLeg): Terms {
  const { leg_status: _, txn_id: __, ...terms } = leg
  return terms
}

function withoutBase({ token_id, ...rest }: Terms): Terms {
  return token_id === undefined || token_id === BASE_UNIT ? rest : { ...rest, token_id }
}
