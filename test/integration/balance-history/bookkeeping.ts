/**
 * Random orders on a real ledger, beside books that are kept in BigInt. Every order has enough funds, so that the books
 * follow from the orders alone.
 */
import { randomUUID } from 'node:crypto'
import { createLedgerReads, type PostgresLedgerReads } from '../../../infra/postgres/reads/ledger-reads-postgres.ts'
import { type AuditedLedger, createAuditedLedger, Parties, type Party } from '../../support/audited-ledger.ts'
import type { Members } from '../../support/client/client-keys.ts'
import { homeOf, shardOf } from '../../contract/ledger-reads/ledger-reads-postgres-subject.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { createSeededRandom, type SeededRandom } from '../../simulation/kernel/sim-random.ts'

/** Fractional digits by asset. */
export const DIGITS = { BASE: 18, GOLD: 2, SILVER: 2 } as const
export type Asset = keyof typeof DIGITS

/** Units by account and asset, as `party-0 GOLD`. */
export type Books = ReadonlyMap<string, bigint>

export interface Bookmark {
  /** After everything before the bookmark, and before everything behind it; milliseconds since 1970. */
  readonly atMs: number
  readonly books: Books
}

export interface AuditedBooks {
  readonly ledger: AuditedLedger
  readonly reads: PostgresLedgerReads
  readonly accountIds: readonly string[]
  readonly bookmarks: readonly Bookmark[]
  readonly close: () => Promise<void>
}

/** Minimal form of a quantity in units of the asset. */
export function decimalOf(units: bigint, asset: Asset): string {
  const digits = DIGITS[asset]
  const text = units.toString().padStart(digits + 1, '0')
  const fraction = text.slice(-digits).replace(/0+$/, '')
  return fraction === '' ? text.slice(0, -digits) : `${text.slice(0, -digits)}.${fraction}`
}

export interface KeptOrders {
  /** Operations in total; a group or an exchange is one. */
  readonly total: number
  /** Operations that run beside each other between two bookmarks. */
  readonly perBookmark: number
  readonly seed: number
}

export async function keepBooks({ total, perBookmark, seed }: KeptOrders): Promise<AuditedBooks> {
  const ledger = await createAuditedLedger()
  const { url, ledgerId, vault } = ledger
  const reads = createLedgerReads({ url, ledgerId, shardOf, homeOf, vault })
  const clerk = new Clerk(new Parties(ledger), createSeededRandom(seed))
  await clerk.open()
  const bookmarks: Bookmark[] = []
  for (let done = 0; done < total; done += perBookmark) {
    await clerk.batch(perBookmark)
    bookmarks.push({ atMs: await nextMillisecond(), books: new Map(clerk.books) })
  }
  const close = async (): Promise<void> => {
    await reads.close()
    await ledger.close()
  }
  return { ledger, reads, accountIds: clerk.accountIds(), bookmarks, close }
}

/** One that has passed, with another behind it. */
async function nextMillisecond(): Promise<number> {
  const atMs = Date.now() + 1
  await until(() => Date.now() > atMs + 1)
  return atMs
}

/** Asks again while the ledger is unavailable, or too many legs wait for signatures, as clients do. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (failure) {
      if (!/"kind":"unavailable"|"code":"expectation_limit"/.test(String(failure))) throw failure
    }
  }
}

class Clerk {
  readonly books = new Map<string, bigint>()
  private readonly parties: Parties
  private readonly random: SeededRandom
  private holders: readonly Party[] = []

  constructor(parties: Parties, random: SeededRandom) {
    this.parties = parties
    this.random = random
  }

  accountIds(): readonly string[] {
    return this.holders.map(({ accountId }) => accountId)
  }

  async open(): Promise<void> {
    this.holders = await Promise.all([0, 1, 2, 3].map((index) => this.parties.open(`party-${index}`)))
    for (const token of ['GOLD', 'SILVER'] as const) {
      await this.parties.issue(token, 'party-0', '1000000000')
      this.book('party-0', token, 100_000_000_000n)
    }
    await this.parties.atRest()
    for (const holder of this.holders) {
      await this.send(holder, { type: 'credit', amount: '1000000' })
      this.book(holder.accountId, 'BASE', 10n ** 24n)
      if (holder.accountId === 'party-0') continue
      for (const token of ['GOLD', 'SILVER'] as const) {
        const given = { type: 'transfer', amount: '10000000', token_id: token, to_account_id: holder.accountId }
        await this.send(this.issuer(), given)
        this.move(this.issuer(), holder, token, 1_000_000_000n)
      }
    }
    await this.parties.atRest()
  }

  /** Sends an order until there is an answer: the same key has one effect. */
  private async send(holder: Party, fields: Members): Promise<void> {
    const order = { idempotency_key: randomUUID(), ...fields }
    await answered(() => this.parties.submit(holder, order))
  }

  /** Orders that run beside each other; all of them are final at its end. */
  async batch(operations: number): Promise<void> {
    await Promise.all(Array.from({ length: operations }, () => this.once()))
    await this.parties.atRest()
  }

  private book(accountId: string, asset: Asset, units: bigint): void {
    const name = `${accountId} ${asset}`
    this.books.set(name, (this.books.get(name) ?? 0n) + units)
  }

  private issuer(): Party {
    return this.holder(0)
  }

  private holder(index: number): Party {
    const holder = this.holders[index % this.holders.length]
    if (holder === undefined) throw new Error('there are holders')
    return holder
  }

  private amount(asset: Asset): bigint {
    return BigInt(this.random.integer(10_000) + 1) * (asset === 'BASE' ? 10n ** 9n + 1n : 1n)
  }

  private async once(): Promise<void> {
    const from = this.random.integer(4)
    const [one, other] = [this.holder(from), this.holder(from + 1 + this.random.integer(3))]
    const asset = this.random.chance(0.5) ? 'BASE' : 'GOLD'
    const units = this.amount(asset)
    const value: Members = { amount: decimalOf(units, asset), token_id: asset }
    switch (this.random.integer(8)) {
      case 0:
        this.book(one.accountId, asset, asset === 'BASE' ? units : 0n)
        return void (asset === 'BASE' && (await this.send(one, { type: 'credit', ...value })))
      case 1:
        this.book(one.accountId, asset, -units)
        return this.send(one, { type: 'debit', ...value })
      case 2:
        return this.mintAndBurn(one)
      case 3:
        return this.exchange(one, other)
      case 4:
        return this.group(one, other, true)
      case 5:
        return this.group(one, other, false)
      default:
        this.move(one, other, asset, units)
        return this.send(one, { type: 'transfer', ...value, to_account_id: other.accountId })
    }
  }

  private move(from: Party, to: Party, asset: Asset, units: bigint): void {
    this.book(from.accountId, asset, -units)
    this.book(to.accountId, asset, units)
  }

  private async mintAndBurn(holder: Party): Promise<void> {
    const [minted, burned] = [this.amount('GOLD'), this.amount('GOLD')]
    this.book('party-0', 'GOLD', minted)
    this.book(holder.accountId, 'GOLD', -burned)
    await this.send(this.issuer(), { type: 'mint', amount: decimalOf(minted, 'GOLD'), token_id: 'GOLD' })
    await this.send(holder, { type: 'burn', amount: decimalOf(burned, 'GOLD'), token_id: 'GOLD' })
  }

  private async exchange(one: Party, other: Party): Promise<void> {
    const [gold, silver] = [this.amount('GOLD'), this.amount('SILVER')]
    this.move(one, other, 'GOLD', gold)
    this.move(other, one, 'SILVER', silver)
    const [given, received] = [
      { amount: decimalOf(gold, 'GOLD'), token_id: 'GOLD' },
      { amount: decimalOf(silver, 'SILVER'), token_id: 'SILVER' },
    ]
    const exchange = { type: 'exchange', group_id: randomUUID() }
    const [to, from] = [{ to_account_id: other.accountId }, { to_account_id: one.accountId }]
    await this.send(one, { ...exchange, ...given, ...to, receive: received })
    await this.send(other, { ...exchange, ...received, ...from, receive: given })
  }

  /** With every kind of leg that moves a balance. `settles`: all legs are sent; otherwise the group is reverted. */
  private async group(one: Party, other: Party, settles: boolean): Promise<void> {
    const [base, gold, minted, burned] = [
      this.amount('BASE'),
      this.amount('GOLD'),
      this.amount('GOLD'),
      this.amount('GOLD'),
    ]
    const inGold = (units: bigint) => ({ amount: decimalOf(units, 'GOLD'), token_id: 'GOLD' })
    const inBase = { amount: decimalOf(base, 'BASE'), token_id: 'BASE' }
    const legs: readonly (readonly [Party, Members])[] = [
      [one, { type: 'debit', ...inBase }],
      [other, { type: 'credit', ...inBase }],
      [one, { type: 'transfer', ...inGold(gold), to_account_id: other.accountId }],
      [this.issuer(), { type: 'mint', ...inGold(minted) }],
      [other, { type: 'burn', ...inGold(burned) }],
    ]
    const terms = legs.map(([{ accountId }, leg]) => ({ account_id: accountId, ...leg }))
    const agreed = await answered(() => this.parties.agree(terms))
    for (const [holder, leg] of settles ? legs : legs.slice(0, 4)) await this.send(holder, { ...leg, ...agreed })
    if (!settles) return answered(() => this.parties.revert(String(agreed['group_id'])))
    this.move(one, other, 'BASE', base)
    this.move(one, other, 'GOLD', gold)
    this.book('party-0', 'GOLD', minted)
    this.book(other.accountId, 'GOLD', -burned)
  }
}
