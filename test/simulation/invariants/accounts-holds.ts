/** Chain entries of holds at their payers, and the records of their creations. */
import { unitsOf } from '../reference/fields.ts'
import { type ModelSettings, type ModelState, type ModelUse, useKey } from '../reference/model.ts'
import type { ReplaySettings } from './accounts.ts'
import type { Chained, EntryFields, Part } from './accounts-part.ts'
import type { FundsChecker } from './funds.ts'
import type { Demand } from './messages.ts'
import type { PaymentHoldChecker } from './payment-holds.ts'

export const HOLD_KINDS: ReadonlySet<unknown> = new Set(['hold_created', 'hold_released', 'hold_expired'])

export class AccountHolds {
  /** The signer and the order of each hold, as its entry states them. */
  private readonly creations = new Map<string, { readonly keyId: string; readonly hash: string }>()
  private readonly demand: Demand
  private readonly now: () => number
  private readonly settings: Pick<ReplaySettings, 'orderUnderKey'> & Pick<ModelSettings, 'verifies'>
  private readonly funds: FundsChecker
  private readonly paymentHolds: PaymentHoldChecker

  constructor(
    demand: Demand,
    now: () => number,
    settings: ReplaySettings,
    { funds, paymentHolds }: { readonly funds: FundsChecker; readonly paymentHolds: PaymentHoldChecker },
  ) {
    this.demand = demand
    this.now = now
    this.settings = settings
    this.funds = funds
    this.paymentHolds = paymentHolds
  }

  /** A hold takes value from what is available, or gives it back: the balance stays. */
  entered(
    { at, accountId, batch, model, onHold }: Part,
    before: ModelState,
    fields: EntryFields,
    chained: Chained,
    values: ReadonlyMap<string, bigint>,
  ): void {
    const tokenId = String(fields['token_id'])
    const shown = unitsOf(String(fields['balance_after'])) + unitsOf(String(fields['incoming'] ?? '0'))
    const value = values.get(tokenId) ?? this.funds.valueOf(at, tokenId)
    const burns = this.funds.burning(at, tokenId)
    this.demand(burns > 0n || shown === value, `I4: ${at}: entry ${chained.sequence} of a hold shows another balance`)
    this.paymentHolds.entry(at, accountId, fields)
    onHold.push([tokenId, String(fields['amount'])])
    model.states.push({ ...before, ...chained, occupied: 'perhaps' })
    if (fields['kind'] !== 'hold_created') return
    this.demand(before.status === 'active' && !before.paused, `M1: ${at}: created a hold while ${before.status}`)
    const holdId = String(fields['hold_id'])
    const isKept = batch.holds.some(
      ({ accountId: of, hold }) => of === accountId && 'holdId' in hold && hold.holdId === holdId,
    )
    this.demand(isKept, `Y4: ${at}: created ${holdId}, and does not keep it`)
    this.creations.set(holdId, { keyId: before.keyId, hash: String(fields['submission_hash']) })
  }

  /** A creation is recorded under its key once the hold is open: the uses of keys. */
  *recorded({ at, accountId, batch, model }: Part): Generator<{ readonly key: string; readonly use: ModelUse }> {
    for (const recorded of batch.operations) {
      if (recorded.accountId !== accountId || recorded.operation !== 'hold') continue
      const { idempotencyKey, payloadHash, keyId, answer } = recorded
      const { holdId } = answer.hold
      const creation = this.creations.get(holdId)
      const same = creation?.keyId === keyId && creation.hash === payloadHash
      this.demand(same, `I3: ${at}: the hold ${holdId} is recorded for another order`)
      const ordered = this.settings.orderUnderKey('hold', accountId, idempotencyKey, payloadHash)
      const publicKey = model.states.find((state) => state.keyId === keyId)?.publicKey ?? ''
      const signed = ordered !== undefined && this.settings.verifies(publicKey, ordered.payload, ordered.signature)
      this.demand(signed, `I3: ${at}: no client ordered the hold ${holdId} under the key in force`)
      if (ordered === undefined) continue
      const from = { from: model.states.length - 1, fromMs: this.now() }
      yield { key: useKey('hold', idempotencyKey), use: { ...from, ...ordered, publicKey, receipt: null, holdId } }
    }
  }
}
