/** Clients' requests that involve other homes: tokens, transfers, exchanges, mints and burns. */
import { accountAddress, tokenAddress } from '../../../actors/address.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { simSign } from '../cluster/sim-signer.ts'
import { RefundRequests } from './refunds.ts'
import { CALLER, type Cast, type ClientAccount, STRANGER } from './cast.ts'

/** The issuer that is created with its token. */
const KEYLESS_ISSUER = 'account-k'

export class ValueRequests {
  private readonly cast: Cast
  private readonly refunds: RefundRequests

  constructor(cast: Cast) {
    this.cast = cast
    this.refunds = new RefundRequests(cast)
  }

  draw(account: ClientAccount): GatewayRequest {
    const kind = this.cast.random.fraction()
    if (kind < 0.55) return this.transfer(account)
    if (kind < 0.8) return this.exchange(account)
    if (kind < 0.95) return this.supplyChange(account)
    return this.newToken(account)
  }

  /** A token of a registered issuer, a token of a missing issuer, and one symbol that two clients want. */
  registerTokens(): void {
    const { ask } = this.cast
    const first = this.cast.accountAt(0)
    void ask(this.registration('GOLD', 18, first.accountId, '100000'), true)
    void ask(this.registration('silver', 2, KEYLESS_ISSUER, '5000.25'), true)
    void ask(this.registration('Tin', 1, this.cast.accountAt(1).accountId, '700'), true)
    void ask({ ...this.registration('tin', 1, first.accountId, '300'), caller: STRANGER }, true)
  }

  /** The registered issuers distribute their tokens. */
  async distribute(): Promise<void> {
    const issued = this.cast.tokens.slice()
    for (const { tokenId, issuer } of issued) {
      const from = this.cast.find(issuer)
      if (from === undefined) continue
      for (const to of this.cast.accounts.slice(0, 6)) {
        if (to === from) continue
        const fields = {
          token_id: tokenId,
          to_account_id: to.accountId,
          amount: `${50 + this.cast.random.integer(60)}`,
        }
        this.cast.send(from, this.cast.submission(from, 'transfer', fields))
      }
      await this.cast.pause(this.cast.random.between(0, 500))
    }
  }

  /** A client registers the keyless issuer's key and distributes its tokens. */
  async claimIssuer(): Promise<void> {
    const { random } = this.cast
    const issuer: ClientAccount = { accountId: KEYLESS_ISSUER, keys: ['issuer key'], sent: [] }
    const key = this.cast.bring('issuer key')
    const operation = { kind: 'register', key, registrationKey: random.chance(0.5) ? 'claim' : null } as const
    const actor = accountAddress(issuer.accountId)
    if (random.chance(0.3)) await this.cast.ask({ actor, caller: STRANGER, operation }, true)
    await this.cast.ask({ actor, caller: CALLER, operation }, true)
    for (let times = 0; times < 4; times += 1) {
      const to = this.cast.pickAccount().accountId
      this.cast.send(issuer, this.cast.submission(issuer, 'transfer', { token_id: 'silver', to_account_id: to }))
      await this.cast.pause(random.between(0, 2_000))
    }
  }

  private registration(symbol: string, decimals: number, issuer: string, supply: string): GatewayRequest {
    const { random } = this.cast
    const payload = canonicalJson({ symbol, decimals, issuer, total_supply: supply })
    const keys = this.cast.find(issuer)?.keys
    // The sandbox does not require a signature; a given one must be valid.
    const seed = random.chance(0.85) ? keys?.at(-1) : 'a forger'
    const signature = keys === undefined || random.chance(0.7) ? null : simSign(seed ?? '', payload)
    const registrationKey = random.chance(0.5) ? this.cast.name('token key') : null
    return {
      actor: tokenAddress(symbol),
      caller: CALLER,
      operation: { kind: 'register_token', payload, signature, registrationKey },
    }
  }

  private newToken(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const symbol = random.pick(['GOLD', 'gold', 'New', `T${random.integer(4)}`])
    const supply = random.pick(['0', '40', '999999999999999999'])
    const request = this.registration(symbol, random.pick([0, 1, 18]), account.accountId, supply)
    return random.chance(0.3) ? { ...request, caller: STRANGER } : request
  }

  private transfer(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const refund = this.refunds.draw(account)
    if (refund !== undefined) return refund
    const to = this.cast.counterparty(account)
    return this.cast.submission(account, 'transfer', {
      to_account_id: to.accountId,
      token_id: this.asset(account),
      ...(random.chance(0.3) ? { group_id: this.cast.groupId() } : {}),
      ...(random.chance(0.15) ? { expires_at: this.cast.expiresAt(random.between(1, 3_000)) } : {}),
      ...(random.chance(0.1) ? { metadata: { note: 'rent' } } : {}),
    })
  }

  /** An asset that its holder probably holds. */
  private asset(account: ClientAccount): string | undefined {
    const { random } = this.cast
    if (random.chance(0.5)) return undefined
    const own = this.cast.tokens.find(({ issuer }) => issuer === account.accountId)
    return own !== undefined && random.chance(0.6) ? own.tokenId : this.cast.pickAsset()
  }

  /** Mostly sends the counterpart as well: soon, or perhaps too late. */
  private exchange(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const other = this.cast.counterparty(account)
    const gives = this.cast.pickToken()
    const gets = random.chance(0.2) ? undefined : this.cast.pickToken()
    if (gives === undefined || gives.tokenId === gets?.tokenId) return this.transfer(account)
    // Without a counterparty it crosses the boundary.
    if (random.chance(0.08))
      return this.cast.submission(account, 'exchange', { group_id: this.cast.groupId(), token_id: gives.tokenId })
    const soon = random.chance(0.8)
    const asset = gets?.tokenId ?? 'BASE'
    const [gold, price] = [`${1 + random.integer(6)}`, `${1 + random.integer(6)}`]
    const common = { group_id: this.cast.groupId() }
    const expiry = (): string => this.cast.expiresAt(soon ? random.between(2_000, 8_000) : random.between(1, 2_000))
    const first = this.cast.submission(account, 'exchange', {
      ...common,
      amount: gold,
      token_id: gives.tokenId,
      to_account_id: other.accountId,
      receive: { token_id: asset, amount: price },
      expires_at: expiry(),
    })
    // The base unit is only ever received: the counterpart of such an exchange gives a token too, or there is none.
    const pays = asset === 'BASE' ? undefined : asset
    if (pays !== undefined && random.chance(0.8)) {
      // Usually an equal rate.
      const mirror = this.cast.submission(other, 'exchange', {
        ...common,
        amount: random.chance(0.9) ? `${price}.0` : this.cast.amount(),
        token_id: pays,
        to_account_id: account.accountId,
        receive: { token_id: gives.tokenId, amount: gold },
        expires_at: expiry(),
      })
      this.cast.later(soon ? 200 : 6_000, () => this.cast.send(other, mirror))
    }
    return first
  }

  private supplyChange(account: ClientAccount): GatewayRequest {
    const { random } = this.cast
    const token = this.cast.pickToken()
    const tokenId = token?.tokenId ?? 'NOPE'
    if (random.chance(0.5)) return this.cast.submission(account, 'burn', { token_id: tokenId })
    const issuer = this.cast.find(token?.issuer ?? '') ?? account
    const by = random.chance(0.9) ? issuer : account
    const amount = random.chance(0.1) ? '999999999999999000' : this.cast.amount()
    return this.cast.submission(by, 'mint', { token_id: tokenId, amount })
  }
}
