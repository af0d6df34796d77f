import type { Configuration } from '../config/configuration.ts'
import { isPortFree } from '../embedded/free-port.ts'

const HIGHEST_PORT = 65_535
/** How far above the default another port is looked for. */
const RANGE = 1_000

/**
 * The port of the first edge; the others follow it. A port that was asked for is used or refused; the default gives way
 * to the next one that is free, outside production.
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
      `port ${taken} on ${host} is taken: choose another with LEDGER_PORT${edges > 1 ? ` (${edges} edges take ${edges} ports from it on)` : ''}`,
    )
  }
  for (let other = port + 1; other < port + RANGE; other += 1) {
    if ((await firstTaken(host, other, edges)) !== undefined) continue
    say(`port ${taken} on ${host} is taken: using ${other} (LEDGER_PORT chooses another)`)
    return other
  }
  throw new Error(`port ${taken} on ${host} is taken, and so are those after it: choose another with LEDGER_PORT`)
}

/**
 * Throws unless every edge and then every node can be given a port of its own to be watched on, from the one that was
 * asked for on.
 */
export async function refuseTakenMetricsPorts(
  { metrics }: Configuration,
  firstEdgePort: number,
  edges: number,
  nodes: number,
): Promise<void> {
  if (metrics === undefined) return
  const { host, port } = metrics
  const last = port + edges + nodes - 1
  if (port < firstEdgePort + edges && firstEdgePort <= last) {
    throw new Error(
      `LEDGER_METRICS_PORT is ${port}, and the ports to ${last} meet those of the edges, from ${firstEdgePort} on: choose another`,
    )
  }
  const taken = await firstTaken(host, port, edges + nodes)
  if (taken === undefined) return
  throw new Error(
    `port ${taken} on ${host} is taken: choose another with LEDGER_METRICS_PORT (edges and nodes take ${edges + nodes} ports from it on)`,
  )
}

async function firstTaken(host: string, port: number, count: number): Promise<number | undefined> {
  for (let offset = 0; offset < count; offset += 1) {
    if (port + offset > HIGHEST_PORT || !(await isPortFree(port + offset, host))) return port + offset
  }
  return undefined
}
