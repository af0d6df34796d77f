/** A session on a simulated ledger store of its own, and the rows that its tests write. */
import { expect } from 'vitest'
import type { LegHold } from '../../actors/account/state.ts'
import { accountAddress, exchangeAddress, tokenAddress } from '../../actors/address.ts'
import { parseQuantity } from '../../actors/money.ts'
import type { TokenState } from '../../actors/token/state.ts'
import type {
  ActorWrite,
  LedgerStore,
  LookUpQuestion,
  OutboxWrite,
  ShardToken,
} from '../../runtime/ports/ledger-store.ts'
import { partWith, type Rows, ROWS_START_MS } from '../support/ledger-rows.ts'
import { createKernel, type Kernel } from './kernel.ts'
import { SimDatabase } from './sim-ledger-store-database.ts'
import { NO_STORE_MUTATIONS, type StoreMutations } from './sim-ledger-store-faults.ts'
import { createSimLedgerStore } from './sim-ledger-store.ts'

const WITHIN_MS = 60_000
/** Whose connections all of them are. */
export const SESSION = 'a'.repeat(32)
export const SHARD = 3
export const OTHER = 4
export const GROUP = '0b0e3c5e-7f4b-4c0e-9d7a-1f6a2b3c4d5e'
export const NOTHING_ASKED: LookUpQuestion = {
  accounts: [],
  keys: [],
  actors: [],
  transactions: [],
  groupUses: [],
  tokens: [],
  existing: [],
  classes: [],
  instances: [],
}

export interface World {
  readonly kernel: Kernel
  readonly database: SimDatabase
  readonly store: LedgerStore
  readonly run: <T>(work: Promise<T>) => Promise<T>
  readonly own: (shardId: number) => Promise<ShardToken>
  /** Commits one part, and expects that it is applied. */
  readonly apply: (token: ShardToken, rows: Partial<Rows>) => Promise<void>
}

export function createWorld(seed: number, mutations: Partial<StoreMutations> = {}): World {
  const kernel = createKernel({ seed })
  const database = new SimDatabase({ kernel, shardCount: 8, mutations: { ...NO_STORE_MUTATIONS, ...mutations } })
  const process = kernel.process('node')
  const store = createSimLedgerStore({ database, process, session: SESSION, nodeId: 'node' })
  const run = <T>(work: Promise<T>): Promise<T> => kernel.runToEnd(work, WITHIN_MS)
  return {
    kernel,
    database,
    store,
    run,
    own: async (shardId) => {
      const { epoch } = database.shardRow(shardId)
      const result = await run(store.acquire(shardId, epoch, epoch + 1))
      if (result.kind !== 'owned') throw new Error(`shard ${shardId} was not acquired`)
      return result.token
    },
    apply: async (token, rows) => {
      const verdict = await run(store.commit({ shards: [partWith(token, rows)] }))
      expect(verdict).toEqual({ kind: 'answered', committed: new Set([token.shardId]) })
    },
  }
}

export function messages(
  target: number,
  numbers: readonly number[],
  quantity = '2',
  atMs = ROWS_START_MS,
): Partial<Rows> {
  const envelope = {
    to: accountAddress('bob'),
    message: { type: 'settle_leg', groupId: GROUP, leg: 0, role: 'own' },
    carries: [{ tokenId: 'BASE', quantity }],
  } as const
  const outbox: readonly OutboxWrite[] = numbers.map((number) => ({ target, number, envelope, atMs }))
  return { outbox, sent: [{ target, sent: Math.max(...numbers) }] }
}

export function balance(quantity: string, tokenId = 'BASE'): Partial<Rows> {
  const nothing = parseQuantity('0')
  const held = { balance: parseQuantity(quantity), reserved: nothing, incoming: nothing, room: nothing, updatedAtMs: 1 }
  return { balances: [{ accountId: 'alice', tokenId, balance: held }] }
}

export function leg(state: LegHold['state'], amount: string): LegHold {
  const terms = {
    accountId: 'alice',
    type: 'debit',
    amount,
    tokenId: 'BASE',
    toAccountId: null,
    boundary: false,
  } as const
  const planted = { termsHash: '0a'.repeat(32), terms, clientId: 'client', dueAtMs: 0 }
  return { kind: 'leg', groupId: GROUP, leg: 0, role: 'own', ...planted, state, txnId: null }
}

export function token(version: number, status: TokenState['status'], totalSupply: string): ActorWrite {
  const state: TokenState = {
    kind: 'token',
    format: 1,
    id: 'gold',
    version,
    status,
    tokenId: 'GOLD',
    decimals: 2,
    issuer: 'alice',
    totalSupply,
    initialSupply: totalSupply,
    held: {},
    clientId: 'client',
    registrationKey: 'key',
    createdAtMs: ROWS_START_MS,
    lastTimeMs: ROWS_START_MS,
    dueAtMs: null,
  }
  return { address: tokenAddress('GOLD'), previousVersion: version - 1, state }
}

export function exchange(groupId: string, dueAtMs: number): ActorWrite {
  const state = { kind: 'exchange', format: 1, id: groupId, version: 1, offers: [], lastTimeMs: 0, dueAtMs } as const
  return { address: exchangeAddress(groupId), previousVersion: 0, state }
}
