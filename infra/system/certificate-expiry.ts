/**
 * When TLS certificates expire, as a connection of its own shows them. It sends no credentials and trusts nothing that it
 * reads, so that it also sees expired certificates.
 */
import { X509Certificate } from 'node:crypto'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'

export interface TlsServer {
  readonly protocol: 'postgres' | 'nats'
  readonly host: string
  readonly port: number
  /** PEM: authorities, and what the client shows. */
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

const TIMEOUT_MS = 5_000
/** PostgreSQL's SSLRequest: its length, and the code 1234.5679. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const SSL_ACCEPTED = 'S'
/** Of the INFO line with which nats-server begins. */
const MAX_GREETING_BYTES = 65_536
const MAX_CHAIN = 10

/**
 * The time at which the first certificate of the server's chain expires, milliseconds since 1970. The chain has the
 * authorities that the server sends, and those in `ca`. Rejects if the server offers no TLS, or none within 5 s.
 */
export function serverExpiryMs(server: TlsServer): Promise<number> {
  const socket = connect({ host: server.host, port: server.port })
  let secure: TLSSocket | undefined
  let timer: NodeJS.Timeout | undefined
  const expiry = new Promise<number>((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no TLS within ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed the connection')))
    beforeTls(socket, server.protocol, (offered) => {
      if (!offered) return reject(new Error('the server offers no TLS'))
      const { host, ca, cert, key } = server
      const servername = isIP(host) === 0 ? host : ''
      secure = connectTls({ socket, servername, ca, cert, key, rejectUnauthorized: false })
      secure.on('error', reject)
      secure.on('secureConnect', () => resolve(earliestOf(secure?.getPeerCertificate(true))))
    })
  })
  return expiry.finally(() => {
    clearTimeout(timer)
    secure?.destroy()
    socket.destroy()
  })
}

/** Calls back when the handshake may begin. */
function beforeTls(socket: Socket, protocol: TlsServer['protocol'], ready: (offered: boolean) => void): void {
  let greeting = ''
  socket.on('connect', () => protocol === 'postgres' && socket.write(SSL_REQUEST))
  const read = (chunk: Buffer): void => {
    greeting += chunk.toString('latin1')
    const isWhole = protocol === 'postgres' || greeting.endsWith('\r\n') || greeting.length > MAX_GREETING_BYTES
    if (!isWhole) return
    socket.off('data', read)
    ready(
      protocol === 'postgres' ? greeting === SSL_ACCEPTED : /^INFO .*"tls_(required|available)":true/.test(greeting),
    )
  }
  socket.on('data', read)
}

function earliestOf(certificate: DetailedPeerCertificate | undefined): number {
  let earliestMs = Number.POSITIVE_INFINITY
  let current = certificate
  for (let depth = 0; current?.valid_to !== undefined && depth < MAX_CHAIN; depth += 1) {
    earliestMs = Math.min(earliestMs, Date.parse(current.valid_to))
    // An authority that signs itself is its own issuer.
    current = current.issuerCertificate === current ? undefined : current.issuerCertificate
  }
  if (!Number.isFinite(earliestMs)) throw new Error('the server shows no certificate')
  return earliestMs
}

/** The same for the certificates in a PEM text. Throws if there is none. */
export function pemExpiryMs(pem: string): number {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  if (certificates === null) throw new Error('the file has no certificate')
  return Math.min(...certificates.map((text) => Date.parse(new X509Certificate(text).validTo)))
}
