import { runEdge } from '../processes/edge-process.ts'
import { readArgs, type Command } from './common/command.ts'
import {
  configurationOf,
  refuseMissingInProduction,
  refuseWrongTrust,
  warnOfMasterKey,
  warnOfUnsupportedNode,
  withRunningServers,
} from './common/configured.ts'
import { processLog } from './process-log.ts'

export const edgeCommand: Command = {
  summary: 'run one HTTP edge',
  help: `Usage: ledger edge

Runs one HTTP edge on LEDGER_HOST and LEDGER_PORT. Any number of edges may run, behind a load balancer that asks
/readyz. Needs LEDGER_DATABASE_URL and LEDGER_NATS_URL, or a ledger up that runs in the same LEDGER_DATA_DIR.
Logs JSON lines to standard output; SIGTERM lets requests under way end and stops it.
`,
  run: async (args, io) => {
    readArgs(args, {})
    const given = configurationOf(io)
    refuseMissingInProduction(given, false)
    warnOfMasterKey(given, 'edge', io)
    await refuseWrongTrust(given)
    warnOfUnsupportedNode(io)
    const { configuration, databaseUrl } = withRunningServers(given)
    return runEdge(configuration, databaseUrl, processLog(configuration, 'edge', io))
  },
}
