/**
 * Sends requests at a constant rate, as far as its connections take them, until stopped. A separate process, so that its cost does not
 * count as the ledger's. Arguments: host, port, requests a second, and the requests, sent in turn.
 */
import { connect, type Socket } from 'node:net'

const CONNECTIONS = 64
const TICK_MS = 1
const CONTENT_LENGTH = /\r\ncontent-length: ?(\d+)\r\n/i

const [host = '', port = '', perSecond = '', ...requests] = process.argv.slice(2)
const statuses: Record<string, number> = {}
const idle: HostileConnection[] = []
let sent = 0

/** Reconnects when the ledger closes the connection. One request in flight. Parses only the status and the end of a reply. */
class HostileConnection {
  private socket: Socket | undefined
  private missing: number | undefined
  private awaiting = false

  start(): void {
    this.socket = this.open()
  }

  send(request: string): void {
    this.awaiting = true
    this.missing = undefined
    this.socket?.write(request, 'latin1')
  }

  private open(): Socket {
    const socket = connect({ host, port: Number(port) }, () => idle.push(this))
    socket.setNoDelay(true)
    socket.on('data', (bytes) => this.take(bytes))
    socket.on('error', () => undefined)
    socket.once('close', () => {
      if (this.awaiting) count('closed')
      this.awaiting = false
      const place = idle.indexOf(this)
      if (place >= 0) idle.splice(place, 1)
      this.start()
    })
    return socket
  }

  private take(bytes: Buffer): void {
    if (this.missing === undefined) {
      const head = bytes.toString('latin1', 0, 4096)
      const end = head.indexOf('\r\n\r\n')
      count(head.slice(9, 12))
      this.missing = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0) + end + 4
    }
    this.missing -= bytes.length
    if (this.missing > 0 || !this.awaiting) return
    this.awaiting = false
    idle.push(this)
  }
}

function count(status: string): void {
  statuses[status] = (statuses[status] ?? 0) + 1
}

const startMs = performance.now()
for (let opened = 0; opened < CONNECTIONS; opened += 1) new HostileConnection().start()
setInterval(() => {
  const due = ((performance.now() - startMs) * Number(perSecond)) / 1000
  while (sent < due) {
    const request = requests[sent % requests.length]
    const connection = idle.shift()
    if (request === undefined || connection === undefined) return
    sent += 1
    connection.send(request)
  }
}, TICK_MS)

process.once('message', () => {
  process.send?.({ sent, seconds: (performance.now() - startMs) / 1000, statuses }, () => process.exit(0))
})
