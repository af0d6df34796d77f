/**
 * A node or an edge of a future release: `next-part.js reads|writes node|edge`. It reads the next wire version, or writes
 * it, and reports once for each version that it has read a message of a part with another version.
 */
import { type CommandIo } from '../../../infra/cli/common/command.ts'
import { configurationOf, withRunningServers } from '../../../infra/cli/common/configured.ts'
import { processLog } from '../../../infra/cli/process-commands.ts'
import { runEdge } from '../../../infra/processes/edge-process.ts'
import { runNode } from '../../../infra/processes/node-process.ts'
import { GATEWAY_DEFAULTS } from '../../../runtime/edge/gateway.ts'
import type { Log } from '../../../runtime/ports/log.ts'
import type { Wire } from '../../../runtime/protocol/wire.ts'
import { READS_NEXT, WRITES_NEXT } from '../nats/next-wire.ts'

const io: CommandIo = {
  env: process.env,
  cwd: process.cwd(),
  readInput: () => Promise.resolve(Buffer.alloc(0)),
  readHidden: () => Promise.resolve(''),
  terminal: { input: false, output: false, error: false },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  stopSignal: () => new AbortController().signal,
}

function told(wire: Wire, log: Log): Wire {
  const seen = new Set<number>()
  return {
    ...wire,
    readEnvelope: (written) => {
      const read = wire.readEnvelope(written)
      const { version } = written
      if (!seen.has(version)) log.info('envelope_read', { version, writes: wire.writes, isRead: read !== undefined })
      seen.add(version)
      return read
    },
  }
}

/**
 * Long enough for a hand-over on a busy machine. A request that is refused because of a version is still refused at its
 * deadline.
 */
const settings = { ...GATEWAY_DEFAULTS, patienceMs: 60_000, deadlineMs: 90_000 }

const [release, part] = process.argv.slice(2)
const { configuration, databaseUrl } = withRunningServers(configurationOf(io))
const log = processLog(configuration, part === 'edge' ? 'edge' : 'node', io)
const wire = told(release === 'writes' ? WRITES_NEXT : READS_NEXT, log)
process.exitCode = await (part === 'edge'
  ? runEdge(configuration, databaseUrl, log, { wire, settings })
  : runNode(configuration, databaseUrl, log, { wire }))
