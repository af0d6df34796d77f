/**
 * Clients' view while shards move between nodes in order. Submissions arrive at a constant rate, to accounts on many
 * shards, while a node joins, drains, returns and ends. The load generator does not retry.
 */
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnChild } from '../../../infra/launcher/child-part.ts'
import type { RunningPart } from '../../../infra/launcher/kept-part.ts'
import { drainNode, endDrain } from '../../../infra/postgres/store/drains.ts'
import type { LedgerClient } from '../../support/client/client.ts'
import { countTransactions, onDatabase } from '../load/committed.ts'
import { openLoopAt, say, sayOddities } from '../context.ts'
import type { LedgerBench } from '../ledger-bench.ts'
import type { RunResult } from '../load/load-messages.ts'
import { type ShardOwners, untilSettled } from '../shard-owners.ts'

export interface HandOffMeasured {
  readonly event: string
  readonly offeredPerSecond: number
  /** From the event until shards had come to rest, milliseconds; null if nothing was done. */
  readonly settledMs: number | null
  /** Shards that another node owned afterwards. */
  readonly moved: number
  /** Latencies begin when a submission was due. */
  readonly run: RunResult
  /** Replies with status 503. */
  readonly unavailable: number
}

const NODE_ID = 'bench-joined'
/** Share of a closed loop's rate: the remaining node must manage alone, beside the start of another node. */
const RATE_SHARE = 0.3
const LIMIT_S = 60
/** So that each account has been served before the event. */
const BEFORE_EVENT_MS = 1_000

interface Event {
  readonly name: string
  readonly act: () => Promise<void>
  /** Whether the node that joined must own shards afterwards. */
  readonly joined: boolean
}

export async function measureHandOff(bench: LedgerBench): Promise<readonly HandOffMeasured[]> {
  const { client, cluster } = bench
  const perSecond = Math.max(1, Math.round(RATE_SHARE * (await bench.rate.perSecond())))
  const before = await countTransactions(client)
  const measured = [await measureQuiet(bench, perSecond)]
  const onLedger = (work: typeof drainNode): Promise<void> =>
    onDatabase(cluster.databaseUrl(), async (sql) => void (await work(sql, NODE_ID)))
  let node: RunningPart | undefined
  bench.onEnd(() => node?.stop())
  const events: readonly Event[] = [
    {
      name: 'a node joins',
      joined: true,
      act: async () => {
        node = await spawnChild({ command: 'node', env: environmentOf(bench), secrets: {}, onLine: () => undefined })
      },
    },
    { name: 'it is drained', joined: false, act: () => onLedger(drainNode) },
    { name: 'it is taken back', joined: true, act: () => onLedger(endDrain) },
    { name: 'it ends (SIGTERM)', joined: false, act: async () => node?.stop() },
  ]
  for (const event of events) measured.push(await measureEvent(bench, perSecond, event))
  const after = await countTransactions(client)
  const processed = after.completed + after.failed - before.completed - before.failed
  const accepted = measured.reduce((sum, { run }) => sum + run.accepted, 0)
  if (processed < accepted) throw new Error(`${accepted} submissions were acknowledged, the ledger counts ${processed}`)
  return measured
}

async function measureQuiet(bench: LedgerBench, perSecond: number): Promise<HandOffMeasured> {
  const { seconds } = bench.options
  await bench.load.prepare('spread', perSecond * seconds)
  say(`hand-off: ${perSecond} submissions a second, nothing happens, for ${seconds} s ...`)
  return resultOf('nothing happens', perSecond, await runAt(bench, perSecond, seconds), { settledMs: null, moved: 0 })
}

async function measureEvent(bench: LedgerBench, perSecond: number, event: Event): Promise<HandOffMeasured> {
  const { client, load } = bench
  await load.prepare('spread', perSecond * LIMIT_S)
  const before = await untilSettled(client, 'shards are at rest', LIMIT_S * 1000, () => true)
  say(`hand-off: ${event.name} ...`)
  const running = runAt(bench, perSecond, LIMIT_S)
  const acting = happen(client, event).finally(load.finish)
  const [run, { settledMs, owners }] = await Promise.all([running, acting])
  const moved = Math.abs(shardsOfJoined(owners) - shardsOfJoined(before.owners))
  return resultOf(event.name, perSecond, run, { settledMs, moved })
}

async function happen(client: LedgerClient, { name, act, joined }: Event) {
  await delay(BEFORE_EVENT_MS)
  const beganMs = performance.now()
  await act()
  const settled = await untilSettled(
    client,
    name,
    LIMIT_S * 1000,
    (owners) => shardsOfJoined(owners) > 0 === joined && !owners.has(''),
  )
  return { settledMs: Math.max(0, settled.atMs - beganMs), owners: settled.owners }
}

function runAt({ load }: LedgerBench, perSecond: number, seconds: number): Promise<RunResult> {
  return load.run({
    loop: openLoopAt(perSecond),
    seconds,
    gapsByAccount: true,
  })
}

function resultOf(
  event: string,
  offeredPerSecond: number,
  run: RunResult,
  seen: Pick<HandOffMeasured, 'settledMs' | 'moved'>,
): HandOffMeasured {
  sayOddities(event, { ...run, ranDry: false })
  return { event, offeredPerSecond, ...seen, run, unavailable: run.statuses['503'] ?? 0 }
}

function shardsOfJoined(owners: ShardOwners): number {
  return owners.get(NODE_ID) ?? 0
}

/** Finds the servers by the record that the launcher keeps in the data directory. */
function environmentOf({ cluster }: LedgerBench): Readonly<Record<string, string>> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: cluster.dataDir,
    LEDGER_DATA_DIR: cluster.dataDir,
    LEDGER_NODE_ID: NODE_ID,
    UV_THREADPOOL_SIZE: String(availableParallelism() + 4),
    NODE_ENV: 'production',
  }
}
