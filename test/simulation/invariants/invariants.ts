/**
 * Invariants of the ledger after every commit, checked when the commit is applied, from the written rows alone: I1 to
 * I8. The clients' answers are checked in clients.ts.
 */
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import type { ActorWrite, ShardBatch } from '../../../runtime/ports/ledger-store.ts'
import { actorKey, addressOf } from '../../support/reference-encoding.ts'
import { AccountReplay, type ReplaySettings } from './accounts.ts'
import { arrivalIn } from './accounts-portage.ts'
import { ActorChecker } from './actors.ts'
import { FundsChecker } from './funds.ts'
import { PaymentHoldChecker } from './payment-holds.ts'
import { RefundChecker } from './refunds.ts'
import { type Demand, ReceivedMessages, MessageChecker } from './messages.ts'
import { TransactionChecker, type TransactionSettings } from './transactions.ts'
import type { AccountModel } from '../reference/model.ts'
import type { AppliedCommit, AppliedShard, ShardChange } from '../store/applied.ts'
import type { SimDatabase } from '../store/database.ts'
import { isNftAsset } from '../reference/fields.ts'
import { VALUE_PARTS } from '../store/value.ts'

export type CheckerSettings = ReplaySettings &
  TransactionSettings & {
    /** The shard of an account. */
    readonly homeOf: (accountId: string) => number
  }

export class LedgerChecker {
  readonly violations: string[] = []
  readonly replay: AccountReplay
  readonly actors: ActorChecker
  private readonly database: SimDatabase
  private readonly messages: MessageChecker
  private readonly transactions: TransactionChecker
  private readonly refunds: RefundChecker
  private readonly funds: FundsChecker
  private readonly paymentHolds: PaymentHoldChecker
  private readonly homeOf: (accountId: string) => number
  /** The token that wrote each (account, version). */
  private readonly versions = new Map<string, string>()
  /** The epoch in which an actor's timer was set. */
  private readonly dueSetIn = new Map<string, number>()

  constructor(database: SimDatabase, settings: CheckerSettings) {
    const demand: Demand = (holds, broken) => this.demand(holds, broken)
    const { now } = database.kernel
    this.database = database
    this.messages = new MessageChecker(demand)
    this.transactions = new TransactionChecker(demand, settings)
    this.refunds = new RefundChecker(demand, this.transactions.known, () => database.kernel.wallMs())
    this.funds = new FundsChecker(demand, database.rows)
    const paymentHolds = new PaymentHoldChecker(demand, database.kernel)
    this.paymentHolds = paymentHolds
    const facts = {
      token: (tokenId: string) => this.actors.token(tokenId),
      nftClass: (classId: string) => this.actors.nfts.nftClass(classId),
      mintedSince: (nftId: string) => this.actors.nfts.mintedSince(nftId),
      hold: (holdId: string) => paymentHolds.opened(holdId),
      endOfHold: (holdId: string, byMs: number) => paymentHolds.ended(holdId, byMs),
      usedThere: (importId: string, accountId: string) => settings.imports.usedThere(importId, accountId),
      openSince: (accountId: string) =>
        this.replay.accounts.get(addressOf({ shardId: settings.homeOf(accountId), accountId }))?.states[0]?.fromMs,
    }
    this.replay = new AccountReplay(demand, now, settings, facts, { funds: this.funds, paymentHolds })
    const { transactions, funds } = this
    this.actors = new ActorChecker(demand, now, {
      transactions,
      funds,
      paymentHolds,
      arrivals: this.replay.portage.arrivals,
    })
    this.homeOf = settings.homeOf
    database.onApplied((applied) => this.commit(applied))
    database.shards.onChange((change) => this.shardChange(change))
  }

  account(shardId: number, accountId: string): AccountModel {
    return this.replay.account(shardId, accountId)
  }

  demand(holds: boolean, violation: string): void {
    if (!holds) this.violations.push(`at ${this.database.kernel.now()} ms: ${violation}`)
  }

  /** Counts of work that has begun and not ended; empty when everything is at rest (I2, I8, I11). */
  unfinished(): readonly string[] {
    const counts: readonly (readonly [number, string])[] = [
      [this.transactions.pending(), 'transactions pending'],
      [this.messages.waiting(), 'messages not accepted'],
      [this.funds.open(), 'holds'],
    ]
    const left = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
    return [...left, ...this.actors.unfinished()]
  }

  atEnd(): void {
    const { rows, brokenWrites, kernel } = this.database
    this.demand(brokenWrites.length === 0, `I1b: refused writes: ${brokenWrites.join('; ')}`)
    this.transactions.atEnd()
    this.paymentHolds.atEnd()
    this.actors.nfts.atEnd(rows.accounts.values())
    const lives = (accountId: string) => rows.accounts.has(addressOf({ shardId: this.homeOf(accountId), accountId }))
    this.replay.portage.arrivals.atEnd(lives)
    this.valueAtEnd()
    for (const { transaction } of rows.transactions.values()) {
      const { type, status, failure, origin, toAccountId, receive, compensates, refunds, holdId } = transaction
      const which = receive !== null || toAccountId !== null ? ' to another' : ''
      const what = isNftAsset(transaction.tokenId) ? ' of an NFT' : ''
      kernel.count(`ended:${origin} ${type}${what}${which} ${failure?.code ?? status}`)
      if (compensates !== null) kernel.count(`ended:compensation ${status}`)
      if (holdId !== undefined && origin === 'client') kernel.count(`ended:capture ${failure?.code ?? status}`)
      if (refunds !== null && origin === 'client') kernel.count(`ended:refund ${failure?.code ?? status}`)
    }
    for (const { state } of rows.actors.all()) {
      if (state.kind === 'exchange') continue
      kernel.count(`ended:${state.kind} ${state.status}`)
      if (state.kind !== 'group') continue
      for (const { code } of state.partialFailures) kernel.count(`ended:partial failure ${code}`)
    }
  }

  /** At rest no value is reserved, promised, held or in transit. */
  private valueAtEnd(): void {
    const { rows } = this.database
    for (const [tokenId, { held, carried }] of rows.value.assets())
      this.demand(held === 0n && carried === 0n, `I4: of ${tokenId} ${held} are held and ${carried} carried for ever`)
    for (const [at, balances] of rows.balances) {
      for (const [tokenId, { reserved, incoming, room }] of balances) {
        const rests = reserved === 0n && incoming === 0n && room === 0n
        this.demand(rests, `I5: ${at}: some of its ${tokenId} stays reserved, incoming or kept free for ever`)
      }
    }
    const unconsumed = rows.channels.unconsumed()
    this.demand(unconsumed.length === 0, `I3: ${unconsumed.length} messages were never accepted`)
  }

  private commit({ session, nodeId, shards }: AppliedCommit): void {
    const heard = new Map(shards.map(({ batch }) => [batch, this.messages.takenIn(batch)]))
    for (const applied of shards) {
      this.fence(applied, session, nodeId)
      this.messages.sent(applied.batch)
      this.shard(applied, session, heard.get(applied.batch) ?? new ReceivedMessages())
    }
    const off = this.database.rows.value.unbalanced()
    if (off.size > 0) this.demand(false, `I4: after a commit of ${nodeId} value is off in ${this.whatIsOff(off)}`)
  }

  private whatIsOff(off: ReadonlySet<string>): string {
    return [...off]
      .map((tokenId) => {
        const value = this.database.rows.value.of(tokenId)
        return `${tokenId} (${VALUE_PARTS.map((part) => `${part} ${value[part]}`).join(', ')})`
      })
      .join(', ')
  }

  /** I1: when the commit took effect, the session owned the shard in this epoch and attempt. */
  private fence({ batch, row }: AppliedShard, session: string, nodeId: string): void {
    const { shardId, epoch, attempt } = batch.token
    const rightful = row.epoch === epoch && row.attempt === attempt && row.session === session
    const owner = `${row.session ?? 'no session'} in ${row.epoch}.${row.attempt}`
    this.demand(rightful, `I1: ${nodeId} wrote shard ${shardId} in ${epoch}.${attempt}, which is ${owner}`)
  }

  private shardChange({ shardId, before, after }: ShardChange): void {
    const grows = after.epoch > before.epoch || (after.epoch === before.epoch && after.attempt > before.attempt)
    this.demand(
      grows,
      `I1: shard ${shardId} went from ${before.epoch}.${before.attempt} to ${after.epoch}.${after.attempt}`,
    )
  }

  private shard({ batch }: AppliedShard, session: string, heard: ReceivedMessages): void {
    const { shardId, epoch, attempt } = batch.token
    const token = `${session} ${epoch}.${attempt}`
    this.transactions.commit(batch, heard)
    this.refunds.commit(batch)
    this.replay.portage.arrivals.commit(batch, (accountId) =>
      arrivalIn(this.funds.holdsOf(addressOf({ shardId, accountId }))),
    )
    const finished = this.finishedIn(batch)
    for (const { account, previousVersion } of batch.accounts) {
      const { accountId } = account
      const at = addressOf({ shardId, accountId })
      this.demand(account.version > previousVersion, `I1b: ${at}: version ${account.version} on ${previousVersion}`)
      for (let version = previousVersion + 1; version <= account.version; version += 1) {
        const writer = this.versions.get(`${at} ${version}`)
        this.demand(writer === undefined, `I1b: ${at}: version ${version} written by ${writer} and by ${token}`)
        this.versions.set(`${at} ${version}`, token)
      }
      const ofAccount = finished.filter((one) => one.accountId === accountId)
      this.replay.commit(accountId, batch, heard.of('account', accountId), ofAccount)
    }
    this.actors.nfts.events(batch.nftEvents)
    for (const write of batch.actors) {
      this.dueAfterMove(write, epoch)
      this.actors.commit(write, this.database.rows.actors.state({ shardId, address: write.address }) ?? null)
    }
    this.unwritten(batch, finished)
  }

  /** Counts due timers found by another owner than the one that set them. */
  private dueAfterMove({ address, state }: ActorWrite, epoch: number): void {
    const { kernel } = this.database
    const key = actorKey(address)
    const before = this.actors.latest(key)
    const dueAtMs = before?.dueAtMs ?? null
    const wasDue = dueAtMs !== null && dueAtMs <= kernel.wallMs() && (state?.dueAtMs ?? null) !== dueAtMs
    if (wasDue) kernel.count(this.dueSetIn.get(key) === epoch ? 'due:found' : 'due:found_after_move')
    if (dueAtMs === null && state !== null) this.dueSetIn.set(key, epoch)
  }

  private finishedIn({ transactionChanges }: ShardBatch): readonly TransactionRecord[] {
    return transactionChanges.map(({ finished }) => finished?.transaction).filter((one) => one !== undefined)
  }

  private unwritten(batch: ShardBatch, finished: readonly TransactionRecord[]): void {
    const written = new Set(batch.accounts.map(({ account }) => account.accountId))
    const facts = [...batch.entries, ...batch.transactions.map(({ transaction }) => transaction), ...finished]
    const unwritten = [...facts, ...batch.balances, ...batch.holds, ...batch.removedHolds].find(
      ({ accountId }) => !written.has(accountId),
    )
    this.demand(unwritten === undefined, `I1b: facts of ${unwritten?.accountId} without its account`)
  }
}
