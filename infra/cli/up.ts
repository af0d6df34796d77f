/**
 * The command that runs a whole ledger.
 *   G1. The first signal stops everything in order, the second ends everything at once. A terminal, npm and the shell
 *       between may each pass the same Ctrl-C on: what comes within a second of the first is the first.
 */
import { StartStopped, Supervisor } from '../launcher/supervisor.ts'
import type { Configuration } from '../config/configuration.ts'
import { EXIT_FAILED, EXIT_OK, readArgs, wholeNumber, type Command, type CommandIo } from './common/command.ts'
import {
  configurationOf,
  natsDirectory,
  postgresDirectory,
  refuseMissingInProduction,
  refuseWrongTrust,
  warnOfUnsupportedNode,
} from './common/configured.ts'
import { welcome } from './welcome.ts'

const MOST_PROCESSES = 64
const SAME_SIGNAL_MS = 1_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const upCommand: Command = {
  summary: 'run a whole ledger (what npm start does)',
  help: `Usage: ledger up [--nodes N] [--edges N]

Runs a whole ledger on this machine and says how to use it: PostgreSQL and nats-server (unless LEDGER_DATABASE_URL and
LEDGER_NATS_URL name others), N shard nodes and N edges (1 each by default), as processes of their own that are started
again when they die. Edge i listens on LEDGER_PORT + i - 1. Everything is kept in LEDGER_DATA_DIR (.ledger); logs are in
its directory logs. Ctrl-C or SIGTERM stops all of it in order, a second one at once.
`,
  run: async (args, io) => {
    const { values } = readArgs(args, { nodes: { type: 'string' }, edges: { type: 'string' } })
    const nodes = wholeNumber(values.nodes, 'nodes', 1, MOST_PROCESSES, 1)
    const edges = wholeNumber(values.edges, 'edges', 1, MOST_PROCESSES, 1)
    const configuration = configurationOf(io)
    refuseMissingInProduction(configuration, true)
    await refuseWrongTrust(configuration)
    warnOfUnsupportedNode(io)
    const supervisor = new Supervisor({
      configuration,
      env: io.env,
      nodes,
      edges,
      postgresDir: postgresDirectory(configuration),
      natsDir: natsDirectory(configuration),
      say: (text) => io.err(`${text}\n`),
    })
    return supervise(supervisor, configuration, io)
  },
}

async function supervise(supervisor: Supervisor, configuration: Configuration, io: CommandIo): Promise<number> {
  // A terminal that is gone must not end the ledger before it has stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const stopped = stopRequest(supervisor, io)
  let failure: unknown
  try {
    const ledger = await supervisor.start()
    io.out(welcome(ledger, configuration))
    await stopped
  } catch (error) {
    if (!(error instanceof StartStopped)) failure = error
  }
  await supervisor.stop()
  if (failure !== undefined) {
    if (failure instanceof Error) throw failure
    return EXIT_FAILED
  }
  io.err('stopped\n')
  return EXIT_OK
}

/** Resolves at the first signal. */
function stopRequest(supervisor: Supervisor, io: CommandIo): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined
    const onSignal = (): void => {
      if (firstMs === undefined) {
        firstMs = performance.now()
        io.err('stopping in order (Ctrl-C again ends everything at once) ...\n')
        supervisor.cutShort()
        resolve()
      } else if (performance.now() - firstMs > SAME_SIGNAL_MS) {
        io.err('ending everything at once\n')
        supervisor.kill()
      }
    }
    for (const signal of SIGNALS) process.on(signal, onSignal)
  })
}
