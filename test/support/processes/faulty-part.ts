/** A node with the faults of injected-faults.ts, or an edge with a shorter deadline: `faulty-part.js node|edge`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CommandIo } from '../../../infra/cli/common/command.ts'
import { configurationOf, withRunningServers } from '../../../infra/cli/common/configured.ts'
import { processLog } from '../../../infra/cli/process-commands.ts'
import { runEdge } from '../../../infra/processes/edge-process.ts'
import { runNode } from '../../../infra/processes/node-process.ts'
import { GATEWAY_DEFAULTS } from '../../../runtime/edge/gateway.ts'
import type { LedgerNodeDependencies } from '../../../runtime/node/ledger-node.ts'
import { WIRE } from '../../../runtime/protocol/wire.ts'
import { type InjectedFault, withFaults } from './injected-faults.ts'

const io: CommandIo = {
  env: { ...process.env, LEDGER_METRICS_PORT: process.env[`METRICS_OF_${process.env['LEDGER_NODE_ID']}`] },
  cwd: process.cwd(),
  readInput: () => Promise.resolve(Buffer.alloc(0)),
  readHidden: () => Promise.resolve(''),
  terminal: { input: false, output: false, error: false },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  stopSignal: () => new AbortController().signal,
}

/** Evicts each actor as soon as no command needs it, so that each command is looked up. */
function withoutResidents(dependencies: LedgerNodeDependencies): LedgerNodeDependencies {
  return { ...dependencies, settings: { ...dependencies.settings, maxResidents: 0 } }
}

/** These occur on one node only: on the other the request is retried, also where its shard moves there meanwhile. */
const OF_ONE_NODE: ReadonlySet<string> = new Set([
  'order-commit-lost',
  'order-commit-failed',
  'order-unrecoverable',
  'order-unwritable',
  'order-reply',
])
const claimed = new Map<string, boolean>()

/** The first node that meets the fault creates a file in the data directory, which all nodes share. */
function claim(name: string): boolean {
  try {
    writeFileSync(join(process.env['LEDGER_DATA_DIR'] ?? '', `${name}.claimed`), '', { flag: 'wx' })
    return true
  } catch {
    return false
  }
}

function shouldFail({ name }: InjectedFault): boolean {
  if (!OF_ONE_NODE.has(name)) return true
  const isMine = claimed.get(name) ?? claim(name)
  claimed.set(name, isMine)
  return isMine
}

const [part] = process.argv.slice(2)
const { configuration, databaseUrl } = withRunningServers(configurationOf(io))
const log = processLog(configuration, part === 'edge' ? 'edge' : 'node', io)
process.exitCode = await (part === 'edge'
  ? runEdge(configuration, databaseUrl, log, { settings: { ...GATEWAY_DEFAULTS, deadlineMs: 5_000 } })
  : runNode(configuration, databaseUrl, log, {
      wire: WIRE,
      over: (dependencies) => withFaults(withoutResidents(dependencies), shouldFail),
    }))
