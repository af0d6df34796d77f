/**
 * `ledger up`: runs a whole ledger.
 *   G1. The first signal stops everything in order, the second ends everything at once. A terminal, npm and the shell may
 *       each forward the same Ctrl-C: signals within a second of the first are ignored.
 */
import { StartStopped, Supervisor } from '../launcher/supervisor.ts'
import type { Configuration } from '../config/configuration.ts'
import { type CommandIo, type CommandSetup, exitUnless, integerBetween } from './common/command.ts'
import {
  configurationOf,
  natsDirectory,
  postgresDirectory,
  refuseMissingInProduction,
  refuseWrongFiles,
  warnOfUnsupportedNode,
} from './common/configured.ts'
import { writeAddresses } from './profile/local-ledger.ts'
import { welcome } from './welcome.ts'

const MAX_PROCESSES = 64
const SAME_SIGNAL_MS = 1_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const upCommand: CommandSetup = (command, io) => {
  const count = integerBetween(1, MAX_PROCESSES)
  command
    .description(
      `Runs a whole ledger on this machine and prints how to use it: PostgreSQL and nats-server (unless
LEDGER_DATABASE_URL and LEDGER_NATS_URL name others), shard nodes and edges. Each is a process that
is restarted if it dies. Edge i listens on LEDGER_PORT + i - 1. All data is in LEDGER_DATA_DIR
(.ledger), with logs in its directory logs. Ctrl-C or SIGTERM stops everything in order, a second
one at once.`,
    )
    .option('--nodes <n>', 'number of shard nodes', count, 1)
    .option('--edges <n>', 'number of edges', count, 1)
    .action(async ({ nodes, edges }: { nodes: number; edges: number }) => {
      const configuration = configurationOf(io)
      refuseMissingInProduction(configuration, true)
      await refuseWrongFiles(configuration)
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
      await supervise(supervisor, configuration, io)
    })
}

async function supervise(supervisor: Supervisor, configuration: Configuration, io: CommandIo): Promise<void> {
  // A closed terminal must not end the process before it has stopped the ledger in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const stopped = stopRequest(supervisor, io)
  let failure: unknown
  try {
    const ledger = await supervisor.start()
    writeAddresses(configuration.dataDir, ledger.addresses)
    io.out(welcome(ledger, configuration))
    await stopped
  } catch (error) {
    if (!(error instanceof StartStopped)) failure = error
  }
  await supervisor.stop()
  if (failure !== undefined) {
    if (failure instanceof Error) throw failure
    exitUnless(false)
  }
  io.err('stopped\n')
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
