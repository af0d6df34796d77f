/** The digest that a commit updates incrementally equals the digest of all parts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Balances } from '../../../actors/account/balances.ts'
import { Holds } from '../../../actors/account/holds.ts'
import { openAccount } from '../../../actors/account/postings.ts'
import type { AccountState, Hold } from '../../../actors/account/state.ts'
import { accountAddress, actorKey } from '../../../actors/address.ts'
import { encodeUlid } from '../../../actors/identifiers.ts'
import { parseQuantity, ZERO } from '../../../actors/money.ts'
import { type AnyCommand, stepActor } from '../../../actors/step-actor.ts'
import {
  balanceFrom,
  balanceText,
  digestOfTexts,
  partsDigest,
  type PartText,
  pendingHoldText,
} from '../../../infra/postgres/rows/account-parts.ts'
import { createDataKeys } from '../../../infra/vault/data-keys.ts'
import { accountKeyName } from '../../../infra/vault/key-name.ts'
import type { RowVault } from '../../../infra/vault/row-vault.ts'
import { ShardDraft, inboxOrder, stepInto } from '../../../runtime/node/shard/draft.ts'
import { createFacts } from '../../../runtime/node/shard/facts.ts'
import { Incarnation, takeUp } from '../../../runtime/node/shard/incarnation.ts'
import { Pending, holdOn } from '../../../runtime/node/shard/pending-command.ts'
import { rowsOf } from '../../../runtime/node/commit/rows.ts'
import type { AccountWrite } from '../../../runtime/ports/ledger-store.ts'
import { NO_RARE_PATHS } from '../../../runtime/ports/rare-paths.ts'
import { WIRE } from '../../../runtime/protocol/wire.ts'
import { ACCOUNT, CALLER, KEY, SALT, START_MS, submitCommand } from '../../support/accounts.ts'
import { RECEIPT } from '../../support/postgres/ledger-rows.ts'
import { sealingVault, testWrapping } from '../../support/postgres/row-vaults.ts'

const SHARD = 7
const NAME = accountKeyName('alice')
const SURROUNDINGS = {
  settings: { ledgerId: 'digests', production: false },
  step: stepActor,
  wire: WIRE,
  facts: {
    ...createFacts(NO_RARE_PATHS),
    exists: () => true,
    token: (tokenId: string) => ({ tokenId, decimals: 18, issuer: ACCOUNT }),
  },
  inbox: inboxOrder,
  homeOf: () => SHARD,
}

let serial = 0

function stamp() {
  serial += 1
  const newTxnId = `txn_${encodeUlid({ timeMs: START_MS + serial, counter: 0, shardId: SHARD, random: 1 })}`
  return { newTxnId, atMs: START_MS + serial, salt: SALT }
}

/** A resident account. */
class Home {
  private readonly actor = accountAddress(ACCOUNT)
  private readonly incarnation = new Incarnation(
    { shardId: SHARD, epoch: 1, attempt: 1 },
    { lastTransactionId: null, channels: [], marks: [], outbox: [] },
  )
  private readonly resident

  constructor() {
    const opening = { accountId: ACCOUNT, shardId: SHARD, key: KEY, clientId: CALLER.clientId }
    this.resident = takeUp(this.incarnation, actorKey(this.actor), {
      ...openAccount(opening, stamp()).data,
      status: 'active',
    })
  }

  get account(): AccountState {
    return this.resident.state as AccountState
  }

  /** The write of the account by a commit of these commands; undefined if they change nothing. */
  batch(commands: readonly AnyCommand[]): AccountWrite | undefined {
    const draft: ShardDraft = new ShardDraft(this.incarnation)
    for (const [index, command] of commands.entries()) {
      const origin = { kind: 'message', source: SHARD, number: index + 1 } as const
      const pending = new Pending(origin, this.actor, command, this.incarnation)
      holdOn(pending, this.resident)
      pending.verdicts.set(`${KEY.keyId} signature`, true)
      const { kind } = stepInto(draft, pending, SURROUNDINGS)
      if (kind !== 'taken') throw new Error(`${command.type} is ${kind}`)
    }
    return rowsOf(draft, () => RECEIPT).accounts[0]
  }

  commit(account: AccountState): void {
    this.resident.state = account
  }

  /** As after eviction and look-up. */
  reload(): void {
    const { balances, holds } = this.account
    this.resident.state = { ...this.account, balances: Balances.of(balances), holds: Holds.of(holds) }
  }
}

/** A pending transaction has its own row: the digest covers only the additions of its hold. */
function textOf(hold: Hold): string {
  return hold.kind === 'pending' ? (pendingHoldText(hold) ?? '') : JSON.stringify(hold)
}

function wholeDigest({ balances, holds }: AccountState, vault: RowVault): string {
  const parts: PartText[] = [
    ...[...balances].map(([id, balance]) => ['balance', id, balanceText(balance)] as const),
    ...[...holds].map(([id, hold]) => ['hold', id, textOf(hold)] as const),
  ]
  return digestOfTexts(parts, vault, NAME)
}

type OrderKind = 'credit' | 'debit' | 'transfer' | 'complete' | 'fail'

/** `at`: index of the token or the pending transfer. */
function commandOf({ kind, at }: { readonly kind: OrderKind; readonly at: number }, pending: string[]): AnyCommand[] {
  const tokenId = `TOKEN-${at % 8}`
  if (kind === 'credit') return [submitCommand({ type: 'credit', amount: '3', tokenId }, stamp())]
  if (kind === 'debit') return [submitCommand({ type: 'transfer', amount: '1', tokenId }, stamp())]
  if (kind === 'transfer') {
    return [submitCommand({ type: 'transfer', amount: '0.5', tokenId, toAccountId: 'bob' }, stamp())]
  }
  const [txnId] = pending.splice(at % Math.max(1, pending.length), 1)
  if (txnId === undefined) return []
  const failure = kind === 'fail' ? { code: 'account_closed' as const, detail: 'It is closed.' } : null
  const end = {
    type: 'conclude_transfer',
    txnId,
    failure,
    counterTxnId: failure === null ? 'txn_there' : null,
  } as const
  return [{ ...end, accountId: ACCOUNT, shardId: SHARD, ...stamp() }]
}

const kinds = fc.constantFrom<OrderKind>('credit', 'credit', 'debit', 'transfer', 'transfer', 'complete', 'fail')
const batches = fc.array(
  fc.record({
    orders: fc.array(fc.record({ kind: kinds, at: fc.nat({ max: 50 }) }), { minLength: 1, maxLength: 6 }),
    /** Attempts of the batch: all commits but the last fail. */
    tries: fc.integer({ min: 1, max: 3 }),
    before: fc.constantFrom('nothing', 'nothing', 'nothing', 'look-up', 'key fetched again', 'another key'),
  }),
  { minLength: 1, maxLength: 12 },
)

test('it equals the digest of all parts after steps, failures, loads and key changes', () => {
  fc.assert(
    fc.property(batches, (steps) => {
      const home = new Home()
      let keys = createDataKeys(testWrapping())
      let vault = sealingVault([NAME], keys)
      for (const { orders, tries, before } of steps) {
        if (before === 'look-up') home.reload()
        if (before === 'key fetched again') {
          const key = keys.known(NAME)
          if (key === undefined) throw new Error('the key is in memory')
          keys = createDataKeys(testWrapping())
          const made = keys.make(NAME)
          vault = { ...sealingVault([], keys), fingerprints: vault.fingerprints }
          keys.adopt({ ...made, key: Buffer.from(key) })
        }
        if (before === 'another key') {
          keys = createDataKeys(testWrapping())
          vault = sealingVault([NAME], keys)
        }
        for (let round = 0; round < tries; round += 1) {
          const pending = [...home.account.holds.keys()]
          const write = home.batch(orders.flatMap((order) => commandOf(order, pending)))
          if (write === undefined) continue
          const digest = partsDigest(write.account, vault, NAME, undefined, write.since)
          expect(digest).toBe(wholeDigest(write.account, vault))
          if (round === tries - 1) home.commit(write.account)
        }
      }
    }),
    { numRuns: 80 },
  )
})

test('a commit fingerprints only the changed parts, before and after', () => {
  const home = new Home()
  const plain = sealingVault([NAME])
  let taken = 0
  const vault: RowVault = {
    ...plain,
    fingerprints: (name, made) => {
      const prints = plain.fingerprints(name, made)
      const of = (text: string): Uint8Array => {
        taken += 1
        return prints.of(text)
      }
      return { ...prints, of }
    },
  }
  const commit = (...commands: AnyCommand[]): number => {
    const write = home.batch(commands)
    if (write === undefined) throw new Error('nothing has changed')
    taken = 0
    expect(partsDigest(write.account, vault, NAME, undefined, write.since)).toBe(wholeDigest(write.account, plain))
    home.commit(write.account)
    return taken
  }
  const credit = (tokenId: string) => submitCommand({ type: 'credit', amount: '3', tokenId }, stamp())
  expect(commit(...Array.from({ length: 40 }, (_, index) => credit(`TOKEN-${index}`)))).toBe(40)
  expect(commit(credit('TOKEN-7'))).toBe(2)
  expect(commit(credit('NEW'))).toBe(1)
  expect(commit(credit('TOKEN-7'), credit('TOKEN-7'))).toBe(2)
  const transfer = submitCommand({ type: 'transfer', amount: '1', tokenId: 'NEW', toAccountId: 'bob' }, stamp())
  expect(commit(transfer)).toBe(3)
  home.reload()
  expect(commit(credit('TOKEN-7'))).toBe(42)
})

test('it has another value for another token, balance or key', () => {
  const vaults = [sealingVault([NAME]), sealingVault([NAME])] as const
  const parts = [
    ['balance', 'EUR', '["1"]'],
    ['balance', 'EUR', '["2"]'],
    ['balance', 'USD', '["1"]'],
    ['hold', 'EUR', '["1"]'],
  ] as const
  const digests = vaults.flatMap((vault) =>
    [[], ...parts.map((part) => [part])].map((of) => digestOfTexts(of, vault, NAME)),
  )
  expect(new Set(digests.slice(0, 5)).size).toBe(5)
  expect(digests.slice(1, 5)).not.toEqual(digests.slice(6))
  for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{64}$/)
})

test('a balance round-trips, and all zero balances have one value', () => {
  const quantities = { reserved: ZERO, incoming: ZERO, room: ZERO }
  const balance = { balance: parseQuantity('12.5'), ...quantities, updatedAtMs: 1 }
  const read = balanceFrom(balanceText(balance))
  expect(balanceText(read)).toBe(balanceText(balance))
  expect([read.reserved, read.incoming, read.room].every((quantity) => quantity === ZERO)).toBe(true)
})

test('a duplicate part is detected: two equal ones would cancel each other out', () => {
  const vault = sealingVault([NAME])
  const [one, other] = [
    ['balance', 'EUR', '["1"]'],
    ['hold', 'EUR', '{}'],
  ] as const
  expect(digestOfTexts([one, other], vault, NAME)).toBe(digestOfTexts([other, one], vault, NAME))
  for (const again of [one, ['balance', 'EUR', '["2"]']] as const) {
    expect(() => digestOfTexts([one, other, again], vault, NAME)).toThrow('balance EUR: it is there twice')
  }
})
