/**
 * The simulated store under the contract of a ledger store: each test has its own kernel, which runs while the test
 * waits.
 */
import type { BoundaryTotal } from '../../contract/ledger-store/ledger-store-harness.ts'
import type { RewindableHarness } from '../../contract/ledger-store/ledger-store-rewound.contract.ts'
import type { PromotableHarness, WatchedSession } from '../../contract/ledger-store/ledger-store-server.contract.ts'
import type { LedgerEvents } from '../../../runtime/ports/ledger-events.ts'
import { createKernel } from '../kernel/kernel.ts'
import type { AppliedCommit } from './applied.ts'
import { SimDatabase } from './database.ts'
import { createSimLedgerEvents } from './ledger-events.ts'
import { createSimLedgerStore } from './sim-ledger-store.ts'
import { decimalOf } from './value.ts'

const SHARD_COUNT = 8
/** Virtual time limit of each wait. */
const WAIT_MS = 120_000

export type SimHarness = RewindableHarness & PromotableHarness & { readonly events: LedgerEvents }

export function createSimHarness(seed: number): Promise<SimHarness> {
  const kernel = createKernel({ seed })
  const database = new SimDatabase({ kernel, shardCount: SHARD_COUNT })
  const applied: AppliedCommit[] = []
  database.onApplied((commit) => applied.push(commit))
  let opened = 0

  const open = async (): Promise<WatchedSession> => {
    opened += 1
    const nodeId = `node-${opened}`
    const session = `${opened}`.padStart(32, '0')
    const process = kernel.process(nodeId)
    const stops: string[] = []
    const onStopped = (reason: string): void => void stops.push(reason)
    const store = createSimLedgerStore({ database, process, session, nodeId, onStopped })
    // As in production, creation fails if the server may not be used.
    await kernel.runToEnd(store.probe(), WAIT_MS)
    return {
      store,
      stops,
      nodeId,
      session,
      loseNextCommit: () => store.nextCommit('lost'),
      loseNextAnswer: () => store.nextCommit('answer_lost'),
      holdCommits: () => {
        const held = database.hold(session)
        return Promise.resolve({ reached: () => held.reached, letGo: () => Promise.resolve(held.letGo()) })
      },
      cutOff: store.cutOff,
      crash: () => Promise.resolve(process.crash()),
    }
  }
  return Promise.resolve({
    shardCount: SHARD_COUNT,
    events: createSimLedgerEvents(database, 'ledger'),
    open,
    promote: () => Promise.resolve(database.promote()),
    accept: () => Promise.resolve(database.accept()),
    run: (work) => kernel.runToEnd(work, WAIT_MS),
    passTime: kernel.runFor,
    boundaryTotals: () => Promise.resolve(boundaryTotals(database)),
    nftEvents: (shardId, nftId) => Promise.resolve(database.rows.nftEvents.history(shardId, nftId)),
    takeBack: ({ shardId, accountId, version }) => {
      const later = applied.findIndex(({ shards }) =>
        shards.some(
          ({ batch }) =>
            batch.token.shardId === shardId &&
            batch.accounts.some(({ account }) => account.accountId === accountId && account.version > version),
        ),
      )
      database.goBack(later === -1 ? applied : applied.slice(0, later))
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  })
}

function boundaryTotals(database: SimDatabase): ReadonlyMap<string, BoundaryTotal> {
  return new Map(
    [...database.rows.boundary].map(([tokenId, { credited, debited }]) => [
      tokenId,
      { credited: decimalOf(credited), debited: decimalOf(debited) },
    ]),
  )
}
