/**
 * Checks that value is conserved (I4) in one snapshot of the whole ledger. Per asset: balances + holds + messages in transit =
 * supply + credits - debits of external accounts. The rows are sealed, so they are decrypted and summed here in batches.
 * Also for each hold: its payer has on hold for its beneficiary what remains of it, with the decisions that are in transit to
 * the payer. The quantities of an asset are added up with a random factor for each hold, so that the sum is zero only if each
 * hold and its payer agree, without a list of all holds.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { ActorAddress } from '../../actors/address.ts'
import { type Hold, valueOf } from '../../actors/account/state.ts'
import { remainingOf } from '../../actors/hold/state.ts'
import type { Message } from '../../actors/message.ts'
import { parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import type { Finding } from '../../runtime/audit/finding.ts'
import { balanceFrom } from '../postgres/rows/account-parts.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import { accountKeyName, LEDGER_KEY_NAME, shardKeyName } from '../vault/key-name.ts'
import type { Moment } from './audit-reads.ts'
import { keyFindings, type Opened, opened } from './opened.ts'
import { readActiveHolds, readCrossings, readTokens, readUndelivered } from './value-outside-accounts.ts'
import type { Look, Step, Walk } from './walk.ts'

const BALANCES = 'SELECT shard_id, account_id, token_id, document FROM balances'
const HOLDS = 'SELECT shard_id, account_id, hold_id, document FROM holds'

/** Keys made at the ledger's creation: one for each shard, and the ledger's own (`shard_id` null). */
const FIRST_KEYS = `
SELECT first.shard_id, k.ref IS NOT NULL AS is_there
  FROM (SELECT n AS shard_id, 'shard' AS scope, n::text AS ref
          FROM ledger CROSS JOIN generate_series(0, shard_count - 1) n
         UNION ALL SELECT NULL, 'ledger', '') first
  LEFT JOIN data_keys k ON k.scope = first.scope AND k.ref = first.ref`

export const conservationWalk: Walk<null> = {
  name: 'conservation',
  subjects: ['value_is_conserved'],
  start: null,
  step,
}

async function step(look: Look): Promise<Step<null>> {
  const tally = await look.wholeMoment(async (moment) => {
    const begun = createValueTally()
    for (const add of [addKeys, addBalances, addHolds, addOthers]) await add(moment, begun)
    return begun
  })
  const findings = tally.wrong().map(([place, problem]): Finding => ({ subject: 'value_is_conserved', place, problem }))
  return { next: null, checked: { value_is_conserved: tally.assets() }, findings }
}

async function addKeys({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  await inBatches<{ shard_id: number | null; is_there: boolean }>(FIRST_KEYS, [], async (rows) => {
    const keys = rows.map(({ shard_id: shardId, is_there: isThere }) =>
      shardId === null
        ? { name: LEDGER_KEY_NAME, of: 'the ledger', isThere }
        : { name: shardKeyName(shardId), of: `shard ${shardId}`, isThere },
    )
    await fetchKeys(keys.map(({ name }) => name))
    for (const key of keys) {
      for (const { place, problem } of keyFindings(vault, 'value_is_conserved', key)) tally.unread(place, problem)
    }
  })
}

interface AccountPart {
  readonly shard_id: number
  readonly account_id: string
  readonly document: Buffer
}

function addBalances({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  return inBatches<AccountPart & { readonly token_id: string }>(BALANCES, [], async (rows) => {
    await fetchKeys(rows.map((row) => accountKeyName(row.account_id)))
    for (const { shard_id: shardId, account_id: ref, token_id: tokenId, document } of rows) {
      const place = PLACES.balance(shardId, ref, tokenId)
      const balance = opened(() => balanceFrom(vault.open(accountKeyName(ref), place, document)))
      taken(tally, `account ${ref}, ${tokenId}`, balance, (value) => tally.add(tokenId, value.balance))
    }
  })
}

function addHolds({ inBatches, fetchKeys, vault }: Moment, tally: ValueTally): Promise<void> {
  return inBatches<AccountPart & { readonly hold_id: string }>(HOLDS, [], async (rows) => {
    await fetchKeys(rows.map((row) => accountKeyName(row.account_id)))
    for (const { shard_id: shardId, account_id: ref, hold_id: holdRef, document } of rows) {
      const place = PLACES.hold(shardId, ref, holdRef)
      const held = opened(() => JSON.parse(vault.open(accountKeyName(ref), place, document)) as Hold)
      taken(tally, `account ${ref}, hold ${holdRef}`, held, (hold) => {
        const value = valueOf(hold)
        if (value !== undefined) tally.add(value.tokenId, value.quantity)
        if (hold.kind === 'payment') tally.reserve({ ...hold, payerRef: ref }, parseQuantity(hold.remaining))
      })
    }
  })
}

/** Adds messages, and takes supplies and the sums of external accounts. */
async function addOthers(moment: Moment, tally: ValueTally): Promise<void> {
  const { vault } = moment
  await readUndelivered(moment, (place, envelope) => {
    taken(tally, place, envelope, ({ to, carries, message }) => {
      for (const { tokenId, quantity } of carries) tally.add(tokenId, quantity)
      const decided = decidedBy(message, to)
      if (decided !== undefined)
        tally.reserve({ ...decided, payerRef: vault.accountRef(decided.payer) }, -decided.quantity)
    })
  })
  await readActiveHolds(moment, (place, hold) => {
    taken(tally, place, hold, (state) => {
      const { id: holdId, tokenId, toAccountId, accountId } = state
      const payerRef = vault.accountRef(accountId)
      tally.reserve({ holdId, tokenId, toAccountId, payerRef }, -remainingOf(state))
    })
  })
  await readTokens(moment, (place, token) => {
    taken(tally, place, token, ({ status, tokenId, totalSupply }) => {
      if (status !== 'preparing') tally.take(tokenId, totalSupply)
    })
  })
  await readCrossings(moment, (place, row) => {
    taken(tally, place, row, (crossings) => {
      for (const { tokenId, credited, debited } of crossings) {
        tally.take(tokenId, credited)
        tally.add(tokenId, debited)
      }
    })
  })
}

/** The part of a payer's hold that ends when the message is handled, or begins to be the hold's. undefined: none. */
function decidedBy(message: Message, to: ActorAddress) {
  switch (message.type) {
    case 'open_hold': {
      const { accountId: payer, tokenId, toAccountId, amount } = message
      return { holdId: to.id, tokenId, toAccountId, payer, quantity: parseQuantity(amount) }
    }
    case 'free_hold': {
      const { holdId, tokenId, toAccountId, amount } = message
      return { holdId, tokenId, toAccountId, payer: to.id, quantity: parseQuantity(amount) }
    }
    case 'pay_capture': {
      const { holdId, tokenId, toAccountId, amount, releases } = message
      const quantity = parseQuantity(amount) + parseQuantity(releases)
      return { holdId, tokenId, toAccountId, payer: to.id, quantity }
    }
    default:
      return undefined
  }
}

function taken<T>(tally: ValueTally, place: string, row: Opened<T>, take: (value: T) => void): void {
  if (!row.isOpen) {
    tally.unread(place, row.problem)
    return
  }
  try {
    take(row.value)
  } catch {
    // A malformed quantity: the ledger does not write such rows.
    tally.unread(place, 'it cannot be read')
  }
}

/** Sums the value of each asset less its supply, and collects unreadable rows. */
interface ValueTally {
  /** Adds existing value. Throws for a malformed quantity. */
  readonly add: (tokenId: string, quantity: Quantity | string) => void
  /** Subtracts supply or external credits. Throws for a malformed quantity. */
  readonly take: (tokenId: string, quantity: Quantity | string) => void
  /** Adds value that a payer has on hold; negative: that a hold says it has. */
  readonly reserve: (hold: HoldName, quantity: Quantity) => void
  readonly unread: (place: string, problem: string) => void
  /** Number of assets. */
  readonly assets: () => number
  /** Place and problem of unbalanced assets and unreadable rows; at most NAMED of each. */
  readonly wrong: () => readonly (readonly [place: string, problem: string])[]
}

/** Both sides of a hold name it so. */
interface HoldName {
  readonly holdId: string
  readonly tokenId: string
  readonly toAccountId: string
  /** Reference of the payer's account. */
  readonly payerRef: string
}

const NAMED = 100
const FACTOR_DIGITS = 32

/** A random number for each hold, the same for both sides, which no writer of rows can know before. */
function createFactors(): (hold: HoldName) => bigint {
  const key = randomBytes(32)
  return ({ holdId, tokenId, toAccountId, payerRef }) => {
    const name = JSON.stringify([holdId, tokenId, toAccountId, payerRef])
    return BigInt(`0x${createHmac('sha256', key).update(name).digest('hex').slice(0, FACTOR_DIGITS)}`)
  }
}

function createValueTally(): ValueTally {
  const sums = new Map<string, Quantity>()
  const reserved = new Map<string, bigint>()
  const factorOf = createFactors()
  const unread: (readonly [string, string])[] = []
  let more = 0
  return {
    add: (tokenId, quantity) => void sums.set(tokenId, (sums.get(tokenId) ?? ZERO) + quantityOf(quantity)),
    take: (tokenId, quantity) => void sums.set(tokenId, (sums.get(tokenId) ?? ZERO) - quantityOf(quantity)),
    reserve: (hold, quantity) => {
      const sum = reserved.get(hold.tokenId) ?? 0n
      reserved.set(hold.tokenId, sum + quantity * factorOf(hold))
    },
    unread: (place, problem) => {
      if (unread.length < NAMED) unread.push([place, problem])
      else more += 1
    },
    assets: () => sums.size,
    wrong: () => {
      return [
        ...unbalanced(sums, 'what there is of it is not what came into being'),
        ...unbalanced(reserved, 'what payers have on hold of it is not what remains of the holds'),
        ...unread,
        ...(more === 0 ? [] : [['the whole ledger', `${more} more rows cannot be read`] as const]),
      ]
    },
  }
}

function unbalanced(
  sums: ReadonlyMap<string, Quantity>,
  problem: string,
): readonly (readonly [place: string, problem: string])[] {
  const assets = [...sums].filter(([, sum]) => sum !== 0n).map(([tokenId]) => tokenId)
  return assets
    .sort()
    .slice(0, NAMED)
    .map((tokenId) => [`asset ${tokenId}`, problem] as const)
}

function quantityOf(given: Quantity | string): Quantity {
  return typeof given === 'string' ? parseQuantity(given) : given
}
