import { connect, type Sql } from '../postgres/connection/connection.ts'
import { drainNode, endDrain, nodesSeen } from '../postgres/store/drains.ts'
import { listShards } from '../postgres/store/ownership.ts'
import { CommandFailed, EXIT_OK, readArgs, type Command, type CommandIo } from './common/command.ts'
import { configurationOf, withDatabase } from './common/configured.ts'
import { refuseEarlierSchema } from '../postgres/migrations/migrate.ts'

const LOOK_EVERY_MS = 500
const TELL_EVERY_MS = 5_000

export const drainCommand: Command = {
  summary: 'empty a node of its shards, to stop or repair it',
  help: `Usage: ledger drain NODE [--no-wait]
       ledger drain NODE --end

Asks for all shards of the node to be served by others, and for no new ones to be given to it, until --end. It stands
when the node is started again. Waits until the node has no shard left, and says how many there are; Ctrl-C ends the
waiting and not the draining. Where no other node is ready the node keeps its shards.
NODE is the LEDGER_NODE_ID of a node that has run.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(
      args,
      { 'no-wait': { type: 'boolean' }, end: { type: 'boolean' } },
      { least: 1, most: 1, what: 'the ID of a node' },
    )
    const nodeId = positionals[0] ?? ''
    return withDatabase(configurationOf(io), io, async (url) => {
      const connection = await connect({ url, applicationName: 'ledger drain' })
      try {
        await refuseEarlierSchema(connection.sql)
        await refuseUnknown(connection.sql, nodeId)
        if (values.end === true) await end(connection.sql, nodeId, io)
        else await drain(connection.sql, nodeId, values['no-wait'] !== true, io)
      } finally {
        await connection.end()
      }
      return EXIT_OK
    })
  },
}

/** A node that is misspelt would never be empty, and look as if it were. */
async function refuseUnknown(sql: Sql, nodeId: string): Promise<void> {
  const nodes = await nodesSeen(sql)
  if (nodes.includes(nodeId)) return
  const known = nodes.length === 0 ? 'no node has run yet' : `known are ${nodes.join(', ')}`
  throw new CommandFailed(`there is no node ${nodeId}: ${known}`)
}

async function end(sql: Sql, nodeId: string, io: CommandIo): Promise<void> {
  const wasDrained = await endDrain(sql, nodeId)
  io.err(wasDrained ? `${nodeId} may be given shards again\n` : `${nodeId} was not being drained\n`)
}

async function drain(sql: Sql, nodeId: string, waits: boolean, io: CommandIo): Promise<void> {
  await drainNode(sql, nodeId)
  let told = Number.NEGATIVE_INFINITY
  for (;;) {
    const shards = await listShards(sql)
    const left = shards.filter((shard) => shard.nodeId === nodeId).length
    if (left === 0) {
      io.err(`${nodeId} has no shards\n`)
      return
    }
    if (performance.now() - told >= TELL_EVERY_MS) {
      told = performance.now()
      io.err(`${nodeId} has ${left} of ${shards.length} shards left\n`)
    }
    if (!waits) return
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_EVERY_MS)
    })
  }
}
