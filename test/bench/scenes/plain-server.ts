/** The plain ledger's HTTP server, a separate process: one function call in PostgreSQL for each request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import postgres from 'postgres'

/** Each has several statements in flight, each of them a transaction of its own. */
const CONNECTIONS = 16
/** A waiting connection stays open. */
const KEEP_ALIVE_MS = 600_000

interface Body {
  readonly key: string
  readonly amount: string
  readonly account: string
  readonly from: string
  readonly to: string
}

const sql = postgres(process.env['PLAIN_DATABASE_URL'] ?? '', { max: CONNECTIONS, onnotice: () => undefined })

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  readBody(request)
    .then((body) => submit(request.url ?? '', body))
    .then(
      (transferId) => reply(response, 201, { transfer_id: transferId }),
      (error: unknown) => reply(response, 422, { detail: error instanceof Error ? error.message : String(error) }),
    )
})

server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))

async function submit(path: string, { key, amount, account, from, to }: Body): Promise<string> {
  const [row] =
    path === '/transfers'
      ? await sql<[{ id: string }]>`SELECT submit_transfer(${key}, ${from}, ${to}, ${amount}) AS id`
      : await sql<[{ id: string }]>`SELECT submit_order(${key}, ${account}, ${amount}) AS id`
  return row.id
}

async function readBody(request: IncomingMessage): Promise<Body> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string
  return JSON.parse(text) as Body
}

function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
