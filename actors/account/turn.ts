/**
 * One command's work on one account. Changes accumulate and become the next state and its effects, or nothing.
 *   A1. available = balance - reserved. Neither is ever negative, nor are incoming, room and the number of NFTs.
 *   A2. balance + incoming + room never exceeds 18+18 digits.
 *   A3. A completed transaction is one chain entry; a failed one has none, but is counted.
 *   A4. Time within an account never goes back.
 */
import type { ActorAddress } from '../address.ts'
import { appendEntry, type AuditEntry, type EntryFields } from '../audit-chain.ts'
import type { CarriedValue, ExchangeSide, Message, Stamp } from '../message.ts'
import type { ActorAnswer } from '../define-actor.ts'
import { LARGEST, parseQuantity, type Quantity, ZERO } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import { type Balances, isSlot } from './balances.ts'
import type { Holds } from './holds.ts'
import { type Effect, sent } from './outcome.ts'
import { type AccountData, type Balance, type Hold, holdId, NOTHING_HELD } from './state.ts'

/** The most assets that an account may hold or be promised. */
export const MAX_ASSETS = 10_000

export interface AccountChange {
  readonly data: AccountData
  readonly effects: readonly Effect[]
  readonly answer?: ActorAnswer
}

/** Amounts to add to each part of a balance; negative ones are subtracted. */
export type BalanceChange = { readonly [Part in 'balance' | 'reserved' | 'incoming' | 'room']?: Quantity }

export class Turn {
  readonly before: AccountData
  readonly stamp: Stamp
  /** The processing time of everything in this turn. */
  readonly timeMs: number
  private readonly effects: Effect[] = []
  private balances: Balances
  private holds: Holds
  private sequence: number
  private tip: string
  private updatedAtMs: number
  private nftCount: number
  private nftRoom: number
  private completed = 0
  private failed = 0

  constructor(account: AccountData, stamp: Stamp) {
    this.before = account
    this.stamp = stamp
    this.timeMs = Math.max(stamp.atMs, account.lastTimeMs)
    this.balances = account.balances
    this.holds = account.holds
    this.sequence = account.sequence
    this.tip = account.tip
    this.updatedAtMs = account.updatedAtMs
    this.nftCount = account.nftCount
    this.nftRoom = account.nftRoom
  }

  balance(tokenId: string): Balance {
    return this.balances.get(tokenId) ?? NOTHING_HELD
  }

  hold(id: string): Hold | undefined {
    return this.holds.get(id)
  }

  /** The reason why the account cannot take this amount more of an asset; undefined if it can. */
  lacksRoom(tokenId: string, amount: Quantity): 'balance_limit' | 'asset_limit' | undefined {
    if (!isNft(tokenId)) {
      const held = this.balance(tokenId)
      if (promised(held) + amount > LARGEST) return 'balance_limit'
      if (isSlot(held)) return undefined
    }
    const slots = this.balances.slots + this.nftCount + this.nftRoom
    return slots < MAX_ASSETS ? undefined : 'asset_limit'
  }

  /**
   * Adds to the NFTs owned and to the places reserved. An NFT may be sent on before the account has handled its
   * receipt;
   * `nftCount` is then negative while the place is still reserved.
   */
  changeNfts({ owned = 0, promised = 0 }: { readonly owned?: number; readonly promised?: number }): void {
    this.nftCount += owned
    this.nftRoom += promised
    invariant(
      this.nftRoom >= 0 && this.nftCount + this.nftRoom >= 0,
      'A1: an account would lose an NFT that it does not have',
    )
  }

  keepRoom({ tokenId, amount }: ExchangeSide): void {
    if (isNft(tokenId)) this.changeNfts({ promised: 1 })
    else this.change(tokenId, { room: parseQuantity(amount) })
  }

  freeRoom({ tokenId, amount }: ExchangeSide): void {
    if (isNft(tokenId)) this.changeNfts({ promised: -1 })
    else this.change(tokenId, { room: -parseQuantity(amount) })
  }

  fillRoom({ tokenId, amount }: ExchangeSide): void {
    const quantity = parseQuantity(amount)
    if (isNft(tokenId)) this.changeNfts({ owned: 1, promised: -1 })
    else this.change(tokenId, { balance: quantity, room: -quantity })
  }

  /** A change of room alone is no movement: it does not make the account a holder of the asset. */
  change(tokenId: string, { balance = ZERO, reserved = ZERO, incoming = ZERO, room = ZERO }: BalanceChange): void {
    const held = this.balance(tokenId)
    const moved = balance !== 0n || reserved !== 0n || incoming !== 0n
    const next: Balance = {
      balance: held.balance + balance,
      reserved: held.reserved + reserved,
      incoming: held.incoming + incoming,
      room: held.room + room,
      updatedAtMs: moved ? this.timeMs : held.updatedAtMs,
    }
    invariant(
      next.reserved >= 0n && next.balance >= next.reserved,
      'A1: an account would be left with less than it has reserved',
    )
    invariant(next.incoming >= 0n && next.room >= 0n, 'A1: an account would release room that it did not reserve')
    invariant(promised(next) <= LARGEST, 'A2: an account would be left with more than 18 integer digits')
    this.balances = this.balances.with(tokenId, next)
    this.effects.push({ kind: 'balance_changed', tokenId })
  }

  keep(hold: Hold): void {
    const id = holdId(hold)
    this.holds = this.holds.with(id, hold)
    this.effects.push({ kind: 'hold_changed', holdId: id })
  }

  letGo(hold: Hold): void {
    const id = holdId(hold)
    this.holds = this.holds.without(id)
    this.effects.push({ kind: 'hold_changed', holdId: id })
  }

  /** Appends to the chain. `fieldsAt` builds the payload for its sequence number. */
  enter(fieldsAt: (sequence: number) => EntryFields): AuditEntry {
    this.sequence += 1
    const entry = appendEntry(this.tip, fieldsAt(this.sequence))
    this.tip = entry.auditHash
    this.updatedAtMs = this.timeMs
    this.effects.push({ kind: 'entry_appended', entry })
    return entry
  }

  count(status: 'completed' | 'failed'): void {
    if (status === 'completed') this.completed += 1
    else this.failed += 1
  }

  note(effect: Effect): void {
    this.effects.push(effect)
  }

  send(to: ActorAddress, message: Message, carries: readonly CarriedValue[] = []): void {
    this.effects.push(sent(to, message, carries))
  }

  done(
    changes: Partial<
      Pick<AccountData, 'key' | 'incoming' | 'paused' | 'registeredBy' | 'arrived' | 'moved' | 'issues'>
    > = {},
  ): AccountChange {
    const { before } = this
    return {
      data: {
        ...before,
        ...changes,
        version: before.version + 1,
        sequence: this.sequence,
        tip: this.tip,
        balances: this.balances,
        holds: this.holds,
        nftCount: this.nftCount,
        nftRoom: this.nftRoom,
        completedCount: before.completedCount + this.completed,
        failedCount: before.failedCount + this.failed,
        updatedAtMs: this.updatedAtMs,
        lastTimeMs: this.timeMs,
      },
      effects: this.effects,
    }
  }
}

/** Present and promised value, which A2 bounds. */
function promised({ balance, incoming, room }: Balance): Quantity {
  return balance + incoming + room
}
