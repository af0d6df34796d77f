import { createServer } from 'node:net'

/** Embedded servers listen on the loopback address only. */
export const LOOPBACK = '127.0.0.1'

/** Another process may still take the port before a server listens on it. */
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

/** The preferred port if it is free, else any free port. */
export async function freePortNear(preferred: number | null): Promise<number> {
  return preferred !== null && (await isPortFree(preferred)) ? preferred : freePort()
}
