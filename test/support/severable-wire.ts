/**
 * A wire between a process and a server that can be severed as a network is: both ends keep their connections, and
 * nothing passes, until it is restored or they give up.
 */
import net from 'node:net'

export interface SeverableWire {
  readonly port: number
  readonly sever: () => void
  /** What was held back passes, if both ends are still there. */
  readonly restore: () => void
  readonly close: () => Promise<void>
}

export async function startWire(target: { readonly host: string; readonly port: number }): Promise<SeverableWire> {
  const sockets = new Set<net.Socket>()
  let severed = false

  const carry = (from: net.Socket, to: net.Socket): void => {
    sockets.add(from)
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => {
      if (!severed) from.resume()
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      sockets.delete(from)
      // The news of an end does not pass either.
      if (!severed) to.destroy()
      else to.once('resume', () => to.destroy())
    })
    if (severed) from.pause()
  }
  const listener = net.createServer({ pauseOnConnect: true }, (client) => {
    const server = net.connect(target.port, target.host)
    carry(client, server)
    carry(server, client)
    if (!severed) client.resume()
  })
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (listener.address() as net.AddressInfo).port,
    sever: () => {
      severed = true
      for (const socket of sockets) socket.pause()
    },
    restore: () => {
      severed = false
      for (const socket of sockets) socket.resume()
    },
    close: async () => {
      const closed = new Promise((resolve) => {
        listener.close(resolve)
      })
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
