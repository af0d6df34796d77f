/**
 * Sessions that steal shards from each other and commit to one account in each, without a word between them: the
 * history tells what was answered, for the contract to hold against what the store then shows.
 */
import type { AccountState } from '../../../actors/account/state.ts'
import { addressOf, type LedgerStore, type ShardToken } from '../../../runtime/ports/ledger-store.ts'
import { type Change, creditAccount, openAccount, partOf, questionOf } from '../../support/postgres/ledger-rows.ts'

export interface StealingOptions {
  readonly shardIds: readonly number[]
  readonly roundsEach: number
  readonly seed: number
}

export interface StealingHistory {
  /** By account: the keys whose commit was answered. */
  readonly applied: ReadonlyMap<string, readonly string[]>
  /** Verdicts other than answers: without faults there is none. */
  readonly failures: readonly string[]
  readonly steals: number
  /** Parts that were skipped. */
  readonly fenced: number
}

interface Owned {
  readonly token: ShardToken
  readonly account: AccountState | undefined
}

const STEAL_PROBABILITY = 0.3

/** The account of each shard is named by the shard's number. */
export async function stealAndCommit(
  stores: readonly LedgerStore[],
  { shardIds, roundsEach, seed }: StealingOptions,
): Promise<StealingHistory> {
  const applied = new Map<string, string[]>(shardIds.map((shardId) => [String(shardId), []]))
  const failures: string[] = []
  let steals = 0
  let fenced = 0

  async function steal(store: LedgerStore, shardId: number): Promise<Owned | undefined> {
    const record = (await store.shards()).find((shard) => shard.shardId === shardId)
    const epoch = record?.epoch ?? 0
    const result = await store.acquire(shardId, epoch, epoch + 1)
    if (result.kind !== 'owned') return undefined
    steals += 1
    const address = { shardId, accountId: String(shardId) }
    const { accounts } = await store.lookUp(questionOf({ accounts: [address] }))
    return { token: result.token, account: accounts.get(addressOf(address)) }
  }

  async function client(store: LedgerStore, name: number): Promise<void> {
    const chance = generator(seed + name)
    const owned = new Map<number, Owned>()
    for (let round = 0; round < roundsEach; round += 1) {
      if (owned.size === 0 || chance() < STEAL_PROBABILITY) {
        const shardId = shardIds[Math.floor(chance() * shardIds.length)] ?? 0
        const taken = await steal(store, shardId)
        if (taken !== undefined) owned.set(shardId, taken)
      }
      const steps = [...owned].map(([shardId, { token, account }]) => {
        const change = nextOf(shardId, account, `${name}-${round}`)
        return { shardId, token, change }
      })
      const verdict = await store.commit({ shards: steps.map(({ token, change }) => partOf(token, change)) })
      if (verdict.kind !== 'answered') {
        failures.push(`${verdict.kind}: ${verdict.detail}`)
        return
      }
      for (const { shardId, token, change } of steps) {
        if (!verdict.committed.has(shardId)) {
          fenced += 1
          owned.delete(shardId)
          continue
        }
        owned.set(shardId, { token, account: change.account })
        for (const { transaction } of change.rows.transactions) {
          applied.get(String(shardId))?.push(transaction.idempotencyKey)
        }
      }
    }
  }

  await Promise.all(stores.map(client))
  return { applied, failures, steals, fenced }
}

function nextOf(shardId: number, account: AccountState | undefined, key: string): Change {
  return account === undefined ? openAccount(shardId, String(shardId)) : creditAccount(account, key, '1')
}

/** Mulberry32: the same choices for the same seed. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
