/** A proxy in front of an edge, which can change its responses. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Returns the changed body; undefined: the response passes unchanged. */
export type Tampering = (path: string, body: string) => string | undefined

export interface LedgerProxy {
  readonly origin: string
  /** From now on; undefined: every response passes unchanged. */
  readonly tamper: (tampering: Tampering | undefined) => void
  readonly close: () => Promise<void>
}

export async function startLedgerProxy(origin: string): Promise<LedgerProxy> {
  let tampering: Tampering | undefined
  const server = createServer((incoming, outgoing) => {
    const { accept = '' } = incoming.headers
    if (tampering === undefined || !['application/json', 'text/plain'].includes(accept))
      pass(origin, incoming, outgoing)
    else passChanged(origin, incoming, outgoing, tampering)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    tamper: (given) => {
      tampering = given
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function pass(origin: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, url = '/', headers } = incoming
  const onward = request(new URL(url, origin), { method, headers }, (response) => {
    outgoing.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(outgoing)
  })
  onward.on('error', () => outgoing.destroy())
  outgoing.on('close', () => onward.destroy())
  incoming.pipe(onward)
}

function passChanged(origin: string, incoming: IncomingMessage, outgoing: ServerResponse, tampering: Tampering): void {
  const { method, url = '/', headers } = incoming
  const onward = request(new URL(url, origin), { method, headers: { ...headers, 'accept-encoding': 'identity' } })
  onward.on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const { 'content-length': _length, 'transfer-encoding': _encoding, ...rest } = response.headers
      outgoing.writeHead(response.statusCode ?? 502, rest)
      outgoing.end(tampering(url, body) ?? body)
    })
  })
  onward.on('error', () => outgoing.destroy())
  incoming.pipe(onward)
}
