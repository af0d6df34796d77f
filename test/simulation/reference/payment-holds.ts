/** An account's expected answers to the creation and release of holds in one of its states. */
import type { Answer } from '../../../actors/account/outcome.ts'
import type { HoldState } from '../../../actors/hold/state.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import { type SignedFields, signedFields } from './fields.ts'
import { NO_FUNDS } from './funds.ts'
import type { Expected, ModelFacts, ModelSettings, ModelState, Window } from './model.ts'
import { refusedFor } from './rules.ts'

const EFFECT = { kind: 'effect' } as const

/** After the checks of the fields. Within a commit the holdings are unknown. */
export function judgeHold(state: ModelState, { tokenId, units }: SignedFields): readonly Expected[] {
  if (state.status !== 'active') return [refusedFor('account_not_active')]
  if (state.paused) return [refusedFor('account_paused')]
  const { balance, reserved } = state.holdings.get(tokenId) ?? NO_FUNDS
  const lacks = refusedFor('insufficient_funds')
  if (state.isMidway) return [lacks, EFFECT]
  return [balance - reserved < units ? lacks : EFFECT]
}

/** Only the beneficiary learns of the hold. */
export function judgeRelease(
  state: ModelState | undefined,
  { payload, signature }: Extract<Operation, { kind: 'release_hold' }>,
  { fromMs, toMs }: Window,
  { verifies, ledgerId: own }: ModelSettings,
  facts: ModelFacts,
): readonly Expected[] {
  if (state === undefined) return [refusedFor('account_not_found')]
  if (state.status === 'closed' || state.status === 'erased') return [refusedFor('account_closed')]
  if (state.publicKey === '') return [refusedFor('account_keyless')]
  if (!verifies(state.publicKey, payload, signature)) return [refusedFor('signature_mismatch')]
  const { ledgerId, holdId, accountId } = signedFields(payload)
  if (ledgerId === null ? state.origin !== null : ledgerId !== own) return [refusedFor('wrong_ledger')]
  const hold = facts.hold(holdId ?? '')
  const doubts: Expected[] = []
  const isIts = hold?.state.toAccountId === accountId
  if (hold === undefined || !isIts || hold.fromMs >= fromMs) doubts.push(refusedFor('hold_not_found'))
  return isIts && hold !== undefined && hold.fromMs <= toMs ? [...doubts, { kind: 'released' }] : doubts
}

/** Whether the answer shows the hold as it ended. */
export function objectionToRelease(
  { hold: shown }: Extract<Answer, { kind: 'hold_released' }>,
  holdId: string,
  ended: HoldState | undefined,
): string | undefined {
  if (shown.holdId !== holdId) return `it shows ${shown.holdId}`
  if (ended === undefined) return `${shown.status}, and the hold had not ended`
  const same =
    shown.status === ended.status &&
    shown.captured === ended.captured &&
    shown.amount === ended.amount &&
    shown.remaining === '0' &&
    shown.endedAtMs === ended.endedAtMs
  return same ? undefined : `${shown.status}, and the hold is ${ended.status} with ${ended.captured} captured`
}
