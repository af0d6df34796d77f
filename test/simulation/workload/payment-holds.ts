/** Holds: payers create them, and their beneficiaries capture and release them, often at once and around the expiry. */
import { accountAddress, holdAddress } from '../../../actors/address.ts'
import { canonicalJson, type Json } from '../../../actors/canonical-json.ts'
import type { HoldView } from '../../../actors/hold/state.ts'
import { BASE_UNIT, formatQuantity, parseQuantity } from '../../../actors/money.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { LEDGER_ID } from '../cluster/cluster-node.ts'
import { simSign } from '../cluster/sim-signer.ts'
import { CALLER, type Cast, type ClientAccount, STRANGER } from './cast.ts'

const ROUNDS = 14
const LONGEST_MS = 12_000
/** Some captures arrive this close to the expiry. */
const DEADLINE_MS = 400
/** A duration above 90 days. */
const TOO_LONG_MS = 91 * 86_400_000

export class PaymentHoldRequests {
  private readonly cast: Cast
  private readonly sent: GatewayRequest[] = []

  constructor(cast: Cast) {
    this.cast = cast
  }

  async play(durationMs: number): Promise<void> {
    const { random } = this.cast
    for (let round = 0; round < ROUNDS; round += 1) {
      await this.cast.pause((random.between(0.2, 1.8) * durationMs) / ROUNDS)
      const held = random.chance(0.7) ? await this.create() : this.known()
      if (held !== undefined) this.use(held)
    }
  }

  private async create(): Promise<HoldView | undefined> {
    const { ask, random } = this.cast
    const payer = this.cast.pickAccount()
    const request = this.creation(payer)
    if (random.chance(0.15)) void ask(request, true)
    const outcome = await ask(request, true)
    if (random.chance(0.1)) this.cast.later(LONGEST_MS, () => void ask(request, true))
    return outcome?.kind === 'answered' && outcome.answer.kind === 'hold_created' ? outcome.answer.hold : undefined
  }

  private creation(payer: ClientAccount): GatewayRequest {
    const { cast } = this
    const { random } = cast
    const asset = { token_id: random.chance(0.4) ? (cast.pickToken()?.tokenId ?? BASE_UNIT) : BASE_UNIT }
    const lasts = random.chance(0.03) ? random.pick([-5_000, TOO_LONG_MS]) : random.between(300, LONGEST_MS)
    const payload = canonicalJson({
      account_id: payer.accountId,
      to_account_id: random.chance(0.03) ? 'nobody-2' : cast.counterparty(payer).accountId,
      ...asset,
      amount: cast.edgeAmount(payer, 'debit', asset) ?? cast.amount(),
      expires_at: cast.expiresAt(lasts),
      idempotency_key: cast.orderKey(payer, 'hold', 'hold'),
      ...this.ledgerOf(payer),
      ...(random.chance(0.3) ? { metadata: { order: 'A-17' } } : {}),
    })
    return {
      actor: accountAddress(payer.accountId),
      caller: CALLER,
      operation: { kind: 'create_hold', payload, signature: this.signature(payer, payload) },
    }
  }

  /** A hold as a client reads it: also one whose creation had an unknown outcome. */
  private known(): HoldView | undefined {
    const { random, world } = this.cast
    const views = [...world.database.rows.actors.all()].flatMap(({ state }) =>
      state.kind === 'hold' ? [{ ...state, holdId: state.id, remaining: '' }] : [],
    )
    return views[random.integer(views.length)]
  }

  /** A few orders about the hold: all at once, over its lifetime, or at its end. */
  private use(hold: HoldView): void {
    const { random, world } = this.cast
    const beneficiary = this.cast.find(hold.toAccountId)
    if (beneficiary === undefined) return
    const lastsMs = Math.max(0, hold.expiresAtMs - world.kernel.wallMs())
    const withinMs = random.chance(0.5) ? 40 : lastsMs * 1.1
    for (let count = 1 + random.integer(5); count > 0; count -= 1) {
      this.cast.later(withinMs, () => this.order(beneficiary, hold))
    }
    if (!random.chance(0.5)) return
    const lateMs = lastsMs + random.between(-DEADLINE_MS, DEADLINE_MS)
    world.kernel.schedule(Math.max(0, lateMs), 'a client captures at the deadline', () =>
      this.send(this.capture(beneficiary, hold)),
    )
  }

  private order(beneficiary: ClientAccount, hold: HoldView): void {
    const { random } = this.cast
    const kind = random.fraction()
    if (kind < 0.7) this.send(this.capture(random.chance(0.95) ? beneficiary : this.cast.pickAccount(), hold))
    else if (kind < 0.82) this.send(this.release(beneficiary, hold.holdId))
    else if (kind < 0.9) this.send(this.forcedRelease(hold.holdId))
    else if (kind < 0.95) this.again()
    else if (random.chance(0.5)) this.send(this.release(this.cast.pickAccount(), hold.holdId))
    else this.send(this.capture(beneficiary, { ...hold, holdId: this.unknownId() }))
  }

  /** An earlier request, or its idempotency key with other content. */
  private again(): void {
    const { random } = this.cast
    const earlier = this.sent[random.integer(this.sent.length)]
    if (earlier === undefined) return
    const { operation, actor } = earlier
    if (operation.kind !== 'capture' || random.chance(0.5)) return this.send(earlier)
    const fields = JSON.parse(operation.payload) as Record<string, Json>
    const payload = canonicalJson({ ...fields, amount: this.cast.amount() })
    const signature = simSign(this.cast.find(actor.id)?.keys.at(-1) ?? '', payload)
    return this.send({ ...earlier, operation: { ...operation, payload, signature } })
  }

  private capture(account: ClientAccount, { holdId, amount, accountId, tokenId }: HoldView): GatewayRequest {
    const { random } = this.cast
    const part = tokenId === BASE_UNIT ? formatQuantity(parseQuantity(amount) / 3n) : '1'
    const drawn = random.pick([part, part, part, amount, amount, this.cast.amount()])
    const payload = canonicalJson({
      account_id: account.accountId,
      hold_id: holdId,
      amount: drawn === '0' ? amount : drawn,
      idempotency_key: this.cast.orderKey(account, 'transaction', 'capture'),
      ...this.ledgerOf(account),
      ...(random.chance(0.15) ? { final: random.chance(0.9) } : {}),
    })
    const signature = this.signature(account, payload)
    return {
      actor: accountAddress(account.accountId),
      caller: CALLER,
      operation: { kind: 'capture', payload, signature, fromAccountId: accountId, tokenId },
    }
  }

  private release(account: ClientAccount, holdId: string): GatewayRequest {
    const { accountId } = account
    const known = this.cast.random.chance(0.95) ? holdId : this.unknownId()
    const payload = canonicalJson({ account_id: accountId, hold_id: known, ...this.ledgerOf(account) })
    const signature = this.signature(account, payload)
    return {
      actor: accountAddress(accountId),
      caller: CALLER,
      operation: { kind: 'release_hold', payload, signature },
    }
  }

  private forcedRelease(holdId: string): GatewayRequest {
    const { random } = this.cast
    return {
      actor: holdAddress(random.chance(0.9) ? holdId : this.unknownId()),
      caller: random.chance(0.85) ? CALLER : STRANGER,
      operation: { kind: 'force_release', reason: 'the payer disputes it' },
    }
  }

  private send(request: GatewayRequest): void {
    const { ask, random } = this.cast
    this.sent.push(request)
    if (random.chance(0.1)) void ask(request, true)
    void ask(request, random.chance(0.8))
  }

  private signature({ keys }: ClientAccount, payload: string): string {
    const { random } = this.cast
    const stale = random.chance(0.05) ? keys[random.integer(keys.length)] : undefined
    return simSign(stale ?? keys.at(-1) ?? '', payload)
  }

  private ledgerOf({ usedThere }: ClientAccount): { readonly ledger_id?: string } {
    return usedThere !== undefined && this.cast.random.chance(0.9) ? { ledger_id: LEDGER_ID } : {}
  }

  private unknownId(): string {
    return `hld_0${this.cast.random.hex(13).toUpperCase().slice(1)}`
  }
}
