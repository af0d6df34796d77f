/**
 * Agreements of several parties: registered groups, whose legs arrive, fail or are missing, and linked groups, of which
 * an administrator compensates transactions.
 */
import { groupAddress } from '../../../actors/address.ts'
import { sha256Hex } from '../../../actors/audit-chain.ts'
import { canonicalJson, type Json, type JsonObject } from '../../../actors/canonical-json.ts'
import type { NamedTransaction } from '../../../runtime/protocol/messages.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { CALLER, type Cast, type ClientAccount, type Fields, type NftRecord, STRANGER } from './cast.ts'
import { assetOf as nftAsset } from './nfts.ts'

interface Leg extends JsonObject {
  readonly account_id: string
  readonly type: string
  readonly amount: string
}

interface Agreement {
  readonly groupId: string
  readonly legs: readonly Leg[]
  readonly termsHash: string
  readonly timeoutMs: number
  readonly request: GatewayRequest
}

/** More than most accounts ever hold. */
const TOO_MUCH = '900000'
const HASTY_TRIES = 5
const HASTY_WITHIN_MS = 150
/** The largest distance of the last leg's arrival from the deadline. */
const DEADLINE_MS = 100

export class GroupRequests {
  private readonly cast: Cast

  constructor(cast: Cast) {
    this.cast = cast
  }

  /** A sequence of requests; resolves after the client's last request. */
  async play(): Promise<void> {
    if (this.cast.random.chance(0.65)) await this.settle()
    else await this.link()
  }

  private async settle(): Promise<void> {
    const { random, ask } = this.cast
    const agreement = this.agreement()
    const { groupId, request } = agreement
    const registered = ask(request, true)
    // The terms determine their hash: some clients do not wait for the answer, and retry until their leg is expected.
    const early = random.chance(0.2)
    if (early) for (const leg of agreement.legs) this.hasten(agreement, leg)
    const outcome = await registered
    if (early || outcome?.kind !== 'answered' || outcome.answer.kind !== 'group_registered') return
    if (random.chance(0.1)) void ask(random.chance(0.5) ? request : this.otherTerms(agreement), true)
    const lastLeg = random.chance(0.1) ? agreement.legs.at(-1) : undefined
    for (const leg of agreement.legs) {
      if (random.chance(0.05)) continue
      if (leg === lastLeg) this.submitAtDeadline(agreement, leg)
      else this.cast.later(random.chance(0.8) ? 300 : 5_000, () => this.submit(agreement, leg))
    }
    if (random.chance(0.15)) {
      await this.cast.pause(random.between(0, 1_500))
      await ask(this.revert(groupId, [], random.chance(0.1) ? STRANGER : CALLER), true)
    }
  }

  /** Around the moment at which the group expires. */
  private submitAtDeadline(agreement: Agreement, leg: Leg): void {
    const { random, world } = this.cast
    world.kernel.count('client:last_leg_at_deadline')
    const inMs = agreement.timeoutMs + random.between(-DEADLINE_MS, DEADLINE_MS)
    world.kernel.schedule(inMs, 'a client sends its leg last', () => this.submit(agreement, leg))
  }

  private hasten(agreement: Agreement, leg: Leg): void {
    const account = this.cast.find(leg.account_id)
    if (account === undefined) return
    const request = this.cast.submission(account, leg.type, fieldsOf(agreement, leg))
    for (let times = 0; times < HASTY_TRIES; times += 1) {
      this.cast.later(HASTY_WITHIN_MS, () => this.cast.send(account, request))
    }
  }

  private submit(agreement: Agreement, leg: Leg): void {
    const { random } = this.cast
    const account = this.cast.find(leg.account_id)
    if (account === undefined) return
    const { groupId } = agreement
    const fields = fieldsOf(agreement, leg)
    const request = this.cast.submission(account, leg.type, fields)
    this.cast.send(account, request)
    if (random.chance(0.1)) this.cast.send(account, request)
    // The same leg under a new key, a leg that was not agreed, and a transaction that is only linked.
    if (random.chance(0.05)) this.cast.send(account, this.cast.submission(account, leg.type, fields))
    if (random.chance(0.05) && !('class_id' in leg)) {
      this.cast.send(account, this.cast.submission(account, leg.type, { ...fields, amount: '7.77' }))
    }
    if (random.chance(0.05)) this.cast.send(account, this.cast.submission(account, 'credit', { group_id: groupId }))
  }

  private agreement(): Agreement {
    const { random } = this.cast
    const groupId = this.cast.groupId()
    const legs = this.legs()
    const timeoutSeconds = random.pick([1, 3, 5, 8, 8])
    const fields = { group_id: groupId, legs, timeout_seconds: timeoutSeconds }
    return { groupId, legs, timeoutMs: 1_000 * timeoutSeconds, ...this.registration(groupId, fields) }
  }

  private registration(groupId: string, fields: Readonly<Record<string, Json>>) {
    const payload = canonicalJson(fields)
    const registrationKey = this.cast.random.chance(0.5) ? this.cast.name('group key') : null
    const request: GatewayRequest = {
      actor: groupAddress(groupId),
      caller: CALLER,
      operation: { kind: 'register_group', payload, registrationKey },
    }
    return { termsHash: sha256Hex(payload), request }
  }

  private otherTerms({ groupId }: Agreement): GatewayRequest {
    const fields = { group_id: groupId, legs: this.legs(), timeout_seconds: 4 }
    return this.registration(groupId, fields).request
  }

  private legs(): readonly Leg[] {
    const { random } = this.cast
    const one = this.cast.pickAccount()
    const two = this.cast.counterparty(one)
    const three = this.cast.counterparty(two)
    const asset = assetOf(this.cast.pickAsset())
    const all = this.cast.edgeAmount(one, 'debit', asset)
    const amount = random.chance(0.08) ? TOO_MUCH : (all ?? this.small())
    const token = this.cast.pickToken()
    const nft = this.cast.pickNft(one)
    if (nft !== undefined && random.chance(0.3)) return this.nftLegs(nft, one, two)
    switch (random.integer(token === undefined ? 4 : 6)) {
      case 0:
        return [legOf(one, 'debit', amount, asset), legOf(two, 'credit', amount, asset)]
      case 1:
        return [
          legOf(one, 'transfer', amount, { ...asset, to_account_id: two.accountId }),
          legOf(two, 'transfer', this.small(), { ...this.asset(), to_account_id: one.accountId }),
        ]
      case 2:
        return [
          legOf(one, 'debit', amount, asset),
          legOf(two, 'debit', amount, asset),
          legOf(three, 'credit', amount, asset),
          legOf(one === three ? two : one, 'credit', amount, asset),
        ]
      case 3:
        return [
          legOf(three === one ? two : three, 'credit', amount, { boundary: true }),
          legOf(one, 'transfer', amount, { to_account_id: two.accountId }),
          legOf(two, 'debit', this.small(), { boundary: true }),
        ]
      default:
        return this.supplyLegs(token?.tokenId ?? '', token?.issuer ?? '', one, two)
    }
  }

  /** Transfer or burn of an NFT against payment. */
  private nftLegs(nft: NftRecord, one: ClientAccount, two: ClientAccount): readonly Leg[] {
    const burns = this.cast.random.chance(0.2)
    const { amount, ...asset } = nftAsset(nft)
    if (!burns) nft.owner = two.accountId
    return [
      burns
        ? legOf(one, 'burn', amount, asset)
        : legOf(one, 'transfer', amount, { ...asset, to_account_id: two.accountId }),
      legOf(two, 'transfer', this.small(), { to_account_id: one.accountId }),
    ]
  }

  /** A mint, a burn, and a payment for them. */
  private supplyLegs(tokenId: string, issuer: string, one: ClientAccount, two: ClientAccount): readonly Leg[] {
    const { random } = this.cast
    const asset = { token_id: tokenId }
    const amount = `${random.integer(9) + 1}`
    const legs = [
      legOf(one, 'burn', amount, asset),
      legOf(two, 'transfer', this.small(), { to_account_id: one.accountId }),
    ]
    const minter = this.cast.find(issuer)
    return minter === undefined || random.chance(0.4) ? legs : [...legs, legOf(minter, 'mint', amount, asset)]
  }

  /** An amount that most accounts have. */
  private small(): string {
    return `${1 + this.cast.random.integer(8)}`
  }

  private asset(): JsonObject {
    return assetOf(this.cast.pickAsset())
  }

  private revert(
    groupId: string,
    transactions: readonly NamedTransaction[],
    caller: GatewayRequest['caller'],
  ): GatewayRequest {
    const reason = this.cast.name('reason')
    return { actor: groupAddress(groupId), caller, operation: { kind: 'revert_group', reason, transactions } }
  }

  /** Transactions that only share an ID; some are compensated repeatedly, from both sides. */
  private async link(): Promise<void> {
    const { random, ask } = this.cast
    const groupId = this.cast.groupId()
    const named: NamedTransaction[] = []
    for (let count = 2 + random.integer(3); count > 0; count -= 1) {
      const account = this.cast.pickAccount()
      const request = this.linked(account, groupId)
      account.sent.push(request)
      const outcome = await ask(request, true)
      if (outcome?.kind !== 'answered' || outcome.answer.kind !== 'accepted') continue
      const { txnId, accountId } = outcome.answer.receipt
      named.push({ txnId, accountId })
    }
    if (named.length === 0 || random.chance(0.2)) return
    await this.cast.pause(random.between(0, 1_500))
    const both = [...named, ...named.flatMap((name) => this.counterpartOf(name))]
    for (let times = 1 + random.integer(3); times > 0; times -= 1) {
      const chosen = both.filter(() => random.chance(0.7))
      await ask(this.revert(groupId, chosen, random.chance(0.05) ? STRANGER : CALLER), true)
      await this.cast.pause(random.between(0, 800))
    }
  }

  private linked(account: ClientAccount, groupId: string): GatewayRequest {
    const { random } = this.cast
    const common = { group_id: groupId, ...this.asset() }
    const kind = random.fraction()
    if (kind < 0.6) {
      const to = this.cast.counterparty(account).accountId
      return this.cast.submission(account, 'transfer', { ...common, to_account_id: to })
    }
    if (kind < 0.7) return this.cast.submission(account, 'transfer', common)
    return this.cast.submission(account, kind < 0.85 ? 'credit' : 'debit', common)
  }

  /** The other side of a transfer, as clients read it. */
  private counterpartOf({ txnId, accountId }: NamedTransaction): readonly NamedTransaction[] {
    const { rows } = this.cast.world.database
    const shardId = this.cast.world.homeOf({ kind: 'account', id: accountId })
    const found = rows.transactionTable.row({ shardId, txnId })?.transaction
    if (found === undefined || found.counterTxnId === null || found.toAccountId === null) return []
    return [{ txnId: found.counterTxnId, accountId: found.toAccountId }]
  }
}

/** The fields of an agreement that its leg's submission contains. */
function fieldsOf({ groupId, termsHash }: Agreement, leg: Leg): Fields {
  const { account_id: _account, boundary: _boundary, ...terms } = leg
  return { ...terms, group_id: groupId, terms_hash: `sha256:${termsHash}` }
}

function assetOf(tokenId: string): JsonObject {
  return tokenId === 'BASE' ? {} : { token_id: tokenId }
}

function legOf(account: ClientAccount, type: string, amount: string, more: JsonObject): Leg {
  return { account_id: account.accountId, type, amount, ...more }
}
