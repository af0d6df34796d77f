/**
 * The domain alone, as a whole ledger in memory: actors are stepped one command at a time, and what they send to each
 * other waits until it is delivered, in order between any two of them and in no order otherwise. Time stands still
 * unless it is moved. After every step the ledger is counted (mini-ledger-count.ts).
 */
import {
  type AccountClientCommand,
  type AccountCommand,
  type KeyUse,
  keyUseOf,
  payloadHashOf,
  type SubmitCommand,
} from '../../actors/account/commands.ts'
import { type Answer, type EarlierUse, type Effect, originalAnswer } from '../../actors/account/outcome.ts'
import type { AccountState } from '../../actors/account/state.ts'
import type { Evidence } from '../../actors/account/evidence.ts'
import type { CompensableTransaction, Transaction } from '../../actors/account/transaction.ts'
import {
  accountAddress,
  type ActorAddress,
  actorKey,
  groupAddress,
  holdAddress,
  instanceAddress,
  tokenAddress,
} from '../../actors/address.ts'
import type { ActorAnswer } from '../../actors/define-actor.ts'
import type { AuditEntry } from '../../actors/audit-chain.ts'
import type { GroupState } from '../../actors/group/state.ts'
import type { HoldState } from '../../actors/hold/state.ts'
import { encodeUlid } from '../../actors/identifiers.ts'
import type { Envelope, Stamp } from '../../actors/message.ts'
import { type Quantity, ZERO } from '../../actors/money.ts'
import { classFactsOf, type ClassState } from '../../actors/nft-class/state.ts'
import type { InstanceState, NftEvent } from '../../actors/nft-instance/state.ts'
import { type AnyCommand, type AnyState, stepActor } from '../../actors/step-actor.ts'
import { type TokenState, tokenFactsOf } from '../../actors/token/state.ts'
import { SALT, START_MS } from '../support/accounts.ts'
import { checkDryRun, dryRunOf } from './mini-dry-run.ts'
import { countLedger } from './mini-ledger-count.ts'

export const LEDGER_ID = 'ledger-1'
/** The only invalid signature. */
export const FORGED = 'forged'

export type KeptTransaction = Transaction & Pick<CompensableTransaction, 'compensatedBy' | 'refunded' | 'termsHash'>

interface Channel {
  readonly to: ActorAddress
  readonly queue: Envelope[]
}

interface MiniLedgerOptions {
  readonly production?: boolean
  /** Whether the ledger is counted after every step: it costs the more the longer the chains are. */
  readonly counted?: boolean
}

/** Chooses one of this many channels, from 0. */
export type Choose = (count: number) => number

const oldestFirst: Choose = () => 0
/** More messages than any test makes: a conversation that never ends is a finding. */
const MAX_DELIVERIES = 20_000

export class MiniLedger {
  readonly states = new Map<string, AnyState>()
  readonly transactions = new Map<string, KeptTransaction>()
  readonly entries = new Map<string, AuditEntry[]>()
  /** Credits less debits at the boundary, by token. */
  readonly boundary = new Map<string, Quantity>()
  /** By actor, or by the use of a key. */
  readonly concluded = new Map<string, Answer>()
  readonly nftEvents = new Map<string, NftEvent[]>()
  nowMs = START_MS
  private readonly channels = new Map<string, Channel>()
  private readonly usedKeys = new Set<string>()
  private readonly keyUses = new Map<string, EarlierUse>()
  private readonly production: boolean
  private readonly counted: boolean
  private serial = 0

  constructor({ production = false, counted = true }: MiniLedgerOptions = {}) {
    this.counted = counted
    this.production = production
  }

  account(accountId: string): AccountState {
    const account = this.states.get(accountId)
    if (account?.kind !== 'account') throw new Error(`There is no account ${accountId}.`)
    return account
  }

  group(groupId: string): GroupState | undefined {
    const state = this.states.get(actorKey(groupAddress(groupId)))
    return state?.kind === 'group' ? state : undefined
  }

  token(tokenId: string): TokenState | undefined {
    const state = this.states.get(actorKey(tokenAddress(tokenId)))
    return state?.kind === 'token' ? state : undefined
  }

  instance(nftId: string): InstanceState | undefined {
    const state = this.states.get(actorKey(instanceAddress(nftId)))
    return state?.kind === 'instance' ? state : undefined
  }

  holdOf(holdId: string): HoldState {
    const state = this.states.get(actorKey(holdAddress(holdId)))
    if (state?.kind !== 'hold') throw new Error(`There is no hold ${holdId}.`)
    return state
  }

  classes(): readonly ClassState[] {
    return [...this.states.values()].filter((state): state is ClassState => state.kind === 'class')
  }

  transaction(txnId: string): KeptTransaction {
    const transaction = this.transactions.get(txnId)
    if (transaction === undefined) throw new Error(`There is no transaction ${txnId}.`)
    return transaction
  }

  accounts(): readonly AccountState[] {
    return [...this.states.values()].filter((state): state is AccountState => state.kind === 'account')
  }

  undelivered(): readonly Envelope[] {
    return [...this.channels.values()].flatMap(({ queue }) => queue)
  }

  /** Adds an actor whose value came from an external account. */
  put(account: AccountState): void {
    this.states.set(account.accountId, account)
    for (const [tokenId, { balance }] of account.balances) this.cross(tokenId, balance)
  }

  /** Steps a client's command; its messages stay undelivered. */
  ask(actor: ActorAddress, command: AnyCommand): ActorAnswer | null {
    return this.step(actor, { ...command, ...this.stamp() })
  }

  /** Steps the command, delivers all messages and returns the final reply. */
  asked(actor: ActorAddress, command: AnyCommand): Answer {
    const concluded = concludedKey(actor, command)
    this.concluded.delete(concluded)
    const answer = this.ask(actor, command)
    if (answer !== null && answer !== 'deferred') {
      this.drain()
      return answer
    }
    this.drain()
    const ended = this.concluded.get(concluded)
    if (ended === undefined) throw new Error(`${command.type} was never concluded.`)
    return ended
  }

  /** Delivers one message. False when there is none. */
  deliver(choose: Choose = oldestFirst): boolean {
    const waiting = [...this.channels.keys()]
    return this.deliverOn(waiting[choose(waiting.length)] ?? '')
  }

  /** Delivers the next message from one actor to another, both by key. */
  deliverFrom(from: string, to: string): boolean {
    return this.deliverOn(channelName(from, to))
  }

  private deliverOn(name: string): boolean {
    const channel = this.channels.get(name)
    const envelope = channel?.queue.shift()
    if (channel === undefined || envelope === undefined) return false
    // Put back behind the others: the oldest channel is the one that has waited longest.
    this.channels.delete(name)
    if (channel.queue.length > 0) this.channels.set(name, channel)
    this.step(channel.to, {
      ...envelope.message,
      ...this.stamp(),
      ...(channel.to.kind === 'account' ? { accountId: channel.to.id, shardId: 7 } : {}),
    } as AnyCommand)
    return true
  }

  drain(choose: Choose = oldestFirst): void {
    for (let count = 0; this.deliver(choose); count += 1) {
      if (count > MAX_DELIVERIES) throw new Error('The actors never stop talking.')
    }
  }

  /** Advances the clock and runs the timers that are due, also those due exactly now. */
  pass(durationMs: number): void {
    this.nowMs += durationMs
    for (const [key, state] of this.states) {
      if (state.kind === 'account' || state.dueAtMs === null || state.dueAtMs > this.nowMs) continue
      const actor = { kind: state.kind, id: key.slice(key.indexOf(' ') + 1) }
      this.step(actor, { ...this.stamp(0), type: 'due', dueAtMs: state.dueAtMs })
    }
  }

  private stamp(tookMs = 1): Stamp {
    this.serial += 1
    this.nowMs += tookMs
    const ulid = encodeUlid({ timeMs: this.nowMs, counter: this.serial % 65_536, shardId: 7, random: this.serial })
    return { atMs: this.nowMs, salt: SALT, newTxnId: `txn_${ulid}` }
  }

  private step(actor: ActorAddress, command: AnyCommand): ActorAnswer | null {
    const key = actorKey(actor)
    const before = this.states.get(key) ?? null
    const evidence = this.evidenceFor(actor, command)
    const rehearsed = dryRunOf(actor, before, command, evidence)
    const outcome = stepActor(actor, before, command, evidence)
    if (rehearsed !== undefined) checkDryRun(rehearsed, command, outcome)
    if (outcome.kind === 'unverified') throw new Error('The ledger has a verdict on every signature.')
    if (outcome.kind === 'stale_look_up') throw new Error('The ledger has looked up whatever it is asked.')
    if (outcome.kind === 'answered') return outcome.answer
    if (outcome.state === null) this.states.delete(key)
    else this.states.set(key, outcome.state)
    for (const effect of outcome.effects) this.apply(actor, effect)
    this.remember(actor, command, before, outcome.answer)
    if (this.counted) countLedger(this)
    return outcome.answer
  }

  private remember(actor: ActorAddress, command: AnyCommand, before: AnyState | null, answer: ActorAnswer | null) {
    if (actor.kind !== 'account' || answer === null || answer === 'deferred') return
    const use = keyUseOf(command as AccountCommand)
    const key = before !== null && 'key' in before ? before.key : null
    if (use === undefined || key === null) return
    const payloadHash = payloadHashOf(command as AccountClientCommand)
    this.keyUses.set(useKey(actor, use), { payloadHash, key, answer })
  }

  private apply(from: ActorAddress, effect: Effect): void {
    switch (effect.kind) {
      case 'message_sent':
        this.enqueue(from, effect.envelope)
        return
      case 'entry_appended':
        this.append(this.entries, from.id, effect.entry)
        return
      case 'transaction_entered':
        this.enter(effect.transaction)
        return
      case 'transaction_finished': {
        const { transaction } = effect
        const kept = this.transaction(transaction.txnId)
        if (kept.status !== 'pending') throw new Error(`${transaction.txnId} was final before.`)
        this.transactions.set(transaction.txnId, { ...kept, ...transaction })
        return
      }
      case 'transaction_compensated': {
        const kept = this.transaction(effect.txnId)
        if (kept.compensatedBy !== null) throw new Error(`${effect.txnId} was compensated before.`)
        this.transactions.set(effect.txnId, { ...kept, compensatedBy: effect.by })
        return
      }
      case 'transaction_refunded':
        this.transactions.set(effect.txnId, { ...this.transaction(effect.txnId), refunded: effect.refunded })
        return
      case 'boundary_crossed':
        this.cross(effect.tokenId, effect.quantity)
        return
      case 'concluded':
        this.concluded.set(effect.use === undefined ? actorKey(from) : useKey(from, effect.use), effect.answer)
        return
      case 'nft_event':
        this.append(this.nftEvents, effect.nftId, effect.event)
        return
      case 'operation_recorded': {
        const { operation, acceptedUnder: key } = effect
        if (key === null) return
        const { payloadHash } = operation
        this.keyUses.set(useKey(from, operation), { payloadHash, key, answer: originalAnswer(operation) })
        return
      }
      case 'balance_changed':
      case 'hold_changed':
      case 'key_registered':
      case 'account_erased':
        return
    }
  }

  private append<T>(lists: Map<string, T[]>, key: string, item: T): void {
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [item])
    else list.push(item)
  }

  private enqueue(from: ActorAddress, envelope: Envelope): void {
    const name = channelName(actorKey(from), actorKey(envelope.to))
    const channel = this.channels.get(name)
    if (channel === undefined) this.channels.set(name, { to: envelope.to, queue: [envelope] })
    else channel.queue.push(envelope)
  }

  private enter(transaction: Transaction): void {
    const { txnId, accountId, idempotencyKey } = transaction
    const use = `${accountId} ${idempotencyKey}`
    if (this.transactions.has(txnId) || this.usedKeys.has(use)) throw new Error(`${txnId} or its key was used before.`)
    this.usedKeys.add(use)
    const { termsHash = null } = JSON.parse(transaction.payload) as { readonly termsHash?: string | null }
    this.transactions.set(txnId, { ...transaction, compensatedBy: null, refunded: null, termsHash })
  }

  private cross(tokenId: string, quantity: Quantity): void {
    this.boundary.set(tokenId, (this.boundary.get(tokenId) ?? ZERO) + quantity)
  }

  private evidenceFor(actor: ActorAddress, command: AnyCommand): Evidence {
    const use = actor.kind === 'account' ? keyUseOf(command as AccountCommand) : undefined
    const earlier = use === undefined ? undefined : this.keyUses.get(useKey(actor, use))
    return {
      ledgerId: LEDGER_ID,
      production: this.production,
      residence: { resident: true, mailbox: 1 },
      usedElsewhere: undefined,
      earlier,
      verdict: (_, signature) => signature !== FORGED,
      token: (tokenId) => {
        const token = this.token(tokenId)
        const facts = token === undefined ? undefined : tokenFactsOf(token)
        return facts?.tokenId === tokenId ? facts : undefined
      },
      nftClass: (classId) => {
        const found = this.classes().find((known) => known.classId === classId)
        return found === undefined ? undefined : classFactsOf(found)
      },
      minted: (nftId) => {
        const instance = this.instance(nftId)
        return instance !== undefined && instance.status !== 'minting'
      },
      exists: (accountId) => this.states.has(actorKey(accountAddress(accountId))),
      groupUses: command.type === 'submit' ? this.groupUsesOf(command) : [],
      transaction: this.named(actor.id, command),
    }
  }

  /** The transaction that the command compensates or refunds. */
  private named(accountId: string, command: AnyCommand): CompensableTransaction | undefined {
    if (command.type === 'compensate') return this.transactions.get(command.compensates)
    if ('submission' in command) return this.creditOf(accountId, command.submission.refunds)
    if (!('refunds' in command) || command.refunds === undefined) return undefined
    return command.type === 'receive_transfer'
      ? this.transactions.get(command.refunds)
      : this.creditOf(accountId, command.refunds)
  }

  /** The account's credit of a transfer, by the transfer's ID or its own. */
  private creditOf(accountId: string, txnId: string | null): CompensableTransaction | undefined {
    if (txnId === null) return undefined
    return [...this.transactions.values()].find(
      (kept) =>
        kept.accountId === accountId &&
        kept.idempotencyKey === `§transfer ${kept.counterTxnId}` &&
        (kept.txnId === txnId || kept.counterTxnId === txnId),
    )
  }

  private groupUsesOf({ submission: { accountId, groupId } }: SubmitCommand) {
    if (groupId === null) return []
    return [...this.transactions.values()].filter(
      (kept) =>
        kept.accountId === accountId &&
        kept.groupId === groupId &&
        kept.origin === 'client' &&
        kept.status !== 'failed',
    )
  }
}

function useKey({ id }: ActorAddress, { operation, idempotencyKey }: KeyUse): string {
  return `${id} ${operation} ${idempotencyKey}`
}

function concludedKey(actor: ActorAddress, command: AnyCommand): string {
  const use = actor.kind === 'account' ? keyUseOf(command as AccountCommand) : undefined
  return use === undefined ? actorKey(actor) : useKey(actor, use)
}

function channelName(from: string, to: string): string {
  return `${from} -> ${to}`
}
