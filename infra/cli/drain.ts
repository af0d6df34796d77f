import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../postgres/connection/connection.ts'
import { drainNode, endDrain, nodesSeen } from '../postgres/store/drains.ts'
import { listShards } from '../postgres/store/ownership.ts'
import { CommandFailed, type CommandIo, type CommandSetup } from './common/command.ts'
import { type ConfiguredLedger, withConnection } from './common/configured.ts'
import { recorded } from './common/recorded.ts'

const POLL_MS = 500
const PROGRESS_MS = 5_000

interface DrainOptions {
  readonly wait: boolean
  readonly end?: boolean
}

export const drainCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Moves all shards of a node to other nodes, and gives it no new ones until --end, even after a
restart. Waits until the node has no shards, and prints how many are left. Ctrl-C ends the waiting,
not the draining. If no other node is ready, the node keeps its shards.`,
    )
    .argument('<node>', 'LEDGER_NODE_ID of a node that has run')
    .option('--no-wait', 'do not wait until the node has no shards')
    .option('--end', 'end the draining')
    .action(async (nodeId: string, { wait, end = false }: DrainOptions) => {
      await withConnection(io, 'ledger drain', async (sql, given) => {
        await refuseUnknown(sql, nodeId)
        if (end) await endDraining(given, sql, nodeId, io)
        else await drain({ given, sql, nodeId, waits: wait }, io)
      })
    })
}

/** A misspelled node would look as if it had no shards. */
async function refuseUnknown(sql: Sql, nodeId: string): Promise<void> {
  const nodes = await nodesSeen(sql)
  if (nodes.includes(nodeId)) return
  const known = nodes.length === 0 ? 'no node has run yet' : `the nodes are ${nodes.join(', ')}`
  throw new CommandFailed(`there is no node ${nodeId}: ${known}`)
}

async function endDraining(given: ConfiguredLedger, sql: Sql, nodeId: string, io: CommandIo): Promise<void> {
  const act = { act: 'drain', details: { node_id: nodeId, end: true } }
  const wasDrained = await recorded(given, act, () => endDrain(sql, nodeId))
  io.err(wasDrained ? `${nodeId} may get shards again\n` : `${nodeId} was not being drained\n`)
}

interface Draining {
  readonly given: ConfiguredLedger
  readonly sql: Sql
  readonly nodeId: string
  /** Until the node has no shards. */
  readonly waits: boolean
}

async function drain({ given, sql, nodeId, waits }: Draining, io: CommandIo): Promise<void> {
  const act = { act: 'drain', details: { node_id: nodeId, end: false } }
  await recorded(given, act, () => drainNode(sql, nodeId))
  let printedMs = Number.NEGATIVE_INFINITY
  for (;;) {
    const shards = await listShards(sql)
    const left = shards.filter((shard) => shard.nodeId === nodeId).length
    if (left === 0) {
      io.err(`${nodeId} has no shards\n`)
      return
    }
    if (performance.now() - printedMs >= PROGRESS_MS) {
      printedMs = performance.now()
      io.err(`${nodeId} has ${left} of ${shards.length} shards left\n`)
    }
    if (!waits) return
    await pause(POLL_MS)
  }
}
