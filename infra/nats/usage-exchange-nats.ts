/**
 * The usage exchange over core NATS: each edge publishes to one subject, to which all edges subscribe.
 *   U1. Bodies are sealed as those of requests are, because they name clients.
 *   U2. An edge ignores its own messages, and bodies that do not open or are not what an edge sends.
 *   U3. While the connection is down nothing is sent: each edge then limits clients by what it sees itself.
 */
import * as v from 'valibot'
import type { Log } from '../../runtime/ports/log.ts'
import type { ClientUsage, UsageExchange } from '../../runtime/ports/usage-exchange.ts'
import type { NatsLink } from './connection.ts'
import type { MessageBodies } from './message-bodies.ts'

export interface NatsUsageExchange extends UsageExchange {
  readonly close: () => void
}

export const USAGE_SUBJECT = 'ledger.edge.usage'
const ADDRESS = { direction: 'request', subject: USAGE_SUBJECT, replySubject: '' } as const
/** 500 client IDs with their numbers take 100 KB. */
const MAX_USAGES = 500

const positive = v.pipe(v.number(), v.gtValue(0), v.finite())
const messageSchema = v.object({
  edge: v.string(),
  usages: v.pipe(
    v.array(
      v.object({
        clientId: v.string(),
        rate: v.object({ perSecond: positive, burst: positive }),
        requests: positive,
      }),
    ),
    v.maxLength(MAX_USAGES),
  ),
})

/** `edge`: differs from that of every other edge. */
export function createNatsUsageExchange(
  link: NatsLink,
  { bodies, edge, log }: { readonly bodies: MessageBodies; readonly edge: string; readonly log: Log },
): NatsUsageExchange {
  let handle: (usages: readonly ClientUsage[]) => void = () => undefined
  const subscription = link.connection.subscribe(USAGE_SUBJECT, {
    callback: (error, { data }) => {
      // For example because the servers' configuration does not permit the subject.
      if (error !== null) return log.error('usage_exchange_failed', { subject: USAGE_SUBJECT, code: error.code })
      const message = readMessage(bodies.read(ADDRESS, data))
      if (message !== undefined && message.edge !== edge) handle(message.usages)
    },
  })
  return {
    onTold: (next) => {
      handle = next
    },
    tell: (usages) => {
      for (let start = 0; start < usages.length && link.connected(); start += MAX_USAGES) {
        const text = JSON.stringify({ edge, usages: usages.slice(start, start + MAX_USAGES) })
        try {
          link.connection.publish(USAGE_SUBJECT, bodies.make(ADDRESS, text))
        } catch {
          // The connection closed.
        }
      }
    },
    close: () => subscription.unsubscribe(),
  }
}

function readMessage(text: string | undefined): v.InferOutput<typeof messageSchema> | undefined {
  if (text === undefined) return undefined
  try {
    const read = v.safeParse(messageSchema, JSON.parse(text))
    return read.success ? read.output : undefined
  } catch {
    return undefined
  }
}
