/**
 * One digest over an account's balances and holds, which have rows of their own. The account's sealed document has it.
 *   P1. A part that was put back to an earlier state, deleted or copied from elsewhere changes the digest. The fingerprints
 *       are keyed, so without the key no parts can be chosen whose fingerprints cancel out.
 *   P2. The digest is the exclusive or of all fingerprints. A commit computes it from the previous digest and the
 *       fingerprints of the changed parts, before and after.
 */
import type { Balance, Hold, PendingHold } from '../../../actors/account/state.ts'
import type { Transaction } from '../../../actors/account/transaction.ts'
import { formatQuantity, type Quantity, readQuantity } from '../../../actors/money.ts'
import type { AccountChange } from '../../../runtime/ports/ledger-store.ts'
import type { KeyName } from '../../vault/key-name.ts'
import { firstStringIn } from '../../vault/open-json.ts'
import type { Fingerprints, MadeKeys, RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import type { DataKey } from '../../vault/sealed-text.ts'

/** As it is sealed, JSON: balance, reserved, incoming, room, time of the last change. */
export function balanceText(balance: Balance): string {
  const [held, reserved] = [formatQuantity(balance.balance), formatQuantity(balance.reserved)]
  const [incoming, room] = [formatQuantity(balance.incoming), formatQuantity(balance.room)]
  return `["${held}","${reserved}","${incoming}","${room}",${balance.updatedAtMs}]`
}

/** Of a balance as it is sealed, without the rest. Throws UnreadableRow. */
export function balanceIn(text: string): string {
  const balance = firstStringIn(text)
  if (balance === undefined) throw new UnreadableRow('balances', 'it does not begin with a quantity')
  return balance
}

/** Throws UnreadableRow. */
export function balanceFrom(text: string): Balance {
  const [balance, reserved, incoming, room, updatedAtMs] = JSON.parse(text) as [string, string, string, string, number]
  return {
    balance: sealedQuantity(balance),
    reserved: sealedQuantity(reserved),
    incoming: sealedQuantity(incoming),
    room: sealedQuantity(room),
    updatedAtMs,
  }
}

function sealedQuantity(text: string): Quantity {
  const quantity = readQuantity(text)
  if (quantity === undefined) throw new UnreadableRow('balances', 'a part of it is no quantity')
  return quantity
}

const MINT = 'mint '

/** The ID of a hold in its row: a client's idempotency key in it is replaced by a keyed hash. */
export function holdRefOf(vault: RowVault, accountId: string, holdId: string): string {
  return holdId.startsWith(MINT) ? MINT + vault.keyRef(accountId, holdId.slice(MINT.length)) : holdId
}

/** The part of a hold that its transaction does not say; null for most holds, which only reserve the amount. */
export function pendingHoldText(hold: PendingHold): string | null {
  const { reserves, room, reportsOn, nft } = hold
  return reserves && room === null && reportsOn === null && nft === undefined
    ? null
    : JSON.stringify([reserves, room, reportsOn, nft ?? null])
}

/** Of the transaction and `pendingHoldText` of its hold. */
export function pendingHoldFrom(transaction: Transaction, text: string | null): PendingHold {
  const [reserves, room, reportsOn, nft] = text === null ? PLAIN : (JSON.parse(text) as PendingParts)
  return { kind: 'pending', transaction, reserves, room, reportsOn, ...(nft === null ? undefined : { nft }) }
}

type PendingParts = readonly [
  reserves: boolean,
  room: PendingHold['room'],
  reportsOn: PendingHold['reportsOn'],
  nft: NonNullable<PendingHold['nft']> | null,
]

const PLAIN: PendingParts = [true, null, null, null]

/** Whether a row of `all_holds` is of a pending transaction: it goes with the transaction's row. */
export function isOfTransaction(holdRef: string): boolean {
  return holdRef.startsWith('txn_')
}

/** As the digest binds it: a transaction has one row while it is pending, and its ID says which. */
function holdText(hold: Hold): string {
  return hold.kind === 'pending' ? (pendingHoldText(hold) ?? '') : JSON.stringify(hold)
}

const PRINT_BYTES = 32

/**
 * Of an account with no more parts, all are fingerprinted each time, about 2 µs each: to remember a digest for each
 * account in memory would cost more.
 */
const FEW_PARTS = 4

export interface AccountParts {
  readonly balances: ReadonlyMap<string, Balance>
  readonly holds: ReadonlyMap<string, Hold>
}

interface RememberedDigest {
  readonly key: DataKey
  readonly sum: Buffer
}

/** P2. Of states with many parts. A state that was not committed is forgotten with its digest. */
const digests = new WeakMap<AccountParts, RememberedDigest>()

/**
 * In hexadecimal digits. `since`: an earlier state, and the parts that have changed
 * since; without it, or where nothing is remembered of that state under the account's key, all parts are fingerprinted.
 */
export function partsDigest(
  account: AccountParts,
  vault: RowVault,
  name: KeyName,
  made?: MadeKeys,
  since?: AccountChange,
): string {
  const prints = vault.fingerprints(name, made)
  if (account.balances.size + account.holds.size <= FEW_PARTS) return wholeSum(account, prints).toString('hex')
  const sum = changedSum(account, prints, since) ?? wholeSum(account, prints)
  digests.set(account, { key: prints.key, sum })
  return sum.toString('hex')
}

function wholeSum(account: AccountParts, prints: Fingerprints): Buffer {
  const sum = Buffer.alloc(PRINT_BYTES)
  for (const [tokenId, balance] of account.balances) addTo(sum, printOfBalance(prints, tokenId, balance))
  for (const [holdId, hold] of account.holds) addTo(sum, printOfHold(prints, holdId, hold))
  return sum
}

/** P2. Undefined where the digest of the earlier state is not known. */
function changedSum(account: AccountParts, prints: Fingerprints, since: AccountChange | undefined): Buffer | undefined {
  if (since === undefined) return undefined
  const { previous, tokenIds, holdIds } = since
  const known = digests.get(previous)
  if (known === undefined || !known.key.equals(prints.key)) return undefined
  const sum = Buffer.from(known.sum)
  for (const tokenId of tokenIds) {
    const [before, after] = [previous.balances.get(tokenId), account.balances.get(tokenId)]
    if (before !== undefined) addTo(sum, printOfBalance(prints, tokenId, before))
    if (after !== undefined) addTo(sum, printOfBalance(prints, tokenId, after))
  }
  for (const holdId of holdIds) {
    const [before, after] = [previous.holds.get(holdId), account.holds.get(holdId)]
    if (before !== undefined) addTo(sum, printOfHold(prints, holdId, before))
    if (after !== undefined) addTo(sum, printOfHold(prints, holdId, after))
  }
  return sum
}

function printOfBalance(prints: Fingerprints, tokenId: string, balance: Balance): Uint8Array {
  return prints.of(`balance ${tokenId} ${balanceText(balance)}`)
}

function printOfHold(prints: Fingerprints, holdId: string, hold: Hold): Uint8Array {
  return prints.of(`hold ${holdId} ${holdText(hold)}`)
}

/** A part as it is sealed: `balance` and its token, or `hold` and its ID. */
export type PartText = readonly [kind: 'balance' | 'hold', id: string, text: string]

/** What `partsDigest` gives of an account with these parts, without reading them. */
export function digestOfTexts(parts: readonly PartText[], vault: RowVault, name: KeyName): string {
  const prints = vault.fingerprints(name)
  const sum = Buffer.alloc(PRINT_BYTES)
  const seen = new Set<string>()
  for (const [kind, id, text] of parts) {
    const part = `${kind} ${id}`
    // Two that are equal would cancel each other out.
    if (seen.has(part)) throw new UnreadableRow(part, 'it is there twice')
    seen.add(part)
    addTo(sum, prints.of(`${part} ${text}`))
  }
  return sum.toString('hex')
}

/** To add a fingerprint again takes it away. */
function addTo(sum: Buffer, print: Uint8Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) ^ (print[index] ?? 0)
}
