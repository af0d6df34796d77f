import { createServer } from 'node:net'

/** The loopback address: embedded servers listen nowhere else. */
export const LOOPBACK = '127.0.0.1'

/** Whether something could listen there now. Nothing is promised for later: whoever starts a server must cope with a loss. */
export function isPortFree(port: number, host: string = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => {
      server.close(() => resolve(true))
    })
  })
}

export function freePort(host: string = LOOPBACK): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port: 0, host, exclusive: true }, () => {
      const address = server.address()
      const port = address !== null && typeof address === 'object' ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

/** The wished port if it is free, else any free one. */
export async function freePortNear(wished: number | null): Promise<number> {
  return wished !== null && (await isPortFree(wished)) ? wished : freePort()
}
