import { runningPostgresUrl } from '../embedded/postgres-server.ts'
import { runAuditor } from '../processes/auditor-process.ts'
import { CommandFailed, readArgs, type Command } from './common/command.ts'
import { configurationOf, postgresDirectory, warnOfMasterKey, warnOfUnsupportedNode } from './common/configured.ts'
import { processLog } from './process-log.ts'

export const auditorCommand: Command = {
  summary: 'run the auditor',
  help: `Usage: ledger auditor

Walks the whole ledger again and again, and follows what is written meanwhile: every chain, receipt, balance and supply, the
conservation of value, and the history of every NFT. What it finds is what POST /v1/assertions/proof-of-compliance and
proof-of-provenance say of a ledger of more than 100,000 entries; its log says it at once (audit_found).

One runs at a time: others wait until it is gone, and go on where it was. It takes at most LEDGER_AUDITOR_SHARE percent of
one processor (10), PostgreSQL's work for it included: a pass over ten million transactions takes some hours then.
Needs LEDGER_DATABASE_URL, or a ledger up that runs in the same LEDGER_DATA_DIR; no NATS. It decrypts rows, so it needs its
part key (LEDGER_PART_KEY_FILE; in the sandbox the master key in LEDGER_DATA_DIR is enough). Its database user must be able
to read the ledger's tables and to write audit_progress, audit_findings and audit_pending. Findings name accounts by their
references, as rows do.
Logs JSON lines to standard output; SIGTERM stops it.
`,
  run: async (args, io) => {
    readArgs(args, {})
    const configuration = configurationOf(io)
    warnOfMasterKey(configuration, 'auditor', io)
    warnOfUnsupportedNode(io)
    const databaseUrl = configuration.databaseUrl ?? runningPostgresUrl(postgresDirectory(configuration))
    if (databaseUrl === undefined) {
      throw new CommandFailed(
        `LEDGER_DATABASE_URL must be set, or ledger up must run on ${configuration.dataDir} (LEDGER_DATA_DIR)`,
      )
    }
    return runAuditor(configuration, databaseUrl, processLog(configuration, 'auditor', io))
  },
}
