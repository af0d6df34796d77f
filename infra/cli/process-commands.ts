/** The commands that run one process of a ledger until a signal stops it. */
import type { Log } from '../../runtime/ports/log.ts'
import type { Configuration } from '../config/configuration.ts'
import { runningPostgresUrl } from '../embedded/postgres-server.ts'
import type { Part } from '../keys/wrapping-keys.ts'
import { createJsonLinesLog } from '../system/log-json-lines.ts'
import { type CommandIo, type CommandSetup, exitUnless } from './common/command.ts'
import {
  configurationOf,
  noServers,
  postgresDirectory,
  refuseMissingInProduction,
  refuseWrongFiles,
  warnOfMasterKey,
  warnOfUnsupportedNode,
  withRunningServers,
} from './common/configured.ts'

export const nodeCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Runs one shard node: it owns shards, applies transactions and commits them. Any number of nodes
may run. Each needs its own LEDGER_NODE_ID (a random one by default). Needs LEDGER_DATABASE_URL and
LEDGER_NATS_URL, or a ledger up that runs in the same LEDGER_DATA_DIR. Logs JSON lines to standard
output. SIGTERM hands the shards over and stops the node.`,
    )
    .action(async () => {
      const { configuration, databaseUrl } = await prepare('node', io)
      const { runNode } = await import('../processes/node-process.ts')
      exitUnless((await runNode(configuration, databaseUrl, processLog(configuration, 'node', io))) === 0)
    })
}

export const edgeCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Runs one HTTP edge on LEDGER_HOST and LEDGER_PORT. Any number of edges may run behind a load balancer
that checks /readyz. Needs LEDGER_DATABASE_URL and LEDGER_NATS_URL, or a ledger up that runs in the
same LEDGER_DATA_DIR. Logs JSON lines to standard output. SIGTERM stops the edge after its open
requests.`,
    )
    .action(async () => {
      const { configuration, databaseUrl } = await prepare('edge', io)
      const { runEdge } = await import('../processes/edge-process.ts')
      exitUnless((await runEdge(configuration, databaseUrl, processLog(configuration, 'edge', io))) === 0)
    })
}

export const auditorCommand: CommandSetup = (command, io) => {
  command
    .description(
      `Verifies the whole ledger again and again, and follows new commits: every chain, receipt, balance and
supply, the conservation of value, and the history of every NFT. In a ledger of more than 100,000
entries, POST /v1/assertions/proof-of-compliance and proof-of-provenance rest on its findings. It
logs a finding at once (audit_found). Findings name accounts by their references, as rows do.

One auditor works at a time. Others wait until it is gone, and continue from its position. It uses at
most LEDGER_AUDITOR_SHARE percent of one processor (10), including PostgreSQL's work for it: a pass
over ten million transactions then takes some hours.

Needs LEDGER_DATABASE_URL, or a ledger up that runs in the same LEDGER_DATA_DIR, but not NATS. It
decrypts rows, so it needs its part key (LEDGER_PART_KEY_FILE; in the sandbox the master key in
LEDGER_DATA_DIR suffices). Its database user must be able to read the ledger's tables and to write
audit_progress and audit_findings.
Logs JSON lines to standard output. SIGTERM stops it.`,
    )
    .action(async () => {
      const configuration = configurationOf(io)
      warnOfMasterKey(configuration, 'auditor', io)
      warnOfUnsupportedNode(io)
      const databaseUrl = configuration.databaseUrl ?? runningPostgresUrl(postgresDirectory(configuration))
      if (databaseUrl === undefined) throw noServers('LEDGER_DATABASE_URL', configuration)
      const { runAuditor } = await import('../processes/auditor-process.ts')
      exitUnless((await runAuditor(configuration, databaseUrl, processLog(configuration, 'auditor', io))) === 0)
    })
}

async function prepare(part: 'node' | 'edge', io: CommandIo): Promise<ReturnType<typeof withRunningServers>> {
  const configuration = configurationOf(io)
  refuseMissingInProduction(configuration, false)
  warnOfMasterKey(configuration, part, io)
  if (part === 'edge') await refuseWrongFiles(configuration)
  warnOfUnsupportedNode(io)
  return withRunningServers(configuration)
}

export function processLog(configuration: Configuration, part: Part | 'publisher', io: CommandIo): Log {
  return createJsonLinesLog({
    level: configuration.logLevel,
    fields: { part, ...(configuration.nodeId === undefined ? {} : { id: configuration.nodeId }), pid: process.pid },
    write: io.out,
  })
}
