import type { Server } from 'node:http'

/** `variable`: the variable that sets the port, for the error of a port that cannot be used. */
export function listenOn(server: Server, host: string, port: number, variable: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const problem = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used: ${error.message}`
      reject(new Error(`port ${port} on ${host} ${problem}: set ${variable} to another`, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}
