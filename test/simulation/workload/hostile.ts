/**
 * A hostile client with its own credentials and one account. It can sign only its own account's orders, and attacks others:
 * with groups of their accounts, tokens and NFTs that remain unsigned; with amounts that probe for balances; with exchanges
 * and dust; with keys and declines that it may not use.
 * The reference model ignores this client: a value that it reserves, reveals or blocks shows as a broken invariant.
 */
import { accountAddress, groupAddress, tokenAddress } from '../../../actors/address.ts'
import { sha256Hex } from '../../../actors/audit-chain.ts'
import { canonicalJson, type Json, type JsonObject } from '../../../actors/canonical-json.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import type { Cast, ClientAccount } from './cast.ts'
import { simSign } from '../cluster/sim-signer.ts'

export const HOSTILE_CLIENT = { clientId: 'hostile', role: 'transactor', boundary: true } as const

/** A balance other than zero leaves no room for a leg of this amount. */
const WHOLE_ROOM = '999999999999999999.999999999999999999'
/** Timeout of an unsigned group: the longest of the other clients' timeouts, so that runs end. */
const TIMEOUT_SECONDS = 8
/** Two groups with this many legs of one account exceed a client's limit of expected legs. */
const FLOOD_LEGS = 55
const OWN_TOKEN = 'Dust'

/** The group's fields in a submission of a leg. */
interface Agreed extends JsonObject {
  readonly group_id: string
  readonly terms_hash: string
}

export class HostileRequests {
  private readonly cast: Cast
  private readonly own: ClientAccount
  private hasFlooded = false

  constructor(cast: Cast) {
    this.cast = cast
    this.own = { accountId: 'hostile-account', keys: ['hostile key'], sent: [] }
  }

  async play(durationMs: number): Promise<void> {
    const { random, world } = this.cast
    const key = this.cast.bring(this.own.keys[0] ?? '')
    await this.ask(accountAddress(this.own.accountId), { kind: 'register', key, registrationKey: null })
    await this.ask(accountAddress(this.own.accountId), this.signed(this.own, 'credit', { amount: WHOLE_ROOM }))
    const token = { symbol: OWN_TOKEN, decimals: 0, issuer: this.own.accountId, total_supply: '1000000' }
    const registration = { payload: canonicalJson(token), signature: null, registrationKey: null }
    await this.ask(tokenAddress(OWN_TOKEN), { kind: 'register_token', ...registration })
    const untilMs = world.kernel.now() + durationMs
    while (world.kernel.now() < untilMs) {
      await this.attack(this.cast.pickAccount())
      await this.cast.pause(random.between(100, 1_500))
    }
  }

  private attack(victim: ClientAccount): Promise<unknown> {
    const { random } = this.cast
    const attacks = [
      () => this.expectOf(victim, [this.leg(victim, 'credit', WHOLE_ROOM), this.leg(this.own, 'debit', WHOLE_ROOM)]),
      () => this.bisect(victim),
      () => this.flood(victim),
      () => this.nameAssets(victim),
      () => this.send(victim),
      () => this.sendInGroup(victim),
      () => this.forge(victim),
    ]
    return attacks[random.integer(attacks.length)]?.() ?? Promise.resolve()
  }

  /** Registers a group that no victim signs; some victims decline it. */
  private async expectOf(victim: ClientAccount, legs: readonly JsonObject[]): Promise<Agreed | undefined> {
    const { random, world } = this.cast
    const groupId = this.cast.groupId()
    const payload = canonicalJson({ group_id: groupId, legs, timeout_seconds: TIMEOUT_SECONDS })
    const outcome = await this.ask(groupAddress(groupId), { kind: 'register_group', payload, registrationKey: null })
    if (outcome?.kind !== 'answered' || outcome.answer.kind !== 'group_registered') return undefined
    world.kernel.count('hostile:group')
    const agreed = { group_id: groupId, terms_hash: `sha256:${sha256Hex(payload)}` }
    if (random.chance(0.5)) {
      this.cast.later(4_000, () => {
        const signed = this.decline(victim, agreed, victim.keys.at(-1) ?? '')
        void this.ask(accountAddress(victim.accountId), signed, true)
      })
    }
    return agreed
  }

  /** Probes whether the reply to the registration depends on the victim's balance. */
  private async bisect(victim: ClientAccount): Promise<void> {
    for (const amount of ['999999999999999900', '999999999999990000', '900000000000000000']) {
      await this.expectOf(victim, [this.leg(victim, 'credit', amount), this.leg(this.own, 'debit', amount)])
    }
  }

  /** Once in a run, because it is expensive. */
  private async flood(victim: ClientAccount): Promise<void> {
    if (this.hasFlooded) return
    this.hasFlooded = true
    const legs = Array.from({ length: FLOOD_LEGS }, () => this.leg(victim, 'credit', '1'))
    const pays = this.leg(this.own, 'debit', `${FLOOD_LEGS}`)
    for (let groups = 0; groups < 2; groups += 1) await this.expectOf(victim, [...legs, pays])
  }

  /** Names mints and burns of the victims' tokens, and their NFTs. */
  private nameAssets(victim: ClientAccount): Promise<unknown> {
    const { random } = this.cast
    const token = this.cast.pickToken()
    const nft = this.cast.pickNft(victim)
    const legs: JsonObject[] = [this.leg(victim, 'credit', '1'), this.leg(this.own, 'debit', '1')]
    if (token !== undefined) {
      const supply = { token_id: token.tokenId, account_id: token.issuer }
      legs.push({ ...this.leg(victim, 'mint', WHOLE_ROOM.slice(0, 18)), ...supply })
      legs.push({ ...this.leg(victim, 'burn', '1'), token_id: token.tokenId })
    }
    if (nft !== undefined && nft.owner !== this.own.accountId) {
      const { class_id: classId, instance_id: instanceId } = nft
      const taken = random.chance(0.5) ? { to_account_id: this.own.accountId } : undefined
      const type = taken === undefined ? 'burn' : 'transfer'
      legs.push({ account_id: nft.owner, type, amount: '1', class_id: classId, instance_id: instanceId, ...taken })
    }
    return this.expectOf(victim, legs)
  }

  /** Sends value of its own: dust, and an exchange that names the victim. */
  private async send(victim: ClientAccount): Promise<void> {
    const to = { to_account_id: victim.accountId }
    const dust = { amount: '0.000000000000000001', ...to }
    await this.ask(accountAddress(this.own.accountId), this.signed(this.own, 'transfer', dust))
    const token = this.cast.pickToken()?.tokenId
    if (token === undefined || token === OWN_TOKEN) return
    const receive = { amount: '1', token_id: token }
    const terms = { group_id: this.cast.groupId(), expires_at: this.cast.expiresAt(2_000) }
    const swap = { amount: '1', token_id: OWN_TOKEN, receive, ...to, ...terms }
    await this.ask(accountAddress(this.own.accountId), this.signed(this.own, 'exchange', swap))
  }

  /** Signs its own leg of a group, with an amount that a victim with a balance has no room for. */
  private async sendInGroup(victim: ClientAccount): Promise<void> {
    const terms = { amount: '999999999999999990', to_account_id: victim.accountId }
    const leg = { ...this.leg(this.own, 'transfer', terms.amount), ...terms }
    const agreed = await this.expectOf(victim, [leg, { ...this.leg(victim, 'debit', '1'), boundary: true }])
    if (agreed === undefined) return
    await this.ask(accountAddress(this.own.accountId), this.signed(this.own, 'transfer', { ...terms, ...agreed }))
  }

  /** Submits orders that only the victim's key may sign. */
  private async forge(victim: ClientAccount): Promise<void> {
    const agreed = await this.expectOf(victim, [this.leg(victim, 'credit', '1'), this.leg(this.own, 'debit', '1')])
    const address = accountAddress(victim.accountId)
    const seed = this.own.keys[0] ?? ''
    if (agreed !== undefined) await this.ask(address, this.decline(victim, agreed, seed))
    await this.ask(address, this.signed(victim, 'debit', { amount: '1' }, seed))
  }

  private decline({ accountId }: ClientAccount, agreed: Agreed, seed: string): Operation {
    const payload = canonicalJson({ account_id: accountId, ...agreed })
    return { kind: 'decline_legs', payload, signature: simSign(seed, payload) }
  }

  private leg({ accountId }: ClientAccount, type: string, amount: string): JsonObject {
    return { account_id: accountId, type, amount }
  }

  private signed(account: ClientAccount, type: string, more: Readonly<Record<string, Json>>, seed?: string): Operation {
    return this.cast.submission(account, type, more, seed ?? account.keys[0]).operation
  }

  private ask(actor: GatewayRequest['actor'], operation: Operation, wanted = false) {
    return this.cast.ask({ actor, caller: HOSTILE_CLIENT, operation }, wanted)
  }
}
