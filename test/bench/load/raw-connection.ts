/**
 * One keep-alive connection that writes whole requests as bytes and parses only the end of replies, because the load
 * generator shares the machine with the ledger. One request in flight at a time.
 */
import { connect, type Socket } from 'node:net'

/** `body` must be read during the call. */
export type OnReply = (status: number, body: () => string) => void

const READ_BUFFER_BYTES = 64 * 1024
const CONTENT_LENGTH = /\r\ncontent-length: ?(\d+)\r\n/i
const LAST_CHUNK = '\r\n0\r\n\r\n'

export class RawConnection {
  private readonly socket: Socket
  private onReply: OnReply = () => undefined
  private onLost: (cause: Error) => void = () => undefined
  private awaiting = false
  private closed = false
  private received = ''

  private constructor(socket: Socket) {
    this.socket = socket
  }

  static open(host: string, port: number): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES)
      const socket: Socket = connect({
        host,
        port,
        onread: {
          buffer,
          callback: (sizeBytes) => {
            // The ledger's headers and bodies are ASCII except for clients' texts, which are not read here.
            connection.take(buffer.toString('latin1', 0, sizeBytes))
            return true
          },
        },
      })
      const connection = new RawConnection(socket)
      socket.setNoDelay(true)
      socket.once('connect', () => resolve(connection))
      socket.on('error', (error) => {
        reject(error)
        connection.lost(error)
      })
      socket.once('close', () => connection.lost(new Error('the ledger closed a connection')))
    })
  }

  /** `onLost`: the connection broke with the request in flight. */
  send(request: Uint8Array | string, onReply: OnReply, onLost: (cause: Error) => void): void {
    this.onReply = onReply
    this.onLost = onLost
    this.awaiting = true
    this.socket.write(request)
  }

  close(): void {
    this.socket.destroy()
  }

  /** False once the ledger has closed it, as it does with idle connections. */
  isOpen(): boolean {
    return !this.closed
  }

  private lost(cause: Error): void {
    this.closed = true
    if (!this.awaiting) return
    this.awaiting = false
    this.onLost(cause)
  }

  private take(text: string): void {
    const reply = this.received === '' ? text : this.received + text
    const headEnd = reply.indexOf('\r\n\r\n')
    const bodyStart = headEnd + 4
    if (headEnd < 0 || !isWhole(reply, bodyStart)) {
      this.received = reply
      return
    }
    this.received = ''
    this.awaiting = false
    this.onReply(Number(reply.slice(9, 12)), () => reply.slice(bodyStart))
  }
}

function isWhole(reply: string, bodyStart: number): boolean {
  const length = CONTENT_LENGTH.exec(reply)?.[1]
  return length === undefined ? reply.endsWith(LAST_CHUNK) : reply.length >= bodyStart + Number(length)
}
