/**
 * A wire between a process and a server that can be severed as a network is: both ends keep their connections, and
 * nothing passes, until it is restored or they give up. It can be made long, and be led to another server.
 */
import net from 'node:net'

export interface SeverableWire {
  readonly port: number
  readonly sever: () => void
  /** Releases delayed data, if both ends are still open. */
  readonly restore: () => void
  /** Round-trip delay of data from now on, milliseconds, half in each direction; the order stays. */
  readonly delay: (roundTripMs: number) => void
  /** Cuts all connections at both ends; new ones reach the server on that port. */
  readonly leadTo: (port: number) => void
  readonly close: () => Promise<void>
}

/** One direction of a connection. */
interface Lane {
  readonly from: net.Socket
  readonly to: net.Socket
  /** Data in transit, oldest first. */
  readonly chunks: { readonly chunk: Buffer; readonly dueMs: number }[]
  timer: NodeJS.Timeout | undefined
}

export async function startWire(target: { readonly host: string; readonly port: number }): Promise<SeverableWire> {
  const lanes = new Set<Lane>()
  let { port } = target
  let severed = false
  let oneWayMs = 0

  const carry = (from: net.Socket, to: net.Socket): void => {
    const lane: Lane = { from, to, chunks: [], timer: undefined }
    lanes.add(lane)
    from.on('data', (chunk: Buffer) => {
      lane.chunks.push({ chunk, dueMs: Math.max(performance.now() + oneWayMs, lane.chunks.at(-1)?.dueMs ?? 0) })
      pass(lane)
    })
    to.on('drain', () => {
      if (!severed) from.resume()
    })
    from.on('error', () => undefined)
    from.on('close', () => pass(lane))
    if (severed) from.pause()
  }

  /** Everything that is due. The news of an end comes last, and does not pass while the wire is severed either. */
  const pass = (lane: Lane): void => {
    const { from, to, chunks } = lane
    if (severed) return
    for (let next = chunks[0]; next !== undefined && next.dueMs <= performance.now(); next = chunks[0]) {
      chunks.shift()
      if (!to.write(next.chunk)) from.pause()
    }
    const [next] = chunks
    if (next !== undefined) {
      clearTimeout(lane.timer)
      lane.timer = setTimeout(() => pass(lane), Math.max(1, next.dueMs - performance.now()))
    } else if (from.destroyed) {
      lanes.delete(lane)
      to.destroy()
    }
  }

  const cut = (): void => {
    for (const lane of lanes) {
      clearTimeout(lane.timer)
      lane.chunks.length = 0
      lane.from.destroy()
    }
    lanes.clear()
  }
  const listener = net.createServer({ pauseOnConnect: true }, (client) => {
    const server = net.connect(port, target.host)
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
      for (const { from } of lanes) from.pause()
    },
    restore: () => {
      severed = false
      for (const lane of lanes) {
        lane.from.resume()
        pass(lane)
      }
    },
    delay: (roundTripMs) => {
      oneWayMs = roundTripMs / 2
    },
    leadTo: (other) => {
      port = other
      cut()
    },
    close: async () => {
      const closed = new Promise((resolve) => {
        listener.close(resolve)
      })
      cut()
      await closed
    },
  }
}
