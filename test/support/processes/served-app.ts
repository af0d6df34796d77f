/** An app behind the HTTP server of an edge. */
import { onTestFinished } from 'vitest'
import { listen } from '../../../infra/processes/http-server.ts'
import { freePort } from './free-ports.ts'

/** Serves the app until the end of the test, and returns its port. */
export async function portOf(app: Parameters<typeof listen>[0]): Promise<number> {
  const port = await freePort()
  const server = await listen(app, '127.0.0.1', port, 'https://ledger.example/errors')
  onTestFinished(() => server.stop())
  return port
}
