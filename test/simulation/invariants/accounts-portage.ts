/** Checks an account's commits for its arrival from another ledger, its departure and its erasure (A1 to A4). */
import type { AccountState, ArrivalHold, Hold } from '../../../actors/account/state.ts'
import type { TransactionRecord } from '../../../actors/account/transaction.ts'
import type { Chained, EntryFields, Part } from './accounts-part.ts'
import { ArrivalChecker } from './arrivals.ts'
import type { FundsChecker } from './funds.ts'
import { isEqual } from './rows-equal.ts'
import type { Demand } from './messages.ts'
import { unitsOf } from '../reference/fields.ts'
import { type Holdings, NO_FUNDS } from '../reference/funds.ts'
import type { ImportBook } from '../reference/imports.ts'
import type { ModelState } from '../reference/model.ts'

type Moves = ReadonlyMap<string, bigint>

export function arrivalIn(holds: readonly Hold[]): ArrivalHold | undefined {
  return holds.find((hold) => hold.kind === 'arrival')
}

/** The model's form of the account's import hold, origin and destination. */
export function portageOf(
  account: AccountState | undefined,
  hold: ArrivalHold | undefined,
): Pick<ModelState, 'held' | 'origin' | 'moved' | 'registeredBy'> {
  const { arrived, moved } = account ?? {}
  return {
    held: hold === undefined ? null : { ...hold.from, keyParts: hold.keyParts },
    origin: arrived === undefined ? null : { ...arrived, whole: arrived.keySalt !== null },
    moved: moved?.audience ?? null,
    registeredBy: account?.registeredBy ?? '',
  }
}

/** The account's state after taking its held arrival; undefined if the entry says otherwise. */
export function arrivedState(before: ModelState, hold: ArrivalHold | undefined, fields: EntryFields) {
  if (hold === undefined || hold.from.importId !== fields['import_id']) return undefined
  const { from, account } = hold
  const isSame =
    isEqual(fields['balances'], account.balances) &&
    fields['nfts'] === account.nfts &&
    fields['key_id'] === (account.key?.keyId ?? null) &&
    fields['ledger_id'] === from.ledgerId &&
    fields['record_hash'] === from.recordHash
  if (!isSame || before.keyId !== '') return undefined
  const { key, incoming } = account
  return {
    keyId: key?.keyId ?? '',
    publicKey: key?.publicKey ?? '',
    incoming: before.incoming === 'refuse' ? ('refuse' as const) : incoming,
    status: fields['status'] as ModelState['status'],
    held: null,
    origin: { ...from, whole: true },
  }
}

/** An account frozen meanwhile stays frozen; a closed account holds nothing. */
export function isFitStatus(before: ModelState, { account }: ArrivalHold, status: string): boolean {
  if (account.status === 'active') return status === before.status
  return status === account.status || (account.status === 'closed' && status === 'frozen')
}

export function amountsOf(balances: { readonly [tokenId: string]: string }): Moves {
  return new Map(Object.entries(balances).map(([tokenId, amount]) => [tokenId, unitsOf(amount)]))
}

/** Turns the room kept for the arrival into value. */
export function holdingsAfterArrival(
  before: Holdings,
  held: { readonly before: ArrivalHold | undefined; readonly after: ArrivalHold | undefined },
  arrived: Moves,
): Holdings {
  if (held.before === held.after && arrived.size === 0) return before
  const after = new Map(before)
  const add = (moves: Moves, part: 'room' | 'balance', sign: bigint): void => {
    for (const [tokenId, units] of moves) {
      const funds = after.get(tokenId) ?? NO_FUNDS
      after.set(tokenId, { ...funds, [part]: funds[part] + sign * units })
    }
  }
  add(amountsOf(held.before?.account.balances ?? {}), 'room', -1n)
  add(amountsOf(held.after?.account.balances ?? {}), 'room', 1n)
  add(arrived, 'balance', 1n)
  return after
}

export function holdingsAfterDeparture(before: Holdings, { tokenId, amount }: TransactionRecord): Holdings {
  const funds = before.get(tokenId) ?? NO_FUNDS
  return new Map([...before, [tokenId, { ...funds, balance: funds.balance - unitsOf(amount) }]])
}

/** The destination ledger of a departing transaction; undefined for any other transaction. */
export function audienceOf({ origin, type, idempotencyKey, metadata }: TransactionRecord): string | undefined {
  if (origin !== 'ledger' || type !== 'debit' || !idempotencyKey.startsWith('§moved ')) return undefined
  const audience = metadata?.['ledger_id']
  return typeof audience === 'string' ? audience : ''
}

/** A4: departed amounts, by account and token. */
export class Departures {
  private readonly sums = new Map<string, Map<string, bigint>>()
  private readonly demand: Demand
  private readonly book: ImportBook

  constructor(demand: Demand, book: ImportBook) {
    this.demand = demand
    this.book = book
  }

  left(at: string, transaction: TransactionRecord, status: string, shown: EntryFields[string] | undefined): void {
    const { accountId, tokenId, amount, txnId } = transaction
    const audience = audienceOf(transaction)
    if (audience === undefined) return
    this.demand(status === 'frozen', `A4: ${at}: ${txnId} leaves, and the account is ${status}`)
    this.demand(this.book.wasToDepart(accountId, audience, tokenId), `A4: ${at}: no order exists for ${txnId} to leave`)
    this.demand(shown === '0', `A4: ${at}: ${shown} of ${tokenId} stay behind`)
    const sums = this.sums.get(at) ?? new Map<string, bigint>()
    this.sums.set(at, sums.set(tokenId, (sums.get(tokenId) ?? 0n) + unitsOf(amount)))
  }

  closes(at: string, accountId: string, before: ModelState, audience: string): void {
    const isOrdered = this.book.wasToDepart(accountId, audience, null) && before.status === 'frozen'
    this.demand(isOrdered, `A4: ${at}: goes to ${audience}, and was ${before.status}`)
  }

  /** The account's stored departures must equal the transactions that left. */
  compare(at: string, account: AccountState | undefined): void {
    if (account === undefined || account.status === 'erased') return
    const sums = this.sums.get(at)
    if (sums === undefined && account.moved === undefined) return
    const same = isEqual(amountsOf(account.moved?.balances ?? {}), sums ?? new Map())
    this.demand(same, `A4: ${at}: the record of departed value is wrong`)
  }
}

export class AccountPortage {
  readonly arrivals: ArrivalChecker
  readonly departures: Departures
  private readonly demand: Demand
  private readonly book: ImportBook
  private readonly funds: FundsChecker
  private readonly held = new Map<string, ArrivalHold>()

  constructor(demand: Demand, book: ImportBook, funds: FundsChecker) {
    this.arrivals = new ArrivalChecker(demand, book)
    this.departures = new Departures(demand, book)
    this.demand = demand
    this.book = book
    this.funds = funds
  }

  /** Call after the holds of the commit have been applied. */
  heldBy(at: string): Part['held'] {
    return { before: this.held.get(at), after: arrivalIn(this.funds.holdsOf(at)) }
  }

  /** The account takes its held arrival, once. */
  arrives(
    { at, model, held, taken, arrived }: Part,
    before: ModelState,
    fields: EntryFields,
    chained: Chained,
    values: Map<string, bigint>,
  ): void {
    const state = arrivedState(before, held.before, fields)
    const isFit = state !== undefined && held.before !== undefined && isFitStatus(before, held.before, state.status)
    this.demand(isFit, `A1: ${at}: entry ${chained.sequence} takes an arrival that was not held, or differs from it`)
    if (state === undefined || held.before === undefined) return
    taken.push(held.before.from.importId)
    for (const [tokenId, units] of amountsOf(held.before.account.balances)) {
      values.set(tokenId, (values.get(tokenId) ?? this.funds.valueOf(at, tokenId)) + units)
      arrived.set(tokenId, (arrived.get(tokenId) ?? 0n) + units)
    }
    model.states.push({ ...before, ...chained, ...state, occupied: 'perhaps' })
  }

  isErased({ at, accountId, model, batch }: Part, before: ModelState, fields: EntryFields, chained: Chained): void {
    const isOrdered = this.book.wasToBeErased(accountId, String(fields['reason']))
    const isDone = batch.erased.includes(accountId) && before.status === 'closed'
    this.demand(isOrdered && isDone, `A3: ${at}: is erased, was ${before.status}, and ${isOrdered ? '' : 'not '}to be`)
    const nothing = { publicKey: '', keyId: '', held: null, origin: null, moved: null, paused: false } as const
    model.states.push({ ...before, ...chained, ...nothing, status: 'erased' })
  }

  end({ at, accountId, batch, held, taken, arrived }: Part): void {
    this.arrivals.account(accountId, held.before, held.after, taken)
    const account = batch.accounts.find((write) => write.account.accountId === accountId)?.account
    if (account !== undefined) this.arrivals.belongs(account)
    if (taken.length > 0 && account?.status !== 'erased') {
      const isKept = account?.arrived?.keySalt === held.before?.account.keySalt
      this.demand(isKept, `A2: ${at}: the record of its keys' use elsewhere is incomplete`)
    }
    if (held.after === undefined) this.held.delete(at)
    else this.held.set(at, held.after)
    for (const [tokenId, units] of arrived) this.funds.arrived(at, tokenId, units)
    this.departures.compare(at, account)
  }
}
