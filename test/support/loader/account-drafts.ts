/**
 * Lives of accounts: registration, and all that each submits. Commands are stepped as a shard's owner does, on top of
 * nothing, with the owner's own code: what a draft holds is what its commits would have written.
 */
import { sign } from 'node:crypto'
import { accountAddress, type ActorAddress, actorKey } from '../../../actors/address.ts'
import { availableOf, balanceOf } from '../../../actors/account/state.ts'
import { canonicalJson } from '../../../actors/canonical-json.ts'
import { encodeUlid, MAX_IDS_PER_MS } from '../../../actors/identifiers.ts'
import type { Stamp } from '../../../actors/message.ts'
import { BASE_UNIT, ZERO } from '../../../actors/money.ts'
import { stepActor } from '../../../actors/step-actor.ts'
import type { Item, Operation } from '../../../runtime/protocol/messages.ts'
import { readPublicKey } from '../../../infra/keys/public-key.ts'
import { commandOf } from '../../../runtime/node/delivery/command.ts'
import { accountIn, ShardDraft, inboxOrder, stepInto } from '../../../runtime/node/shard/draft.ts'
import { createFacts } from '../../../runtime/node/shard/facts.ts'
import { Incarnation } from '../../../runtime/node/shard/incarnation.ts'
import { Pending, verdictKey } from '../../../runtime/node/shard/pending-command.ts'
import type { Random } from '../../../runtime/ports/random.ts'
import { NO_RARE_PATHS } from '../../../runtime/ports/rare-paths.ts'
import { WIRE } from '../../../runtime/protocol/wire.ts'
import { accountIdOf, type LoadShape, type LoadSpan, ordersOf, registeredAtMs } from './load-plan.ts'
import type { SharedKey } from './shared-keys.ts'

export interface DraftingOptions {
  readonly shape: LoadShape
  readonly span: LoadSpan
  readonly keys: readonly SharedKey[]
  readonly ledgerId: string
  readonly homeOf: (actor: ActorAddress) => number
  readonly random: Random
}

/** The client of all registrations and submissions. */
const CALLER = { clientId: 'loader', role: 'transactor', boundary: true } as const
/** No client waits. */
const SILENT = { send: () => undefined }

export class AccountDrafts {
  private readonly options: DraftingOptions
  private readonly surroundings
  private readonly drafts = new Map<number, ShardDraft>()

  constructor(options: DraftingOptions) {
    const { ledgerId, homeOf } = options
    this.options = options
    this.surroundings = {
      settings: { ledgerId, production: false },
      step: stepActor,
      wire: WIRE,
      facts: createFacts(NO_RARE_PATHS),
      inbox: inboxOrder,
      homeOf,
    }
  }

  /** Drafts since the last `take`. */
  take(): readonly ShardDraft[] {
    const taken = [...this.drafts.values()]
    this.drafts.clear()
    return taken
  }

  /** The whole life of an account. */
  add(number: number): void {
    const { shape, span, keys, homeOf, random } = this.options
    const accountId = accountIdOf(number)
    const account = accountAddress(accountId)
    const shared = keys[number % keys.length]
    if (shared === undefined) throw new Error('there are no keys')
    const stamps = new AccountStamps(homeOf(account), random)
    const key = shared.accountKey
    const registered = stamps.next(registeredAtMs(shape, number, span))
    this.request(account, { kind: 'register', key, registrationKey: null }, registered)
    const available = () => {
      const state = accountIn(this.draftOf(homeOf(account)), accountId)
      return state === undefined ? ZERO : availableOf(balanceOf(state, BASE_UNIT))
    }
    let submitted = 0
    for (const { type, amount, atMs } of ordersOf(shape, number, span, available)) {
      submitted += 1
      const payload = canonicalJson({ account_id: accountId, type, amount, idempotency_key: `order-${submitted}` })
      const signer = { key: shared.keys.privateKey, dsaEncoding: 'ieee-p1363' } as const
      const signature = sign('sha256', Buffer.from(payload), signer).toString('base64url')
      this.request(account, { kind: 'submit', payload, signature }, stamps.next(atMs), verdictKey(key.keyId, signature))
    }
  }

  private draftOf(shardId: number): ShardDraft {
    const known = this.drafts.get(shardId)
    if (known !== undefined) return known
    const start = { lastTransactionId: null, channels: [], marks: [], outbox: [] }
    const draft = new ShardDraft(new Incarnation({ shardId, epoch: 0, attempt: 0 }, start))
    this.drafts.set(shardId, draft)
    return draft
  }

  /** `verdict`: of the signature, which is not checked again. Throws when it is refused. */
  private request(actor: ActorAddress, operation: Operation, stamp: Stamp, verdict?: string): void {
    const shardId = this.options.homeOf(actor)
    const item: Item = {
      requestId: stamp.newTxnId,
      attempt: 1,
      shardId,
      epoch: 0,
      actor,
      caller: CALLER,
      deadlineMs: Number.MAX_SAFE_INTEGER,
      operation,
    }
    const command = commandOf(item, stamp, { production: false, readPublicKey })
    if (command === undefined) throw new Error(`the ledger does not understand ${operation.kind} of ${actor.id}`)
    const draft = this.draftOf(shardId)
    const pending = new Pending({ kind: 'request', item, channel: SILENT }, actor, command, draft.incarnation)
    pending.resident = { state: null, bytes: 0, pins: 0, waiting: 1, used: true }
    if (verdict !== undefined) pending.verdicts.set(verdict, true)
    const stepped = stepInto(draft, pending, this.surroundings)
    if (stepped.kind !== 'taken' || stepped.answer?.kind === 'refused') {
      throw new Error(`${command.type} of ${actorKey(actor)} is ${JSON.stringify(stepped)}`)
    }
  }
}

/** Times and IDs of one account: neither ever goes back, whatever is asked for. */
class AccountStamps {
  private readonly shardId: number
  private readonly random: Random
  private lastMs = 0
  private counter = 0

  constructor(shardId: number, random: Random) {
    this.shardId = shardId
    this.random = random
  }

  next(wantedMs: number): Stamp {
    if (wantedMs > this.lastMs) {
      this.lastMs = wantedMs
      this.counter = 0
    } else if (this.counter + 1 < MAX_IDS_PER_MS) {
      this.counter += 1
    } else {
      throw new Error('an account has more transactions than a millisecond has IDs')
    }
    const { lastMs: atMs, counter, shardId } = this
    const newTxnId = `txn_${encodeUlid({ timeMs: atMs, counter, shardId, random: this.random.integer(2 ** 48) })}`
    return { atMs, salt: this.random.hex(16), newTxnId }
  }
}
