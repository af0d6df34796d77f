/** The life of one loaded account: its registration, and all that it submits. */
import { sign } from 'node:crypto'
import { accountAddress } from '../../../actors/address.ts'
import { availableOf, balanceOf } from '../../../actors/account/state.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { encodeUlid, MAX_IDS_PER_MS } from '../../../actors/identifiers.ts'
import { BASE_UNIT, type Quantity, ZERO } from '../../../actors/money.ts'
import type { Operation } from '../../../runtime/messages.ts'
import type { GivenStamp } from '../../../runtime/node/command.ts'
import type { Random } from '../../../runtime/ports/random.ts'
import type { Drafting } from './drafting.ts'
import { debit, type LoadPlan, type LoadSpan, type Order } from './load-plan.ts'
import type { SharedKey } from './shared-keys.ts'

export interface LifeOptions {
  readonly plan: LoadPlan
  readonly span: LoadSpan
  readonly keys: readonly SharedKey[]
  readonly random: Random
}

export function openAccount(drafting: Drafting, number: number, stamp: GivenStamp, options: LifeOptions): void {
  const { plan } = options
  const account = accountAddress(plan.accountIdOf(number))
  if (plan.kindOf(number) === 'keyless') {
    // As the registration of a token brings its issuer into being; the token itself is not there.
    const message = { type: 'prepare_issue', tokenId: 'KEYLESS', totalSupply: '0', clientId: drafting.clientId }
    drafting.hearAlone(account, { ...message, consentNeeded: false, payload: '{}', signature: '' }, stamp)
    return
  }
  const key = keyOf(number, options).accountKey
  drafting.request(account, { kind: 'register', key, registrationKey: null }, stamp)
}

/** After its registration. */
export function submitAll(drafting: Drafting, number: number, stamps: AccountStamps, options: LifeOptions): void {
  const { plan, span } = options
  const kind = plan.kindOf(number)
  if (kind === 'keyless' || kind === 'empty') return
  const accountId = plan.accountIdOf(number)
  const available = (tokenId: string): Quantity => {
    const account = drafting.account(accountId)
    return account === undefined ? ZERO : availableOf(balanceOf(account, tokenId))
  }
  let submitted = 0
  const submit = ({ type, tokenId, amount }: Order, atMs: number): void => {
    submitted += 1
    const token = tokenId === BASE_UNIT ? undefined : { token_id: tokenId }
    const fields = { type, amount, idempotency_key: `order-${submitted}`, ...token }
    drafting.request(accountAddress(accountId), ...signedBy(number, 'submit', fields, stamps.next(atMs), options))
  }
  const orders = plan.ordersOf(number)
  const registeredAtMs = plan.registeredAtMs(number, span)
  for (let made = 0; made < orders.count; made += 1) {
    const atMs = orders.nextAtMs(registeredAtMs, span.endMs)
    submit(orders.next(available), atMs)
  }
  if (kind !== 'drained') return
  for (const tokenId of drafting.account(accountId)?.balances.keys() ?? []) {
    const rest = available(tokenId)
    if (!rest.isZero()) submit(debit({ tokenId }, rest), span.endMs)
  }
}

function keyOf(number: number, { plan, keys }: LifeOptions): SharedKey {
  const key = keys[plan.keyNumberOf(number)]
  if (key === undefined) throw new Error(`there is no key of account ${number}`)
  return key
}

type SignedOperation = Extract<Operation, { readonly kind: 'submit' | 'mint' }>

/** What `Drafting.request` takes after the address. `fields`: without the account. */
export function signedBy(
  number: number,
  kind: SignedOperation['kind'],
  fields: JsonObject,
  stamp: GivenStamp,
  options: LifeOptions,
): [operation: SignedOperation, stamp: GivenStamp, signer: string] {
  const { keys, accountKey } = keyOf(number, options)
  const payload = canonicalJson({ ...fields, account_id: options.plan.accountIdOf(number) })
  const bytes = sign('sha256', Buffer.from(payload), { key: keys.privateKey, dsaEncoding: 'ieee-p1363' })
  const signature = bytes.toString('base64url')
  const operation =
    kind === 'mint' ? ({ kind, payload, signature, metadataVerdict: 'valid' } as const) : { kind, payload, signature }
  return [operation, stamp, accountKey.keyId]
}

/** Times and IDs of one account: neither ever goes back, whatever is asked for. All come after `afterMs`. */
export class AccountStamps {
  private readonly shardId: number
  private readonly random: Random
  private lastMs: number
  private counter = 0

  constructor(shardId: number, random: Random, afterMs: number) {
    this.shardId = shardId
    this.random = random
    this.lastMs = afterMs
  }

  next(wantedMs: number): GivenStamp {
    if (wantedMs > this.lastMs) {
      this.lastMs = wantedMs
      this.counter = 0
    } else if (this.counter + 1 < MAX_IDS_PER_MS) {
      this.counter += 1
    } else {
      throw new Error('an account has more transactions than a millisecond has IDs')
    }
    const { lastMs: atMs, counter, shardId } = this
    return { atMs, ulid: encodeUlid({ timeMs: atMs, counter, shardId, random: this.random.integer(2 ** 48) }) }
  }
}
