/** Three readers of the event log as clients write them. Each goes on at another edge where it was cut off. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type LedgerClient, membersOf, textOf } from './client.ts'
import type { Members } from './client-keys.ts'

export interface SeenEvent {
  readonly id: string
  readonly txnId: string
  readonly accountId: string
  /** The place of the transaction's entry in the chain of the account; null: a failed one has none. */
  readonly sequence: number | null
  /** From the time of the event, when its order was decided, until its arrival here. */
  readonly lagMs: number
}

export interface EventReader {
  readonly name: string
  /** In the order of their arrival. */
  readonly seen: SeenEvent[]
  /** How often it was cut off, refused or failed itself. */
  readonly setbacks: () => number
  readonly stop: () => Promise<void>
}

const TYPES = 'ledger.transaction.completed.v1,ledger.transaction.failed.v1'
const AGAIN_AFTER_MS = 50
const OK = 200
const SECRET_PREFIX = 'whsec_'

/** Reads pages, and waits for the next events where there are none. */
export function readPages(edges: readonly LedgerClient[], start: string): EventReader {
  const seen: SeenEvent[] = []
  let setbacks = 0
  const stopped = new AbortController()
  let cursor = start
  const ended = (async () => {
    for (let turn = 0; !stopped.signal.aborted;) {
      const path = `/v1/events?types=${TYPES}&page_size=1000&wait=1&after=${encodeURIComponent(cursor)}`
      const reply = await edgeAt(edges, turn)
        .get(path)
        .catch(() => undefined)
      if (reply?.status === OK) {
        const page = membersOf(reply)
        cursor = textOf(page, 'next_cursor')
        seen.push(...(page['events'] as readonly Members[]).map(seenOf))
        continue
      }
      setbacks += 1
      turn += 1
      await pause(AGAIN_AFTER_MS)
    }
  })()
  return {
    name: 'pages',
    seen,
    setbacks: () => setbacks,
    stop: async () => {
      stopped.abort()
      await ended
    },
  }
}

/** Listens to server-sent events, and resumes with `Last-Event-ID`. */
export function readStream(edges: readonly LedgerClient[], start: string): EventReader {
  const seen: SeenEvent[] = []
  let setbacks = 0
  let cursor = start
  let cutOff: () => void = () => undefined
  const stopped = new AbortController()
  const take = (block: string): void => {
    const fields = new Map(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const [id, data] = [fields.get('id'), fields.get('data')]
    if (data !== undefined && data !== '') seen.push(seenOf(JSON.parse(data) as Members))
    if (id !== undefined && id !== '') cursor = id
  }
  const listen = (edge: LedgerClient): Promise<void> =>
    new Promise((resolve) => {
      const headers = { ...edge.authorization(), accept: 'text/event-stream', 'last-event-id': cursor }
      const sent = request(new URL(`/v1/events?types=${TYPES}`, edge.origin), { headers, agent: false }, (response) => {
        let rest = ''
        response.setEncoding('utf8').on('data', (text: string) => {
          if (response.statusCode !== OK) return
          const blocks = `${rest}${text}`.split('\n\n')
          rest = blocks.pop() ?? ''
          for (const block of blocks) take(block)
        })
        response.on('error', () => undefined)
        response.on('close', () => resolve())
      })
      cutOff = () => sent.destroy()
      sent.on('error', () => resolve())
      sent.end()
    })
  const ended = (async () => {
    for (let turn = 0; !stopped.signal.aborted; turn += 1) {
      await listen(edgeAt(edges, turn))
      if (stopped.signal.aborted) return
      setbacks += 1
      await pause(AGAIN_AFTER_MS)
    }
  })()
  return {
    name: 'stream',
    seen,
    setbacks: () => setbacks,
    stop: async () => {
      stopped.abort()
      cutOff()
      await ended
    },
  }
}

export interface WebhookReader extends EventReader {
  /** Messages that arrived again after they were accepted: at least once is what the ledger promises. */
  readonly repeated: () => number
  /** Messages whose signature is wrong. */
  readonly forged: () => number
  /** Deletes the webhook. */
  readonly remove: () => Promise<void>
}

/** Registers a webhook. Its receiver fails for every message whose number is a multiple of `failsEvery`. */
export async function receiveWebhook(client: LedgerClient, failsEvery = Infinity): Promise<WebhookReader> {
  const seen: SeenEvent[] = []
  const accepted = new Set<string>()
  let [messages, failures, repeated, forged] = [0, 0, 0, 0]
  let key = Buffer.alloc(0)
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      messages += 1
      if (messages % failsEvery === 0) {
        failures += 1
        response.writeHead(500).end()
        return
      }
      const body = Buffer.concat(chunks).toString()
      if (!isGenuine(key, body, incoming.headers)) forged += 1
      const event = seenOf(JSON.parse(body) as Members)
      if (accepted.has(event.id)) repeated += 1
      else seen.push(event)
      accepted.add(event.id)
      response.writeHead(204).end()
    })
  })
  const { port } = await listening(server)
  const body = { url: `http://127.0.0.1:${port}/hook`, types: TYPES.split(',') }
  const members = membersOf(await client.post('/v1/webhooks', body))
  key = Buffer.from(textOf(members, 'secret').slice(SECRET_PREFIX.length), 'base64')
  return {
    name: 'webhook',
    seen,
    setbacks: () => failures,
    repeated: () => repeated,
    forged: () => forged,
    remove: async () => {
      const path = `/v1/webhooks/${textOf(members, 'webhook_id')}`
      await client.ask({ method: 'DELETE', path, headers: client.authorization() })
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function listening(server: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address() as AddressInfo
}

/** After Standard Webhooks. The library of the standard takes longer for this than the ledger takes for the message. */
function isGenuine(key: Buffer, body: string, headers: IncomingHttpHeaders): boolean {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const expected = createHmac('sha256', key).update(signed).digest()
  const signature = Buffer.from(String(headers['webhook-signature']).replace(/^v1,/, ''), 'base64')
  return signature.length === expected.length && timingSafeEqual(signature, expected)
}

function seenOf(event: Members): SeenEvent {
  const { receipt } = (event['data'] as Members)['receipt'] as { readonly receipt: Members }
  return {
    id: textOf(event, 'id'),
    txnId: textOf(receipt, 'txn_id'),
    accountId: textOf(receipt, 'account_id'),
    sequence: receipt['sequence'] as number | null,
    lagMs: Date.now() - Date.parse(textOf(event, 'time')),
  }
}

function edgeAt(edges: readonly LedgerClient[], turn: number): LedgerClient {
  const edge = edges[turn % edges.length]
  if (edge === undefined) throw new Error('a reader needs an edge')
  return edge
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs)
  })
}
