/**
 * A wire that can be cut: between a PostgreSQL client and its server, one proxy for each session under test.
 * It knows the connection that commits go down by the lock that is taken on it, and the end of an answer by
 * ReadyForQuery (PostgreSQL documentation, 53.7).
 */
import net from 'node:net'

export interface TcpProxy {
  readonly port: number
  /** Cuts what is open, on both sides. New connections are let through. */
  readonly cut: () => void
  /** Cuts the clients off while the server goes on believing in them. */
  readonly cutClients: () => void
  /** Cuts what is open and lets nothing through from now on. */
  readonly close: () => Promise<void>
  /** Drops the next data on the connection for commits, and cuts the connection. */
  readonly loseNextCommit: () => void
  /** Forwards the next data and drops the answer: `cut`, the connection then ends; `silence`, it does not. */
  readonly loseNextAnswer: (how: 'cut' | 'silence') => void
  /** How often a fault of the two above has happened. */
  readonly lost: () => number
}

interface Wire {
  readonly client: net.Socket
  readonly server: net.Socket
  commits: boolean
}

type Armed = 'nothing' | 'commit' | 'cut' | 'silence'

const COMMIT_CONNECTION = Buffer.from('pg_try_advisory_lock')
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5])
const READY_FOR_QUERY_BYTES = 6

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const wires = new Set<Wire>()
  let armed: Armed = 'nothing'
  let lost = 0

  const listener = net.createServer((client) => {
    const wire: Wire = { client, server: net.connect(target.port, target.host), commits: false }
    wires.add(wire)
    wire.client.on('data', (chunk: Buffer) => upwards(wire, chunk))
    wire.server.on('data', (chunk: Buffer) => downwards(wire, chunk))
    for (const socket of [wire.client, wire.server]) socket.on('error', () => undefined)
    wire.client.on('close', () => wire.server.end())
    wire.server.on('close', () => wire.client.end())
    wire.server.on('close', () => wires.delete(wire))
  })

  function upwards(wire: Wire, chunk: Buffer): void {
    if (wire.commits && armed === 'commit') {
      armed = 'nothing'
      lost += 1
      end(wire)
      return
    }
    wire.commits ||= chunk.includes(COMMIT_CONNECTION)
    wire.server.write(chunk)
  }

  function downwards(wire: Wire, chunk: Buffer): void {
    const complete = chunk.subarray(-READY_FOR_QUERY_BYTES).subarray(0, -1).equals(READY_FOR_QUERY)
    if (wire.commits && complete && (armed === 'cut' || armed === 'silence')) {
      if (armed === 'cut') end(wire)
      armed = 'nothing'
      lost += 1
      return
    }
    wire.client.write(chunk)
  }

  function end(wire: Wire): void {
    wire.client.destroy()
    wire.server.destroy()
  }

  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve)
  })
  const cut = (): void => {
    for (const wire of wires) end(wire)
  }
  return {
    port: (listener.address() as net.AddressInfo).port,
    cut,
    cutClients: () => {
      for (const { client } of wires) {
        client.removeAllListeners('close')
        client.destroy()
      }
    },
    close: async () => {
      const closed = new Promise((resolve) => {
        listener.close(resolve)
      })
      cut()
      await closed
    },
    loseNextCommit: () => {
      armed = 'commit'
    },
    loseNextAnswer: (how) => {
      armed = how
    },
    lost: () => lost,
  }
}
