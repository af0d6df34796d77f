/** A small client of the interface, for tests: one request, one reply, nothing is retried or hidden. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { type AccountKeys, type Members, newAccountKeys, signed } from './client-keys.ts'

export interface HttpReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface HttpRequest {
  readonly method: string
  /** As it goes over the wire: nothing is escaped or normalized. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const REPLY_TIMEOUT_MS = 30_000

/** Rejects when there is no whole reply: the connection broke, or `REPLY_TIMEOUT_MS` passed. */
export function send(origin: string, what: HttpRequest, agent?: Agent): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin)
    const outgoing = request(
      {
        hostname,
        port,
        method: what.method,
        path: what.path,
        ...(agent === undefined ? {} : { agent }),
        headers: {
          ...(what.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(what.body)) }),
          ...what.headers,
        },
        signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.once('error', reject)
        incoming.once('end', () => {
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          })
        })
      },
    )
    outgoing.once('error', reject)
    outgoing.end(what.body)
  })
}

export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** An account as its holder has it. */
export interface Holder {
  readonly accountId: string
  readonly keys: AccountKeys
}

/** An edge closes what is idle for 65 s: a request just then would be lost with it, so that the client closes first. */
const IDLE_TIMEOUT_MS = 30_000

function keptConnections(): Agent {
  return new Agent({ keepAlive: true, timeout: IDLE_TIMEOUT_MS })
}

/** Sees each reply before the caller does; the caller gets its errors. */
export type Witness = (what: HttpRequest, reply: HttpReply) => void

export class LedgerClient {
  readonly origin: string
  readonly token: string
  private readonly agent: Agent
  private readonly witness: Witness

  private constructor(origin: string, token: string, agent: Agent, witness: Witness) {
    this.origin = origin
    this.token = token
    this.agent = agent
    this.witness = witness
  }

  static async login(
    origin: string,
    { clientId, clientSecret }: Credentials,
    witness: Witness = () => undefined,
  ): Promise<LedgerClient> {
    const agent = keptConnections()
    const body = JSON.stringify({ client_id: clientId, client_secret: clientSecret })
    const what = { method: 'POST', path: '/v1/auth/token', headers: { 'content-type': 'application/json' }, body }
    const reply = await send(origin, what, agent)
    witness(what, reply)
    const token = reply.status === 200 ? membersOf(reply)['access_token'] : undefined
    if (typeof token !== 'string') throw new Error(`login of ${clientId}: ${reply.status} ${reply.body}`)
    return new LedgerClient(origin, token, agent, witness)
  }

  /** The same client at another edge. */
  at(origin: string): LedgerClient {
    return new LedgerClient(origin, this.token, keptConnections(), this.witness)
  }

  close(): void {
    this.agent.destroy()
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpReply> {
    return this.ask({ method: 'GET', path, headers: { ...this.authorization(), ...headers } })
  }

  /** `body`: text and bytes are sent as they are. */
  post(
    path: string,
    body: Members | string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpReply> {
    const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const all = { ...this.authorization(), 'content-type': 'application/json', ...headers }
    return this.ask({ method: 'POST', path, headers: all, body: bytes })
  }

  /** Sends it as it is: only the headers that it names. */
  async ask(what: HttpRequest): Promise<HttpReply> {
    const reply = await send(this.origin, what, this.agent)
    this.witness(what, reply)
    return reply
  }

  authorization(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.token}` }
  }

  /** Registers a new account under a new key. */
  async register(accountId: string): Promise<Holder> {
    const keys = newAccountKeys()
    const reply = await this.post('/v1/accounts', { account_id: accountId, public_key: keys.jwk })
    if (reply.status !== 201) throw new Error(`registration of ${accountId}: ${reply.status} ${reply.body}`)
    return { accountId, keys }
  }

  /** Signs and submits. `fields` without account and signature. */
  submit(holder: Holder, fields: Members): Promise<HttpReply> {
    return this.post('/v1/transactions', signed({ account_id: holder.accountId, ...fields }, holder.keys.privateKey))
  }

  /** GET of what must be there. */
  async read(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Members> {
    const reply = await this.get(path, headers)
    if (reply.status !== 200) throw new Error(`GET ${path}: ${reply.status} ${reply.body}`)
    return membersOf(reply)
  }

  /** Every item of a list, page by page. `path` may have a query. */
  async readAll(path: string, member: string): Promise<readonly Members[]> {
    const items: Members[] = []
    let pageToken = ''
    do {
      const page = pageToken === '' ? '' : `&page_token=${encodeURIComponent(pageToken)}`
      const read = await this.read(`${path}${path.includes('?') ? '&' : '?'}page_size=1000${page}`)
      items.push(...(read[member] as readonly Members[]))
      pageToken = textOf(read, 'next_page_token')
    } while (pageToken !== '')
    return items
  }
}

export function membersOf(reply: HttpReply): Members {
  return JSON.parse(reply.body) as Members
}

/** Throws when the member is no text: what a test goes on with must be there. */
export function textOf(members: Members, member: string): string {
  const value = members[member]
  if (typeof value !== 'string') throw new TypeError(`${member} is no text in ${JSON.stringify(members)}`)
  return value
}
