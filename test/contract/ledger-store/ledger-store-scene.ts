/** Two sessions on a new ledger for each test of the contract, and the moves that its tests are made of. */
import { afterEach, beforeEach, expect } from 'vitest'
import {
  type AccountAddress,
  addressOf,
  type CommitVerdict,
  type LookUpAnswer,
  type LookUpQuestion,
  type ShardBatch,
  type ShardToken,
} from '../../../runtime/ports/ledger-store.ts'
import type { AccountState } from '../../../actors/account/state.ts'
import { openAccount, partOf, questionOf } from '../../support/postgres/ledger-rows.ts'
import type { LedgerStoreHarness, SessionUnderTest } from './ledger-store-harness.ts'

export interface Scene {
  readonly harness: LedgerStoreHarness
  readonly a: SessionUnderTest
  readonly b: SessionUnderTest
  readonly run: <T>(work: Promise<T>) => Promise<T>
  /** Polls a condition; throws when it has not come true in time. */
  readonly until: (holds: () => Promise<boolean>) => Promise<void>
  /** Acquires a shard; throws when it is not. */
  readonly own: (session: SessionUnderTest, shardId: number, seenEpoch?: number) => Promise<ShardToken>
  readonly commit: (session: SessionUnderTest, ...parts: ShardBatch[]) => Promise<CommitVerdict>
  /** Commits, and expects that every part is applied. */
  readonly apply: (session: SessionUnderTest, ...parts: ShardBatch[]) => Promise<void>
  /** Commits until there is an answer: a connection that was cut has to be opened first. */
  readonly committing: (session: SessionUnderTest, part: ShardBatch) => Promise<void>
  readonly ask: (session: SessionUnderTest, question: Partial<LookUpQuestion>) => Promise<LookUpAnswer>
  readonly look: (session: SessionUnderTest, ...accounts: AccountAddress[]) => Promise<LookUpAnswer>
  /** Commits, and expects a broken invariant. */
  readonly refuse: (session: SessionUnderTest, ...parts: ShardBatch[]) => Promise<void>
  readonly stateOf: (session: SessionUnderTest, address: AccountAddress) => Promise<AccountState | undefined>
  /** Opens an account in an owned shard. */
  readonly opened: (session: SessionUnderTest, token: ShardToken, accountId?: string) => Promise<AccountState>
}

const DEADLINE_MS = 180_000
const POLL_MS = 20

/** To be called inside a `describe`. */
export function setScene(makeHarness: () => Promise<LedgerStoreHarness>): Scene {
  let present: { readonly harness: LedgerStoreHarness; readonly a: SessionUnderTest; readonly b: SessionUnderTest }
  beforeEach(async () => {
    const harness = await makeHarness()
    present = { harness, a: await harness.open(), b: await harness.open() }
  })
  afterEach(async () => {
    await present.harness.close()
  })

  const run = <T>(work: Promise<T>): Promise<T> => present.harness.run(work)
  const scene: Scene = {
    get harness() {
      return present.harness
    },
    get a() {
      return present.a
    },
    get b() {
      return present.b
    },
    run,
    until: async (holds) => {
      for (let waitedMs = 0; waitedMs < DEADLINE_MS; waitedMs += POLL_MS) {
        if (await holds()) return
        await present.harness.passTime(POLL_MS)
      }
      throw new Error('the condition did not come true in time')
    },
    own: async ({ store }, shardId, seenEpoch = 0) => {
      const result = await run(store.acquire(shardId, seenEpoch, seenEpoch + 1))
      if (result.kind !== 'owned') throw new Error(`shard ${shardId} was not acquired: ${result.kind}`)
      return result.token
    },
    commit: ({ store }, ...shards) => run(store.commit({ shards })),
    apply: async (session, ...parts) => {
      expect(await scene.commit(session, ...parts)).toEqual(committed(...parts.map((part) => part.token.shardId)))
    },
    committing: (session, part) => scene.until(async () => (await scene.commit(session, part)).kind === 'answered'),
    ask: ({ store }, question) => run(store.lookUp(questionOf(question))),
    look: (session, ...accounts) => scene.ask(session, { accounts }),
    refuse: async (session, ...parts) => {
      expect(await scene.commit(session, ...parts)).toMatchObject({ kind: 'failed', cause: 'invariant' })
    },
    stateOf: async (session, address) => (await scene.look(session, address)).accounts.get(addressOf(address)),
    opened: async (session, token, accountId = 'alice') => {
      const change = openAccount(token.shardId, accountId)
      await scene.apply(session, partOf(token, change))
      return change.account
    },
  }
  return scene
}

export function committed(...shardIds: readonly number[]): CommitVerdict {
  return { kind: 'answered', committed: new Set(shardIds) }
}
