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
  const items = new Counter({
    name: 'ledger_node_items_total',
    help: 'Requests from edges by fate. On arrival: entered, moved, overloaded, rejected. Later: given_up, outcome unknown; not_applied, PostgreSQL refused the commit.',
    labelNames: ['fate'],
    registers,
  })
  const commits = new Counter({
    name: 'ledger_commits_total',
    help: 'Commits by result; held_back: the fence let at least one shard not pass.',
    labelNames: ['result'],
    registers,
  })
  const durations = new Histogram({
    name: 'ledger_commit_duration_seconds',
    help: 'From the stepped batch to the verdict of its commit, signing of receipts included.',
    buckets: COMMIT_SECONDS,
    registers,
  })
  const commands = new Histogram({
    name: 'ledger_commit_commands',
    help: 'Commands that one commit made durable.',
    buckets: BATCH_COMMANDS,
    registers,
  })
  const shards = new Histogram({
    name: 'ledger_commit_shards',
    help: 'Shards that one commit made something durable of.',
    buckets: BATCH_SHARDS,
    registers,
  })
  const moves = new Counter({
    name: 'ledger_shard_moves_total',
    help: 'Shards that this node took, gave away or lost.',
    labelNames: ['move'],
    registers,
  })
  // Shown from the start, so that the first of each is seen as a change.
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

/** What a node is asked whenever somebody looks. */
export function registerNodeGauges(registry: Registry, measure: () => NodeMeasures): void {
  registry.registerMetric(
    new Gauge({
      name: 'ledger_queue_depth',
      help: 'What waits: commands without a verdict (mailboxes), those of them that wait for a look-up or for a conclusion, and committed messages that are not on their way (outbox).',
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
      help: 'Committed messages between shards that their receivers are not known to have taken in.',
      of: ({ unacknowledged }) => unacknowledged,
    },
    {
      name: 'ledger_actors_in_memory',
      help: 'Accounts and other actors that this node keeps in memory.',
      of: ({ residents }) => residents,
    },
    { name: 'ledger_shards_owned', help: 'Shards that this node serves.', of: ({ owned }) => owned },
    {
      name: 'ledger_shards_quarantined',
      help: 'Shards that this node does not serve because they broke an invariant here.',
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
      help: 'Since the session key in NATS was last renewed; +Inf: never.',
      of: ({ renewedAgoMs }) => secondsSince(renewedAgoMs),
    },
    {
      name: 'ledger_postgres_probed_age_seconds',
      help: 'Since a probe of PostgreSQL last committed; +Inf: never.',
      of: ({ probedAgoMs }) => secondsSince(probedAgoMs),
    },
    {
      name: 'ledger_clock_skew_seconds',
      help: 'How far this clock is off that of PostgreSQL, as far as the last probe could tell.',
      of: ({ clockSkewMs }) => clockSkewMs / MS_PER_SECOND,
    },
    {
      name: 'ledger_node_leaving',
      help: '1 while the node gives its shards away and takes no others.',
      of: ({ leaving }) => Number(leaving),
    },
  ])
}

/** Never is longer ago than any bound. */
function secondsSince(agoMs: number | null): number {
  return agoMs === null ? Number.POSITIVE_INFINITY : agoMs / MS_PER_SECOND
}
