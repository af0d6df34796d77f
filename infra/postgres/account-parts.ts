/**
 * What is an account's beside its own row, balances and holds, as one digest inside the account's sealed document.
 *   P1. A part that was put back to an earlier state, deleted or brought in from elsewhere changes the digest. The
 *       fingerprints are keyed, so nobody who lacks the key can choose parts whose fingerprints cancel out.
 *   P2. States are immutable and share what did not change: of an account with many parts, one that was fingerprinted once
 *       is not again.
 */
import type { AccountState, Balance, Hold } from '../../actors/account/state.ts'
import { formatQuantity, parseQuantity } from '../../actors/money.ts'
import type { KeyName } from '../vault/key-name.ts'
import { firstStringIn } from '../vault/open-json.ts'
import type { Fingerprints, MadeKeys, RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { DataKey } from '../vault/sealed-text.ts'

/** As it is sealed: balance, reserved, incoming, room, time of the last change. */
export function balanceText(balance: Balance): string {
  const quantities = [balance.balance, balance.reserved, balance.incoming, balance.room].map(formatQuantity)
  return JSON.stringify([...quantities, balance.updatedAtMs])
}

/** Of a balance as it is sealed, without the rest. Throws UnreadableRow. */
export function balanceIn(text: string): string {
  const balance = firstStringIn(text)
  if (balance === undefined) throw new UnreadableRow('balances', 'it does not begin with a quantity')
  return balance
}

export function balanceFrom(text: string): Balance {
  const [balance, reserved, incoming, room, updatedAtMs] = JSON.parse(text) as [string, string, string, string, number]
  return {
    balance: parseQuantity(balance),
    reserved: parseQuantity(reserved),
    incoming: parseQuantity(incoming),
    room: parseQuantity(room),
    updatedAtMs,
  }
}

const MINT = 'mint '

/** What stands for a hold's ID in its row: the ID, unless a client's idempotency key is in it. */
export function holdRefOf(vault: RowVault, accountId: string, holdId: string): string {
  return holdId.startsWith(MINT) ? MINT + vault.keyRef(accountId, holdId.slice(MINT.length)) : holdId
}

const PRINT_BYTES = 32

/**
 * Of an account with no more parts, all are fingerprinted each time: 2 µs each. What is remembered by the part costs memory
 * for as long as the account is in it, and the collector looks through all of it again and again.
 */
const FEW_PARTS = 4

interface Taken {
  readonly key: DataKey
  readonly id: string
  readonly print: Uint8Array
}

/** P2. By the part of an account with many: whose key and which ID it was taken with. */
const taken = new WeakMap<Balance | Hold, Taken>()

/** In hexadecimal digits; empty of a ledger without encryption. */
export function partsDigest(
  account: Pick<AccountState, 'balances' | 'holds'>,
  vault: RowVault,
  name: KeyName,
  made?: MadeKeys,
): string {
  const prints = vault.fingerprints(name, made)
  if (prints === undefined) return ''
  const sum = Buffer.alloc(PRINT_BYTES)
  const printOf = account.balances.size + account.holds.size > FEW_PARTS ? rememberedPrint : newPrint
  for (const [tokenId, balance] of account.balances) {
    addTo(
      sum,
      printOf(prints, balance, `balance ${tokenId}`, () => balanceText(balance)),
    )
  }
  for (const [holdId, hold] of account.holds) {
    addTo(
      sum,
      printOf(prints, hold, `hold ${holdId}`, () => JSON.stringify(hold)),
    )
  }
  return sum.toString('hex')
}

/** A part as it is sealed: `balance` and its token, or `hold` and its ID. */
export type PartText = readonly [kind: 'balance' | 'hold', id: string, text: string]

/** What `partsDigest` gives of an account with these parts, without reading them. */
export function digestOfTexts(parts: readonly PartText[], vault: RowVault, name: KeyName): string {
  const prints = vault.fingerprints(name)
  if (prints === undefined) return ''
  const sum = Buffer.alloc(PRINT_BYTES)
  for (const [kind, id, text] of parts) addTo(sum, prints.of(`${kind} ${id} ${text}`))
  return sum.toString('hex')
}

function newPrint(prints: Fingerprints, _part: Balance | Hold, id: string, text: () => string): Uint8Array {
  return prints.of(`${id} ${text()}`)
}

function rememberedPrint(prints: Fingerprints, part: Balance | Hold, id: string, text: () => string): Uint8Array {
  const before = taken.get(part)
  if (before?.key === prints.key && before.id === id) return before.print
  const print = newPrint(prints, part, id, text)
  taken.set(part, { key: prints.key, id, print })
  return print
}

function addTo(sum: Buffer, print: Uint8Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) ^ (print[index] ?? 0)
}
