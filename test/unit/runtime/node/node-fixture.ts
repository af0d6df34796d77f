/** A whole node on a ledger and a lease store that a test can spoil. */
import { LedgerNode } from '../../../../runtime/node/ledger-node.ts'
import type { ListedSession, ShardHint } from '../../../../runtime/ports/lease-store.ts'
import { delay } from '../../../../runtime/ports/clock.ts'
import type { ShardMove } from '../../../../runtime/ports/metrics.ts'
import { readTestKey } from '../../../support/accounts.ts'
import { createLedger, homeOf, storeOf } from '../../../support/shard-hosting.ts'

type Renewal = 'good' | 'fails' | 'hangs' | 'conflict'

export const RENEW_MS = 2_000

export async function startNode(ledger = createLedger([0, 1, 2])) {
  const { clock, records, give, transport } = ledger
  const moves: ShardMove[] = []
  const hints: ShardHint[] = []
  /** Whether the node reported that its commits succeed. */
  const probes: boolean[] = []
  const world = {
    probe: 'good' as 'good' | 'fails',
    probeDelayMs: 0,
    renew: 'good' as Renewal,
    skewMs: 0,
    listing: [] as ListedSession[],
  }
  const silent = (): void => undefined
  let revision = 0
  const node = new LedgerNode({
    nodeId: 'node',
    session: 's',
    store: {
      ...storeOf(ledger, 's'),
      probe: async (isGood = true) => {
        probes.push(isGood)
        if (world.probeDelayMs > 0) await delay(clock, world.probeDelayMs)
        if (world.probe === 'fails') throw new Error('away')
        return { nowMs: clock.now() + world.skewMs }
      },
      drains: () => Promise.resolve({ nodes: new Set(), shards: new Map() }),
      sessionHeld: () => Promise.resolve(true),
      acquire: (shardId) => Promise.resolve({ kind: 'owned', token: give(shardId, 's') }),
      release: ({ shardId, epoch }) => {
        records.set(shardId, { shardId, epoch: epoch + 1, attempt: 0, nodeId: null, session: null })
        return Promise.resolve(true)
      },
    },
    leases: {
      renew: () => {
        if (world.renew === 'hangs') return new Promise(silent)
        if (world.renew === 'conflict') return Promise.resolve('conflict')
        return world.renew === 'fails' ? Promise.reject(new Error('away')) : Promise.resolve((revision += 1))
      },
      list: () => Promise.resolve(world.listing),
      end: () => Promise.resolve(),
      hint: (hint) => {
        hints.push(hint)
        return Promise.resolve()
      },
      watchHints: () => ({ stop: silent }),
    },
    transport,
    signer: {
      verifyMany: () => Promise.resolve([]),
      signMany: () => Promise.resolve([]),
      receiptKeyId: () => 'key',
    },
    readPublicKey: readTestKey,
    clock,
    random: { hex: (size) => '0'.repeat(size * 2), integer: () => 0 },
    log: { info: silent, warn: silent, error: silent },
    metrics: { items: silent, commit: silent, batch: silent, moves: (move) => void moves.push(move) },
    ledgerId: 'ledger',
    production: false,
    homeOf,
    onStoreWentBack: silent,
  })
  const started = node.start()
  await clock.pass(1_000)
  await started
  return { clock, node, world, moves, hints, probes, ledger }
}
