import type { Configuration } from '../config/configuration.ts'
import { isPortFree } from '../embedded/free-port.ts'

const HIGHEST_PORT = 65_535
/** Number of ports above the default that are tried. */
const RANGE = 1_000

/**
 * The port of the first edge; the other edges use the ports after it. A configured port is used or refused. The default is
 * replaced by the next free port, except in production.
 */
export async function edgePort(
  configuration: Configuration,
  edges: number,
  say: (text: string) => void,
): Promise<number> {
  const { host, port, portGiven, environment } = configuration
  const taken = await firstTaken(host, port, edges)
  if (taken === undefined) return port
  if (portGiven || environment === 'production') {
    throw new Error(
      `port ${taken} on ${host} is taken: choose another with LEDGER_PORT${edges > 1 ? ` (${edges} edges use ${edges} ports from there on)` : ''}`,
    )
  }
  for (let other = port + 1; other < port + RANGE; other += 1) {
    if ((await firstTaken(host, other, edges)) !== undefined) continue
    say(`port ${taken} on ${host} is taken: using ${other} (LEDGER_PORT chooses another)`)
    return other
  }
  throw new Error(`port ${taken} on ${host} is taken, and so are the next ones: choose another with LEDGER_PORT`)
}

/** Throws if edges, nodes and the auditor cannot get consecutive metrics ports from the configured one on. */
export async function refuseTakenMetricsPorts(
  { metrics }: Configuration,
  firstEdgePort: number,
  edges: number,
  nodes: number,
): Promise<void> {
  if (metrics === undefined) return
  const { host, port } = metrics
  const count = edges + nodes + 1
  const last = port + count - 1
  if (port < firstEdgePort + edges && firstEdgePort <= last) {
    throw new Error(
      `the metrics ports ${port} to ${last} overlap those of the edges, from ${firstEdgePort} on: choose another LEDGER_METRICS_PORT`,
    )
  }
  const taken = await firstTaken(host, port, count)
  if (taken === undefined) return
  throw new Error(
    `port ${taken} on ${host} is taken: choose another with LEDGER_METRICS_PORT (edges, nodes and the auditor use ${count} ports from there on)`,
  )
}

async function firstTaken(host: string, port: number, count: number): Promise<number | undefined> {
  for (let offset = 0; offset < count; offset += 1) {
    if (port + offset > HIGHEST_PORT || !(await isPortFree(port + offset, host))) return port + offset
  }
  return undefined
}
