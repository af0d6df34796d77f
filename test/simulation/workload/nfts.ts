/** Clients' requests about NFTs: classes, mints, and transfers. */
import { accountAddress, classAddress } from '../../../actors/address.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { simSign } from '../cluster/sim-signer.ts'
import { CALLER, type Cast, type ClientAccount, type Fields, type NftRecord, STRANGER } from './cast.ts'

export class NftRequests {
  private readonly cast: Cast

  constructor(cast: Cast) {
    this.cast = cast
  }

  /** A class of a registered issuer, a class of a missing issuer, and one name that two clients want. */
  registerClasses(): void {
    const { ask } = this.cast
    void ask(this.registration('Gems', this.cast.accountAt(0).accountId), true)
    void ask(this.registration('Deeds', 'account-d'), true)
    void ask(this.registration('Stra\u00dfe', this.cast.accountAt(1).accountId), true)
    void ask({ ...this.registration('STRASSE', this.cast.accountAt(2).accountId), caller: STRANGER }, true)
  }

  draw(account: ClientAccount): GatewayRequest {
    const kind = this.cast.random.fraction()
    if (kind < 0.4) return this.mint()
    const nft = this.cast.pickNft(account)
    if (nft === undefined || kind < 0.43) return this.registration(this.cast.name('class'), account.accountId)
    if (kind < 0.45) return this.transfer(account, { ...nft, instance_id: 'never-minted' })
    if (kind < 0.75) return this.transfer(account, nft)
    if (kind < 0.95) return this.exchange(account, nft)
    return this.cast.submission(account, 'burn', assetOf(nft))
  }

  private registration(name: string, issuer: string): GatewayRequest {
    const { random } = this.cast
    const payload = canonicalJson({ name, description: '', issuer, metadata_schema: {} })
    const keys = this.cast.find(issuer)?.keys
    const seed = random.chance(0.85) ? keys?.at(-1) : 'a forger'
    const signature = keys === undefined || random.chance(0.7) ? null : simSign(seed ?? '', payload)
    const registrationKey = random.chance(0.5) ? this.cast.name('class key') : null
    return {
      actor: classAddress(name),
      caller: CALLER,
      operation: { kind: 'register_class', payload, signature, registrationKey },
    }
  }

  /** Few IDs for many mints, so that they collide. */
  private mint(): GatewayRequest {
    const { random } = this.cast
    const known = this.cast.classes[random.integer(this.cast.classes.length)]
    const issuer = this.cast.find(known?.issuer ?? '') ?? this.cast.pickAccount()
    const by = random.chance(0.95) ? issuer : this.cast.pickAccount()
    const owner = random.chance(0.6) ? this.cast.pickAccount().accountId : undefined
    const payload = canonicalJson({
      account_id: by.accountId,
      class_id: known?.classId ?? `cls_${'0'.repeat(26)}`,
      instance_id: `nft-${random.integer(30)}`,
      ...(owner === undefined ? {} : { owner: random.chance(0.03) ? 'nobody-1' : owner }),
      metadata: random.chance(0.3) ? { text: 'x'.repeat(random.integer(60_000)) } : {},
      idempotency_key: random.chance(0.1)
        ? `mint key ${random.integer(3)}`
        : this.cast.orderKey(by, 'mint', 'mint key'),
    })
    const signature = simSign(by.keys.at(-1) ?? '', payload)
    const metadataVerdict = random.chance(0.03) ? 'invalid' : 'valid'
    return {
      actor: accountAddress(by.accountId),
      caller: CALLER,
      operation: { kind: 'mint', payload, signature, metadataVerdict },
    }
  }

  private transfer(account: ClientAccount, nft: NftRecord): GatewayRequest {
    const { random } = this.cast
    const to = this.cast.counterparty(account).accountId
    nft.owner = to
    return this.cast.submission(account, 'transfer', {
      ...assetOf(nft),
      to_account_id: to,
      ...(random.chance(0.15) ? { expires_at: this.cast.expiresAt(random.between(1, 3_000)) } : {}),
    })
  }

  /** Mostly sends the counterpart as well: for a token, or for another NFT. */
  private exchange(account: ClientAccount, nft: NftRecord): GatewayRequest {
    const { random } = this.cast
    const other = this.cast.counterparty(account)
    const theirs = random.chance(0.4) ? this.cast.pickNft(other) : undefined
    const token = this.cast.pickToken()?.tokenId
    if (theirs === nft || (theirs === undefined && token === undefined)) return this.transfer(account, nft)
    const wants = theirs === undefined ? { token_id: token ?? '', amount: '1' } : assetOf(theirs)
    const common = { group_id: this.cast.groupId(), expires_at: this.cast.expiresAt(random.between(500, 8_000)) }
    const offered = { ...common, ...assetOf(nft), to_account_id: other.accountId, receive: { ...wants } }
    if (random.chance(0.85)) {
      const mirror = { ...common, ...wants, to_account_id: account.accountId, receive: { ...assetOf(nft) } }
      const request = this.cast.submission(other, 'exchange', mirror)
      this.cast.later(random.chance(0.8) ? 200 : 6_000, () => this.cast.send(other, request))
      nft.owner = other.accountId
      if (theirs !== undefined) theirs.owner = account.accountId
    }
    return this.cast.submission(account, 'exchange', offered)
  }
}

/** As submissions and legs name it. */
export function assetOf({ class_id, instance_id }: NftRecord) {
  return { class_id, instance_id, amount: '1' } satisfies Fields
}
