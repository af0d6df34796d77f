import { runNode } from '../processes/node-process.ts'
import { readArgs, type Command } from './common/command.ts'
import {
  configurationOf,
  refuseMissingInProduction,
  warnOfMasterKey,
  warnOfUnsupportedNode,
  withRunningServers,
} from './common/configured.ts'
import { processLog } from './process-log.ts'

export const nodeCommand: Command = {
  summary: 'run one shard node',
  help: `Usage: ledger node

Runs one shard node: it owns shards, applies transactions and commits them. Any number of nodes may run; each needs
its own LEDGER_NODE_ID (a random one by default). Needs LEDGER_DATABASE_URL and LEDGER_NATS_URL, or a ledger up that
runs in the same LEDGER_DATA_DIR. Logs JSON lines to standard output; SIGTERM hands its shards over and stops it.
`,
  run: async (args, io) => {
    readArgs(args, {})
    const given = configurationOf(io)
    refuseMissingInProduction(given, false)
    warnOfMasterKey(given, 'node', io)
    warnOfUnsupportedNode(io)
    const { configuration, databaseUrl } = withRunningServers(given)
    return runNode(configuration, databaseUrl, processLog(configuration, 'node', io))
  },
}
