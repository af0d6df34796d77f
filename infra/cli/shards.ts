import type { ShardView } from '../../runtime/ports/shard-health.ts'
import { refuseEarlierSchemaAt } from '../postgres/migrations/migrate.ts'
import { createShardHealth } from '../postgres/reads/shard-health-postgres.ts'
import { EXIT_OK, readArgs, type Command } from './common/command.ts'
import { configurationOf, withDatabase } from './common/configured.ts'

const PAGE_SIZE = 1_000

export const shardsCommand: Command = {
  summary: 'show who owns each shard and how it fares',
  help: `Usage: ledger shards [--json]

Prints, for each node, how many shards it owns and in which state they are, and names the shards that are not healthy.
With --json it prints one shard a line, as GET /v1/shards shows it: its owner, its epoch, its health_state, and the
number of transactions that ended in it.
`,
  run: async (args, io) => {
    const { values } = readArgs(args, { json: { type: 'boolean' } })
    const shards = await withDatabase(configurationOf(io), io, allShards)
    io.out(values.json === true ? shards.map(lineOf).join('') : summaryOf(shards))
    return EXIT_OK
  },
}

async function allShards(url: string): Promise<readonly ShardView[]> {
  await refuseEarlierSchemaAt(url)
  const health = createShardHealth({ url })
  try {
    const shards: ShardView[] = []
    for (let after: number | null = -1; after !== null;) {
      const page = await health.shards(after, PAGE_SIZE)
      shards.push(...page.shards)
      after = page.next
    }
    return shards
  } finally {
    await health.close()
  }
}

function lineOf({ shardId, owner, epoch, healthState, txnCount, updatedAtMs }: ShardView): string {
  return `${JSON.stringify({
    shard_id: shardId,
    owner,
    epoch,
    health_state: healthState,
    txn_count: txnCount,
    updated_at: new Date(updatedAtMs).toISOString(),
  })}\n`
}

function summaryOf(shards: readonly ShardView[]): string {
  const owners = new Map<string, ShardView[]>()
  for (const shard of shards) {
    const owner = shard.owner ?? 'nobody'
    const owned = owners.get(owner)
    if (owned === undefined) owners.set(owner, [shard])
    else owned.push(shard)
  }
  const lines = [...owners]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([owner, owned]) => `${owner}: ${owned.length} of ${shards.length} shards (${statesOf(owned)})`)
  const others = shards.filter(({ healthState }) => healthState !== 'healthy')
  const named = others.map(({ shardId, healthState }) => `${shardId} ${healthState}`)
  return [...lines, ...(named.length === 0 ? [] : [`not healthy: ${named.join(', ')}`]), ''].join('\n')
}

function statesOf(shards: readonly ShardView[]): string {
  const counts = new Map<string, number>()
  for (const { healthState } of shards) counts.set(healthState, (counts.get(healthState) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}
