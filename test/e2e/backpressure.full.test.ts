/**
 * Goal: a node that is asked more than it can take says so (H2), loses nothing by it, does not grow, and is itself again
 * when the load ends; a PostgreSQL that is slow slows the ledger and breaks nothing. One node, one edge, real processes.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest'
import { type HttpReply, LedgerClient } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import { type ClusterParts, type Part, startParts } from '../support/cluster-parts.ts'
import { until } from '../support/cluster-process.ts'
import { memoryDuring } from '../support/process-memory.ts'
import { DurabilityAudit, forAll } from './durability-audit.ts'
import { Crowd, medianLatencyMs } from './backpressure/crowd.ts'
import { ShardLoad } from './many-nodes/shard-load.ts'

const SHARDS = 8
/** More than the 2,048 commands that may wait for one account. */
const CROWD = 2_500
/** More than they were asked before the overload, so that what they might keep of each would show. */
const TURNED_AWAY = 3 * CROWD
/** How long a commit takes: a second's commands wait for it. */
const STALLED_S = 1
const SLOW_MS = [50, 200] as const
/** Of what the same crowd has made them take before. */
const GROWTH_AT_MOST = 2
const SLOWER_AT_MOST = 4
const WITHIN_MS = 180_000

let cluster: ClusterParts
let client: LedgerClient
beforeAll(async () => {
  cluster = await startParts({ nodes: 1, edges: 1, shards: SHARDS, natsServers: 1, natsDirectly: true })
  client = await LedgerClient.login(cluster.origins[0] ?? '', cluster.client)
})
afterAll(async () => {
  client.close()
  await cluster.close()
})

test(
  'H2, I12: an overloaded node turns away what it does not take, loses nothing, stays small, and recovers',
  { timeout: 4 * WITHIN_MS },
  async () => {
    onTestFailed(() => {
      for (const name of ['node-1', 'edge-1']) process.stderr.write(`${name}:\n${part(name).lastLines()}\n`)
    })
    const crowd = await Crowd.open(client, CROWD)
    const other = await client.register('other@crowd')
    crowd.start()
    await until('the crowd was served', WITHIN_MS, () => crowd.operations.length >= CROWD)
    await crowd.finish()
    const usualMs = await medianLatencyMs(client, other)
    const ownedBefore = await owners()

    const before = crowd.turnedAway.length
    const meanwhile: HttpReply[] = []
    const memory = await memoryDuring([part('node-1').pid, part('edge-1').pid], async () => {
      await stallCommits(STALLED_S)
      try {
        crowd.start()
        await until('many are turned away', WITHIN_MS, () => crowd.turnedAway.length >= before + TURNED_AWAY)
        await until('another account is served', WITHIN_MS, async () => {
          const reply = await client.submit(other, { type: 'credit', amount: '1', idempotency_key: 'meanwhile' })
          meanwhile.push(reply)
          return reply.status === 202
        })
      } finally {
        await stallCommits(0)
        await crowd.finish()
      }
    })
    await until('answers come as before', WITHIN_MS, async () => {
      return (await medianLatencyMs(client, other)) < SLOWER_AT_MOST * usualMs
    })

    expect(crowd.surprises).toEqual([])
    expect(crowd.turnedAway.filter((reply) => !saysOverloaded(reply)).map(({ body }) => body)).toEqual([])
    // A machine that gives the parts no processor for seconds parts them from NATS: that is told as what it is, and nothing
    // else is.
    expect(wereParted() ? [] : crowd.unreached.map(({ body }) => body)).toEqual([])
    expect(crowd.unreached.filter((reply) => !saysUnreached(reply)).map(({ body }) => body)).toEqual([])
    expect(crowd.unreached.length).toBeLessThan(crowd.turnedAway.length)
    expect(await owners()).toEqual(ownedBefore)
    // It may have to ask again where the machine is slow, but not because others ask too much.
    expect(meanwhile.filter(saysOverloaded)).toEqual([])
    expect(meanwhile.filter(({ status }) => status !== 202 && status !== 503)).toEqual([])
    expect(memory.filter(({ baseBytes, peakBytes }) => peakBytes >= GROWTH_AT_MOST * baseBytes)).toEqual([])
    // A client that left after a refusal is not among the operations: if its request had been applied, there would be
    // one too many.
    expect(crowd.left).toBeGreaterThan(0)
    const audit = new DurabilityAudit(client)
    await audit.account(crowd.holder.accountId, crowd.operations)
    expect(audit.faults).toEqual([])
    expect(audit.completed).toBe(crowd.operations.length)
  },
)

test('a slow PostgreSQL slows every shard, moves none, and is no reason to refuse anything', async () => {
  const load = await ShardLoad.open([client], SHARDS)
  const before = await owners()
  load.start()
  try {
    for (const roundTripMs of SLOW_MS) {
      const { gapsMs, others } = await load.through(() => delayPostgres(roundTripMs), WITHIN_MS)
      expect([...others]).toEqual([])
      // A commit is a round trip at least: the delay was there.
      expect(Math.min(...gapsMs)).toBeGreaterThan(roundTripMs)
    }
    delayPostgres(0)
  } finally {
    await load.finish()
  }
  expect(load.surprises).toEqual([])
  expect(await owners()).toEqual(before)
  const audit = new DurabilityAudit(client)
  await forAll(load.shards, ({ holder: { accountId } }) =>
    audit.account(
      accountId,
      load.operations.filter((operation) => operation.accountId === accountId),
    ),
  )
  expect(audit.faults).toEqual([])
})

/** Whether the node or the edge had lost NATS. */
function wereParted(): boolean {
  return ['node-1', 'edge-1'].some((name) => part(name).lastLines().includes('"nats_disconnected"'))
}

function saysOverloaded(reply: HttpReply): boolean {
  return saysNotApplied(reply, 'ERR_OVERLOADED')
}

function saysUnreached(reply: HttpReply): boolean {
  return saysNotApplied(reply, 'ERR_SHARD_UNAVAILABLE')
}

function saysNotApplied({ status, headers, body }: HttpReply, code: string): boolean {
  const { error_codes: codes, outcome } = JSON.parse(body) as Members
  const isRight = Array.isArray(codes) && codes.includes(code) && outcome === 'not_applied'
  return status === 503 && isRight && Number(headers['retry-after']) > 0
}

/** With the epochs: a shard that moved and came back is seen. */
async function owners(): Promise<readonly unknown[]> {
  const shards = await client.readAll('/v1/shards', 'shards')
  return shards.map(({ shard_id: shardId, owner, epoch }) => ({ shardId, owner, epoch }))
}

/** Inside of PostgreSQL: whatever the crowd costs the process that plays it, each commit takes this, and nothing else does. */
async function stallCommits(seconds: number): Promise<void> {
  const sql = postgres(cluster.databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    await sql`DROP TRIGGER IF EXISTS stalled ON transactions`
    if (seconds === 0) return
    await sql.unsafe(`
      CREATE OR REPLACE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NULL; END $$`)
    await sql`CREATE TRIGGER stalled BEFORE INSERT ON transactions FOR EACH STATEMENT EXECUTE FUNCTION stall()`
  } finally {
    await sql.end()
  }
}

function delayPostgres(roundTripMs: number): void {
  for (const { wires } of cluster.parts.values()) wires.postgres.delay(roundTripMs)
}

function part(name: string): Part {
  const found = cluster.parts.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}
