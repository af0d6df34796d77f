/**
 * Checks the rows of groups, exchanges and tokens: final states stay (I8), a settled group has all its legs, a reverted
 * group compensates each completed leg once, and no account keeps a hold of an ended group.
 */
import type { ActorState } from '../../../actors/actor-state.ts'
import type { GroupState, GroupStatus } from '../../../actors/group/state.ts'
import type { HoldState } from '../../../actors/hold/state.ts'
import type { ClassState } from '../../../actors/nft-class/state.ts'
import type { InstanceState } from '../../../actors/nft-instance/state.ts'
import type { TokenState } from '../../../actors/token/state.ts'
import type { ActorWrite } from '../../../runtime/ports/ledger-store.ts'
import { actorKey } from '../../support/reference-encoding.ts'
import type { ArrivalChecker } from './arrivals.ts'
import { isHeld } from './arrived.ts'
import type { FundsChecker } from './funds.ts'
import type { Demand } from './messages.ts'
import { NftChecker } from './nfts.ts'
import type { PaymentHoldChecker } from './payment-holds.ts'
import type { TransactionChecker } from './transactions.ts'

/** An actor's state from a moment on; null: removed. */
export interface ActorMoment {
  readonly fromMs: number
  readonly state: ActorState | null
}

export interface TokenSince {
  readonly fromMs: number
  readonly decimals: number
  readonly issuer: string
}

/** The possible previous states of a group, over the steps that one commit can contain. */
const NEXT: Readonly<Record<GroupStatus | 'absent', readonly (GroupStatus | 'absent')[]>> = {
  absent: ['registering', 'open', 'reverting', 'linked'],
  registering: ['registering', 'open', 'refusing', 'absent', 'settling', 'reverting'],
  refusing: ['refusing', 'absent'],
  open: ['open', 'settling', 'reverting', 'settled', 'reverted'],
  settling: ['settling', 'settled'],
  reverting: ['reverting', 'reverted'],
  settled: [],
  reverted: [],
  linked: ['linked'],
}

/** Other sources of evidence from the rows. */
export interface ActorWitnesses {
  readonly transactions: TransactionChecker
  readonly funds: FundsChecker
  readonly paymentHolds: PaymentHoldChecker
  readonly arrivals: ArrivalChecker
}

export class ActorChecker {
  private readonly demand: Demand
  private readonly now: () => number
  private readonly transactions: TransactionChecker
  private readonly funds: FundsChecker
  private readonly paymentHolds: PaymentHoldChecker
  private readonly arrivals: ArrivalChecker
  private readonly histories = new Map<string, ActorMoment[]>()
  /** By symbol. */
  private readonly tokens = new Map<string, TokenSince>()
  readonly nfts: NftChecker

  constructor(demand: Demand, now: () => number, { transactions, funds, paymentHolds, arrivals }: ActorWitnesses) {
    this.arrivals = arrivals
    this.nfts = new NftChecker(demand, now)
    this.demand = demand
    this.now = now
    this.transactions = transactions
    this.funds = funds
    this.paymentHolds = paymentHolds
  }

  token(tokenId: string): TokenSince | undefined {
    return this.tokens.get(tokenId)
  }

  /** The states during the window, oldest first; null for absence, also before the first state. */
  statesBetween(key: string, fromMs: number, toMs: number): readonly (ActorState | null)[] {
    const moments: readonly ActorMoment[] = [{ fromMs: -Infinity, state: null }, ...(this.histories.get(key) ?? [])]
    return moments
      .filter((moment, index) => moment.fromMs <= toMs && (moments[index + 1]?.fromMs ?? Infinity) >= fromMs)
      .map(({ state }) => state)
  }

  momentsOf(key: string): readonly ActorMoment[] {
    return this.histories.get(key) ?? []
  }

  latest(key: string): ActorState | null {
    return this.histories.get(key)?.at(-1)?.state ?? null
  }

  /** Actors that have not reached an end. */
  unfinished(): readonly string[] {
    return [...this.histories.keys()].filter((key) => {
      const state = this.latest(key)
      return state !== null && !isFinished(state)
    })
  }

  /** `copy`: the state as stored. */
  commit({ address, previousVersion }: ActorWrite, copy: ActorState | null): void {
    const key = actorKey(address)
    const before = this.latest(key)
    this.demand((before?.version ?? 0) === previousVersion, `I1b: ${key}: written on ${previousVersion}`)
    this.arrivals.actor(address, before, copy)
    const moments = this.histories.get(key) ?? []
    // The actor was withdrawn and registered again within one commit: it was absent in between.
    if (isRegisteredAgain(before, copy)) moments.push({ fromMs: this.now(), state: null })
    moments.push({ fromMs: this.now(), state: copy })
    this.histories.set(key, moments)
    if (address.kind === 'group') this.group(key, before as GroupState | null, copy as GroupState | null)
    if (address.kind === 'instance')
      this.nfts.instance(key, before as InstanceState | null, copy as InstanceState | null)
    if (address.kind === 'hold') this.paymentHolds.actor(before as HoldState | null, copy as HoldState | null)
    if (address.kind === 'class') this.nfts.registered(copy as ClassState | null)
    if (address.kind === 'token') this.registered(key, before as TokenState | null, copy as TokenState | null)
  }

  private registered(key: string, before: TokenState | null, after: TokenState | null): void {
    const was = before?.status ?? 'absent'
    const is = after?.status ?? 'absent'
    const order = ['absent', 'preparing', 'crediting', 'active']
    const gaveUp = was === 'preparing' && is === 'absent'
    this.demand(gaveUp || order.indexOf(is) >= order.indexOf(was), `I3: ${key} was ${was} and is ${is}`)
    if (after === null || is === 'preparing' || this.tokens.has(after.tokenId)) return
    const { tokenId, decimals, issuer } = after
    this.tokens.set(tokenId, { fromMs: this.now(), decimals, issuer })
  }

  private group(key: string, before: GroupState | null, after: GroupState | null): void {
    const was = before?.status ?? 'absent'
    const is = after?.status ?? 'absent'
    if (isRegisteredAgain(before, after)) {
      this.demand(NEXT[was].includes('absent'), `I8: ${key} was ${was} and is registered anew`)
      this.demand(NEXT.absent.includes(is), `I8: ${key} is new and ${is}`)
    } else {
      this.demand(NEXT[was].includes(is), `I8: ${key} was ${was} and is ${is}`)
      const same = before === null || after === null || before.termsHash === after.termsHash
      this.demand(same, `I8: ${key} has other terms`)
    }
    if (after?.status === 'settled') this.settled(after)
    if (after?.status === 'reverted') this.reverted(after)
  }

  private settled(group: GroupState): void {
    for (const { terms, parts } of group.legs) {
      for (const { role, txnId } of parts) {
        if (role === 'supply' || role === 'instance') continue
        const leg = this.transactions.known.get(txnId ?? '')
        const named = role === 'receiver' ? terms.toAccountId : terms.accountId
        const done = leg?.transaction.status === 'completed' && leg.transaction.accountId === named
        this.demand(done, `I8: ${group.id} is settled and ${txnId} of ${named} is not completed`)
        this.demand(leg?.compensatedBy === null, `I8: ${group.id} is settled and ${txnId} is undone`)
      }
    }
    this.demand(group.compensations.length === 0, `I8: ${group.id} is settled and names compensations`)
    this.released(group)
  }

  private reverted(group: GroupState): void {
    for (const { transaction, compensatedBy } of this.legTransactions(group)) {
      const { txnId, status } = transaction
      if (status !== 'completed') continue
      this.demand(compensatedBy !== null, `I8: ${group.id} is reverted and ${txnId} is not undone`)
      const named = group.compensations.filter(({ compensates }) => compensates === txnId)
      // A leg of an earlier, refused registration was compensated then and is not part of this one.
      const times = group.legs.some(({ parts }) => parts.some((part) => part.txnId === txnId)) ? 1 : 0
      this.demand(
        named.length === times && named.every(({ txnId: by }) => by === compensatedBy),
        `I8: ${group.id} names ${named.length} compensations of ${txnId}`,
      )
    }
    this.released(group)
  }

  /** The clients' transactions as legs, and the ledger's credits for them. */
  private legTransactions({ id }: GroupState) {
    return this.transactions
      .ofGroup(id)
      .filter(({ transaction: { payload, origin, compensates } }) =>
        origin === 'client' ? payload.includes('"terms_hash"') : compensates === null,
      )
  }

  private released({ id, status }: GroupState): void {
    for (const at of this.funds.legHolders(id)) this.demand(false, `I8: ${id} is ${status} and ${at} still holds a leg`)
    for (const key of this.histories.keys()) {
      const state = this.latest(key)
      if (state?.kind !== 'token' && state?.kind !== 'instance') continue
      const legs = state.kind === 'token' ? Object.keys(state.held) : legsOf(state)
      const held = legs.some((leg) => leg.startsWith(id))
      this.demand(!held, `I8: ${id} is ${status} and ${key} still holds a leg`)
    }
  }
}

/** The group of an NFT's hold. */
function legsOf({ hold }: InstanceState): readonly string[] {
  return [hold?.leg?.groupId ?? '']
}

function isRegisteredAgain(before: ActorState | null, after: ActorState | null): boolean {
  if (before === null || after === null || !('createdAtMs' in before) || !('createdAtMs' in after)) return false
  return before.createdAtMs !== after.createdAtMs
}

function isFinished(state: ActorState): boolean {
  switch (state.kind) {
    case 'group':
      if (state.status === 'linked') {
        return Object.values(state.compensationsAsked).every(({ state: asked }) => asked !== 'asked')
      }
      return state.status === 'settled' || state.status === 'reverted'
    case 'token':
      return state.status === 'active' && Object.keys(state.held).length === 0
    case 'class':
      return state.status === 'active'
    case 'hold':
      return state.status !== 'active'
    case 'instance':
      return !isHeld(state) && state.hold === null
    // An exchange may still contain expired offers.
    case 'exchange':
      return state.offers.length === 0 && (state.pairs ?? []).length === 0
  }
}
