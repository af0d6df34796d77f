/**
 * Follows each hold through its three homes: its own actor, its payer's chain, and the captures of its beneficiary.
 *   Y1. A hold is opened once. Its captures only grow, never beyond its amount, and nothing changes once it has ended.
 *   Y2. The payer pays no more than the hold has accepted, and the beneficiary receives no more than the payer has paid.
 *   Y3. No capture is accepted after the expiry, and no hold expires before it.
 *   Y4. The payer's chain has one entry of the creation, as its client signed it, and at most one of the rest.
 *   Y5. At the end the hold's captures, those that the payer paid and those received are equal; with the rest they add up
 *       to the amount.
 */
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import type { HoldState, HoldStatus } from '../../../actors/hold/state.ts'
import { unitsOf } from '../reference/fields.ts'
import type { EntryFields } from './accounts-part.ts'
import type { Demand } from './messages.ts'

/** Largest error of any node's clock. */
const CLOCK_ERROR_MS = 1_500

interface Followed {
  readonly accountId: string
  readonly toAccountId: string
  readonly tokenId: string
  /** In units of 10^-18, as the other sums. */
  readonly amount: bigint
  readonly expiresAtMs: number
  paid: bigint
  received: bigint
  /** The part that no capture took, once the payer has it back. */
  rest: bigint | undefined
  state: { readonly fromMs: number; readonly openedMs: number; readonly is: HoldState } | undefined
}

const NEXT: Readonly<Record<HoldStatus, readonly HoldStatus[]>> = {
  active: ['active', 'captured', 'released', 'expired'],
  captured: [],
  released: [],
  expired: [],
}

export interface HoldClock {
  readonly now: () => number
  readonly wallMs: () => number
}

export class PaymentHoldChecker {
  private readonly demand: Demand
  private readonly clock: HoldClock
  private readonly holds = new Map<string, Followed>()

  constructor(demand: Demand, clock: HoldClock) {
    this.demand = demand
    this.clock = clock
  }

  /** The hold since it was opened; undefined before. */
  opened(holdId: string): { readonly fromMs: number; readonly state: HoldState } | undefined {
    const { state } = this.holds.get(holdId) ?? {}
    return state && { fromMs: state.openedMs, state: state.is }
  }

  /** The state in which the hold ended, if it had by then. */
  ended(holdId: string, byMs: number): HoldState | undefined {
    const { state } = this.holds.get(holdId) ?? {}
    return state === undefined || state.is.status === 'active' || state.fromMs > byMs ? undefined : state.is
  }

  /** Y4: an entry of the payer's chain. */
  entry(at: string, accountId: string, fields: EntryFields): void {
    const holdId = String(fields['hold_id'])
    const amount = unitsOf(String(fields['amount']))
    const hold = this.holds.get(holdId)
    if (fields['kind'] === 'hold_created') {
      this.demand(hold === undefined, `Y4: ${at}: creates ${holdId} again`)
      this.holds.set(holdId, {
        accountId,
        toAccountId: String(fields['to_account_id']),
        tokenId: String(fields['token_id']),
        amount,
        expiresAtMs: Date.parse(String(fields['expires_at'])),
        paid: 0n,
        received: 0n,
        rest: undefined,
        state: undefined,
      })
      return
    }
    if (hold === undefined) return this.demand(false, `Y4: ${at}: ends ${holdId}, which it did not create`)
    const known = hold.state?.is
    const cause = fields['kind'] === 'hold_expired' ? ['expired'] : ['released', 'captured']
    this.demand(hold.rest === undefined, `Y4: ${at}: frees ${holdId} again`)
    this.demand(
      known !== undefined && cause.includes(known.status),
      `Y4: ${at}: frees ${holdId}, which is ${known?.status}`,
    )
    const rest = hold.amount - unitsOf(known?.captured ?? '0')
    this.demand(amount === rest, `Y4: ${at}: frees ${amount} of ${holdId}, of which ${rest} remained`)
    hold.rest = amount
  }

  /** Y2: completed sides of captures. */
  completed(transaction: TransactionRecord): void {
    const { txnId, holdId, accountId, tokenId, amount, fromAccountId, toAccountId } = transaction
    if (holdId === undefined) return
    const hold = this.holds.get(holdId)
    if (hold === undefined) return this.demand(false, `Y2: ${txnId} captures ${holdId}, which its payer did not create`)
    const isPayers = fromAccountId === null
    const own = isPayers ? [accountId, toAccountId] : [fromAccountId, accountId]
    const same = own[0] === hold.accountId && own[1] === hold.toAccountId && tokenId === hold.tokenId
    this.demand(same, `Y2: ${txnId} captures ${holdId} of others`)
    if (isPayers) hold.paid += unitsOf(amount)
    else hold.received += unitsOf(amount)
    const accepted = unitsOf(hold.state?.is.captured ?? '0')
    this.demand(hold.paid <= accepted, `Y2: the payer has paid ${hold.paid} of ${holdId}, which accepted ${accepted}`)
    this.demand(hold.received <= hold.paid, `Y2: ${hold.received} of ${holdId} are received, and ${hold.paid} are paid`)
  }

  /** Y1, Y3. */
  actor(before: HoldState | null, after: HoldState | null): void {
    if (after === null) return this.demand(false, `Y1: ${before?.id ?? 'a hold'} is removed`)
    const { id, status, amount, captured, expiresAtMs, lastTimeMs } = after
    const hold = this.holds.get(id)
    if (hold === undefined) return this.demand(false, `Y1: ${id} is opened, and its payer did not create it`)
    const same =
      after.accountId === hold.accountId &&
      after.toAccountId === hold.toAccountId &&
      after.tokenId === hold.tokenId &&
      unitsOf(amount) === hold.amount &&
      expiresAtMs === hold.expiresAtMs
    this.demand(same, `Y1: ${id} has other terms than its payer signed`)
    const was = before?.status ?? 'active'
    this.demand(NEXT[was].includes(status), `Y1: ${id} was ${was} and is ${status}`)
    const [earlier, units] = [unitsOf(before?.captured ?? '0'), unitsOf(captured)]
    this.demand(earlier <= units && units <= hold.amount, `Y1: ${captured} of ${id} are captured, of ${amount}`)
    const isLate = units > earlier && (status === 'active' || status === 'captured') && lastTimeMs >= expiresAtMs
    this.demand(!isLate, `Y3: ${id} accepted a capture after its expiry`)
    const isEarly = status === 'expired' && Math.min(lastTimeMs, this.clock.wallMs() + CLOCK_ERROR_MS) < expiresAtMs
    this.demand(!isEarly, `Y3: ${id} expired before its time`)
    const fromMs = this.clock.now()
    hold.state = { fromMs, openedMs: hold.state?.openedMs ?? fromMs, is: after }
  }

  /** Y5. */
  atEnd(): void {
    for (const [holdId, { amount, paid, received, rest = 0n, state }] of this.holds) {
      const accepted = unitsOf(state?.is.captured ?? '0')
      const sides = `${accepted} accepted, ${paid} paid, ${received} received, ${rest} freed of ${amount}`
      const agrees = accepted === paid && paid === received && paid + rest === amount
      this.demand(agrees, `Y5: ${holdId}: ${sides}`)
    }
  }
}
