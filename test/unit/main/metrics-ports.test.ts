/** `ledger up` refuses taken metrics ports before it starts anything. */
import { createServer, type Server } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { readConfiguration } from '../../../infra/config/configuration.ts'
import { refuseTakenMetricsPorts } from '../../../infra/launcher/ports-free.ts'
import { freePort, freePorts } from '../../support/processes/free-ports.ts'

let other: Server | undefined

afterEach(async () => {
  await new Promise((resolve) => (other === undefined ? resolve(undefined) : other.close(resolve)))
  other = undefined
})

async function take(port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  other = server
}

function refuse(metricsPort: number | undefined, firstEdgePort: number, edges: number, nodes: number): Promise<void> {
  const env = metricsPort === undefined ? {} : { LEDGER_METRICS_PORT: String(metricsPort) }
  const read = readConfiguration(env, '/somewhere')
  if (!read.ok) throw new Error(read.error.join('\n'))
  return refuseTakenMetricsPorts(read.value.configuration, firstEdgePort, edges, nodes)
}

test('without LEDGER_METRICS_PORT no port is needed', async () => {
  const taken = await freePort()
  await take(taken)
  await expect(refuse(undefined, taken, 1, 1)).resolves.toBeUndefined()
})

test('a taken port is refused for every part', async () => {
  const [free = 0, taken = 0] = await freePorts(2)
  await take(taken)
  const expected = `port ${taken} on 127.0.0.1 is taken: choose another with LEDGER_METRICS_PORT`
  await expect(refuse(taken, 1, 1, 1)).rejects.toThrow(expected)
  await expect(refuse(free, 1, 1, 1)).rejects.toThrow(expected)
})

test.for([
  [8_081, 8_080, 2, 1],
  [8_079, 8_080, 1, 1],
  [8_080, 8_080, 1, 1],
] as const)(
  'metrics ports from %i on that overlap edges from %i on are refused',
  async ([metrics, edge, edges, nodes]) => {
    await expect(refuse(metrics, edge, edges, nodes)).rejects.toThrow('overlap those of the edges')
  },
)

test('ports beyond the last are refused', async () => {
  await expect(refuse(65_535, 1, 1, 1)).rejects.toThrow('port 65536 on 127.0.0.1 is taken')
})
