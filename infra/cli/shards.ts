import { appendTo } from '../../runtime/common/append-to.ts'
import type { ShardView } from '../../runtime/ports/shard-health.ts'
import { refuseEarlierSchemaAt } from '../postgres/migrations/migrate.ts'
import { createShardHealth } from '../postgres/reads/shard-health-postgres.ts'
import type { CommandSetup } from './common/command.ts'
import { configurationOf, withDatabase } from './common/configured.ts'

const PAGE_SIZE = 1_000

export const shardsCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Prints, for each node, how many shards it owns and their health states, and lists the shards that
are not healthy.`,
    )
    .option('--json', 'print one shard a line as JSON, with the fields of GET /v1/shards')
    .action(async ({ json = false }: { json?: boolean }) => {
      const shards = await withDatabase(configurationOf(io), io, allShards)
      io.out(json ? shards.map(lineOf).join('') : shardSummary(shards))
    })
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

/** `shards`: in order of their IDs. */
export function shardSummary(shards: readonly Pick<ShardView, 'shardId' | 'owner' | 'healthState'>[]): string {
  const owners = grouped(shards, ({ owner }) => owner ?? '(no owner)')
  const lines = [...owners]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([owner, owned]) => {
      const states = [...grouped(owned, ({ healthState }) => healthState)]
      const counts = states.map(([state, some]) => `${some.length} ${state}`).join(', ')
      return `${owner}: ${owned.length} of ${shards.length} shards (${counts})`
    })
  const others = grouped(
    shards.filter(({ healthState }) => healthState !== 'healthy'),
    ({ healthState }) => healthState,
  )
  const named = [...others].map(([state, some]) => `${state} ${rangesOf(some.map(({ shardId }) => shardId))}`)
  return [...lines, ...(named.length === 0 ? [] : [`not healthy: ${named.join('; ')}`]), ''].join('\n')
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) appendTo(groups, keyOf(item), item)
  return groups
}

/** `0-84, 90`. `numbers`: ascending. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = []
  for (const number of numbers) {
    const range = ranges.at(-1)
    if (range?.[1] === number - 1) range[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}
