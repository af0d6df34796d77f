/** The metrics of a node. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { NodeMeasures } from '../../runtime/node/ledger-node.ts'
import type { CommitResult, ItemFate, NodeMetrics, ShardMove } from '../../runtime/ports/metrics.ts'
import { MS_PER_SECOND, registerGauges } from './registry.ts'

const ITEM_FATES = [
  'entered',
  'moved',
  'overloaded',
  'rejected',
  'given_up',
  'not_applied',
] as const satisfies readonly ItemFate[]
const COMMIT_RESULTS = ['applied', 'held_back', 'failed', 'unknown'] as const satisfies readonly CommitResult[]
const SHARD_MOVES = [
  'acquired',
  'handed_over',
  'released',
  'fenced',
  'quarantined',
] as const satisfies readonly ShardMove[]
const COMMIT_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5]
const BATCH_COMMANDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000]
const BATCH_SHARDS = [1, 2, 5, 10, 20, 50, 100, 200, 500]

export function createNodeMetrics(registry: Registry): NodeMetrics {
  const registers = [registry]
  const counter = (name: string, label: string, help: string): Counter =>
    new Counter({ name, help, labelNames: [label], registers })
  const histogram = (name: string, buckets: number[], help: string): Histogram =>
    new Histogram({ name, help, buckets, registers })
  const items = counter(
    'ledger_node_items_total',
    'fate',
    'Requests from edges by fate. On arrival: entered, moved, overloaded, rejected. Later: given_up (outcome unknown), not_applied (PostgreSQL refused the commit).',
  )
  const commits = counter(
    'ledger_commits_total',
    'result',
    'Commits by result; held_back: the node was no longer the owner of at least one shard.',
  )
  const moves = counter(
    'ledger_shard_moves_total',
    'move',
    'Shards that this node acquired, handed over, released or lost.',
  )
  const durations = histogram(
    'ledger_commit_duration_seconds',
    COMMIT_SECONDS,
    'Time to commit a batch, including the signatures of its receipts.',
  )
  const commands = histogram('ledger_commit_commands', BATCH_COMMANDS, 'Commands per commit.')
  const shards = histogram('ledger_commit_shards', BATCH_SHARDS, 'Shards per commit.')
  // Counters start at 0, so that Prometheus sees the first increment.
  for (const fate of ITEM_FATES) items.inc({ fate }, 0)
  for (const result of COMMIT_RESULTS) commits.inc({ result }, 0)
  for (const move of SHARD_MOVES) moves.inc({ move }, 0)
  return {
    items: (fate, count) => items.inc({ fate }, count),
    commit: (result, durationMs) => {
      commits.inc({ result })
      durations.observe(durationMs / MS_PER_SECOND)
    },
    batch: (commandCount, shardCount) => {
      commands.observe(commandCount)
      shards.observe(shardCount)
    },
    moves: (move, count) => moves.inc({ move }, count),
  }
}

/** `measure` is called for each scrape. */
export function registerNodeGauges(registry: Registry, measure: () => NodeMeasures): void {
  registry.registerMetric(
    new Gauge({
      name: 'ledger_queue_depth',
      help: 'Queue lengths: commands without a reply (mailboxes), of these the ones waiting for a look-up or for a conclusion, and committed messages that have not been sent (outbox).',
      labelNames: ['queue'],
      registers: [],
      collect() {
        const { mailboxes, lookUps, parked, unsent } = measure()
        this.set({ queue: 'mailboxes' }, mailboxes)
        this.set({ queue: 'look_ups' }, lookUps)
        this.set({ queue: 'conclusions' }, parked)
        this.set({ queue: 'outbox' }, unsent)
      },
    }),
  )
  registerGauges(registry, measure, [
    {
      name: 'ledger_backlog_messages',
      help: 'Committed messages between shards without an acknowledgement.',
      of: ({ unacknowledged }) => unacknowledged,
    },
    {
      name: 'ledger_actors_in_memory',
      help: 'Accounts and other actors in the memory of this node.',
      of: ({ residents }) => residents,
    },
    { name: 'ledger_shards_owned', help: 'Shards that this node owns.', of: ({ owned }) => owned },
    {
      name: 'ledger_shards_quarantined',
      help: 'Shards that this node does not serve because of a broken invariant.',
      of: ({ quarantined }) => quarantined,
    },
    {
      name: 'ledger_commits_failing',
      help: '1 while PostgreSQL refuses all commits of this node, or delays one for 2 s or more.',
      of: ({ commitsFail }) => Number(commitsFail),
    },
    {
      name: 'ledger_oldest_pin_age_seconds',
      help: 'Age of the oldest look-up in flight. Later commits stay in memory until it ends.',
      of: ({ oldestPinAgeMs }) => oldestPinAgeMs / MS_PER_SECOND,
    },
    {
      name: 'ledger_session_renewed_age_seconds',
      help: 'Time since the last renewal of the session key in NATS; +Inf: never.',
      of: ({ renewedAgoMs }) => secondsSince(renewedAgoMs),
    },
    {
      name: 'ledger_postgres_probed_age_seconds',
      help: 'Time since the last committed probe of PostgreSQL; +Inf: never.',
      of: ({ probedAgoMs }) => secondsSince(probedAgoMs),
    },
    {
      name: 'ledger_clock_skew_seconds',
      help: 'Difference between the clocks of this node and PostgreSQL at the last probe.',
      of: ({ clockSkewMs }) => clockSkewMs / MS_PER_SECOND,
    },
    {
      name: 'ledger_node_leaving',
      help: '1 while the node releases its shards and acquires none.',
      of: ({ leaving }) => Number(leaving),
    },
  ])
}

/** null: never. */
function secondsSince(agoMs: number | null): number {
  return agoMs === null ? Number.POSITIVE_INFINITY : agoMs / MS_PER_SECOND
}
