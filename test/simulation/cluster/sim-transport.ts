/**
 * The simulated network: a NATS server in the middle, and the Transport of one incarnation.
 *   N1. Messages of one sender on one subject arrive in order (FIFO), except for delayed ones (`overtaken`).
 *   N2. Only a message that never left, or that the server dropped without subscribers, is reported as `not_delivered`.
 *   N3. Messages to a paused process are delivered when it wakes; messages to a dead one are lost.
 * A message makes two hops: to the server, which looks up subscribers, and on to each subscriber.
 */
import { NOT_DELIVERED, type NotDelivered, type Service, type Transport } from '../../../runtime/ports/transport.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { SimProcess } from '../kernel/kernel-process.ts'
import { isDelivery, subjectKind } from '../subjects.ts'

/** Rates are probabilities per message and hop. */
export interface NetworkFaults {
  /** One hop without further delay. */
  readonly latencyMs: { readonly min: number; readonly max: number }
  /** Probability that a hop takes up to `slowMs` longer. */
  readonly slow: number
  readonly slowMs: number
  readonly loss: number
  /** A message arrives truncated, or with a byte that no message contains. */
  readonly damaged: number
  /** A message is delayed and later ones overtake it, as when its sender has connected to another server. */
  readonly overtaken: number
  readonly duplication: number
  /** The same, for deliveries between nodes only. */
  readonly deliveryDuplication: number
  /** The server drops a request to a live peer, and reports that it has no subscriber. */
  readonly noResponders: number
  /** The server's limit of a message's size. */
  readonly maxMessageBytes: number
}

export const DEFAULT_MAX_MESSAGE_BYTES = 8 * 1024 * 1024

export const CALM_NETWORK: NetworkFaults = {
  latencyMs: { min: 0.05, max: 0.5 },
  slow: 0,
  slowMs: 0,
  loss: 0,
  damaged: 0,
  overtaken: 0,
  duplication: 0,
  deliveryDuplication: 0,
  noResponders: 0,
  maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES,
}

/** The effect of a cut on a message: it is lost, or the server without a route reports that. */
export type CutKind = 'lost' | 'no_responders'

interface Cut {
  readonly kind: CutKind
  readonly counter: string
}

export interface SimNetwork {
  readonly setFaults: (faults: NetworkFaults) => void
  /** One direction, by process name: messages of `from` no longer reach `to`; each is counted. */
  readonly cut: (from: string, to: string, kind: CutKind, counter?: string) => void
  readonly mend: (from: string, to: string) => void
  /**
   * The process's connection to the server breaks; both ends notice after `noticedAfterMs`, and messages are lost until
   * then.
   */
  readonly disconnect: (name: string, noticedAfterMs: number) => void
  readonly reconnect: (name: string) => void
  /** Whether the process can reach the server; a lease store on the same server uses this too. */
  readonly reachable: (name: string) => boolean
  /** Ends all cuts, reconnects all processes and stops all faults. */
  readonly heal: () => void
  readonly connect: (process: SimProcess) => NetworkPort
}

/** A process's connection. */
export interface NetworkPort {
  /** Whether the process believes that it is connected. */
  readonly connected: () => boolean
  readonly maxMessageBytes: () => number
  readonly send: (message: Sent) => void
  readonly subscribe: (subject: string, handler: Subscription['handler']) => Subscription
  /** Resolves when no message is under way to it any more. */
  readonly unsubscribe: (subscription: Subscription, done: () => void) => void
}

export interface Sent {
  readonly subject: string
  readonly body: string
  /** The receiver of replies; null for a reply itself. */
  readonly onReply: ((reply: string | NotDelivered) => void) | null
}

export interface Subscription {
  readonly process: SimProcess
  readonly subject: string
  readonly handler: (body: string, reply: (message: string) => void) => void
  underWay: number
  ended: boolean
}

interface LastSent {
  atMs: number
  subject: string
}

/** How long a server may consider a dead process's connection alive. */
const DEATH_NOTICED_WITHIN_MS = 200
const DUPLICATE_WITHIN_MS = 50
/** The longest delay of an overtaken message: longer than an edge waits before its next attempt. */
const HANGS_MS = 6_000

export function createSimNetwork(kernel: Kernel, initialFaults: NetworkFaults = CALM_NETWORK): SimNetwork {
  const random = kernel.random.fork('network')
  const interest = new Map<string, Set<Subscription>>()
  const cuts = new Map<string, Cut>()
  const unreachable = new Set<string>()
  const believedGone = new Set<string>()
  const channels = new Map<string, (() => void)[]>()
  let faults = initialFaults

  /** N1: messages leave a channel in the order of their arrival, at random times. */
  const hop = (channel: string, label: string, arrive: () => void, extraMs = 0): void => {
    const latencyMs = random.between(faults.latencyMs.min, faults.latencyMs.max) + extraMs
    if (random.chance(faults.overtaken)) {
      kernel.count('fault:overtaken')
      kernel.schedule(latencyMs + random.between(0, HANGS_MS), label, arrive)
      return
    }
    const waiting = channels.get(channel) ?? []
    channels.set(channel, waiting)
    waiting.push(arrive)
    const slowMs = random.chance(faults.slow) ? random.between(0, faults.slowMs) : 0
    kernel.schedule(latencyMs + slowMs, label, () => {
      const first = waiting.shift()
      if (waiting.length === 0) channels.delete(channel)
      first?.()
    })
  }
  const lost = (subject: string): boolean => {
    if (!random.chance(faults.loss)) return false
    kernel.count('fault:message_lost')
    if (isDelivery(subject)) kernel.count('fault:delivery_lost')
    if (subjectKind(subject) === 'control') kernel.count('fault:control_lost')
    return true
  }
  const comesTwice = (subject: string): boolean => {
    if (random.chance(faults.duplication)) return true
    if (!isDelivery(subject) || !random.chance(faults.deliveryDuplication)) return false
    kernel.count('fault:delivery_doubled')
    return true
  }
  /** A damaged message is unreadable: its sender's seal detects the damage. */
  const asReceived = (body: string, what: string): string => {
    if (body === '' || !random.chance(faults.damaged)) return body
    kernel.count(`fault:${what}_damaged`)
    const at = random.integer(body.length)
    return random.chance(0.5) ? body.slice(0, at) : `${body.slice(0, at)}\u0000${body.slice(at + 1)}`
  }
  const toProcess = (channel: string, label: string, process: SimProcess, run: () => void, gone: () => void): void => {
    hop(channel, label, () => {
      if (!process.alive() || unreachable.has(process.name)) gone()
      else process.deliver(run)
    })
  }
  const reportNoSubscriber = (from: SimProcess, { subject, onReply }: Sent): void => {
    if (onReply === null) return
    kernel.count('network:no_responders')
    toProcess(
      `no subscriber ${from.id} ${subject}`,
      `${from.id} learns of no subscriber on ${subject}`,
      from,
      () => onReply(NOT_DELIVERED),
      nothing,
    )
  }
  const reply = (from: SimProcess, to: SimProcess, { subject, onReply }: Sent, body: string): void => {
    if (!from.alive() || onReply === null) return
    deliverable(from, { subject: `reply ${subject} ${to.id}`, body, onReply: null }, () => {
      const cut = cuts.get(cutKey(from.name, to.name))
      if (cut !== undefined) return kernel.count(cut.counter)
      const label = `reply ${from.id} to ${to.id} on ${subject}`
      const take = (): void => onReply(asReceived(body, 'reply'))
      if (!lost(subject)) toProcess(`${from.id} reply ${to.id} ${subject}`, label, to, take, nothing)
      if (!comesTwice(subject)) return
      kernel.count('fault:reply_duplicated')
      toProcess(`${from.id} reply again ${to.id} ${subject}`, `${label} again`, to, take, nothing)
    })
  }
  const forward = (from: SimProcess, sent: Sent, target: Subscription): void => {
    target.underWay += 1
    const ended = (): void => {
      target.underWay -= 1
    }
    const label = `${sent.subject} from ${from.id} reaches ${target.process.id}`
    const handle = (): void => {
      ended()
      target.handler(asReceived(sent.body, subjectKind(sent.subject)), (body) =>
        reply(target.process, from, sent, body),
      )
    }
    toProcess(`${from.id} ${sent.subject} ${target.process.id}`, label, target.process, handle, ended)
  }
  /** The second copy arrives after the first, as N1 requires. */
  const forwardAgain = (from: SimProcess, sent: Sent, target: Subscription): void => {
    kernel.schedule(random.between(0, DUPLICATE_WITHIN_MS), `${sent.subject} arrives twice`, () => {
      if (target.ended) return
      kernel.count('fault:message_duplicated')
      forward(from, sent, target)
    })
  }
  /** At the server: chooses the receivers. */
  const route = (from: SimProcess, sent: Sent): void => {
    const interested = [...(interest.get(sent.subject) ?? [])].filter(({ process }) => !believedGone.has(process.name))
    const targets = interested.filter(({ process }) => !cuts.has(cutKey(from.name, process.name)))
    const cut = interested.map(({ process }) => cuts.get(cutKey(from.name, process.name)))
    const swallowed = cut.some((met) => met?.kind === 'lost')
    for (const met of cut) if (met !== undefined) kernel.count(met.counter)
    if (targets.length === 0) return swallowed ? undefined : reportNoSubscriber(from, sent)
    if (sent.onReply !== null && random.chance(faults.noResponders)) {
      kernel.count('fault:no_responders_for_living')
      if (subjectKind(sent.subject) === 'control') kernel.count('fault:control_no_responders')
      return reportNoSubscriber(from, sent)
    }
    for (const target of targets) {
      if (lost(sent.subject)) continue
      forward(from, sent, target)
      if (comesTwice(sent.subject)) forwardAgain(from, sent, target)
    }
  }
  /** The first hop. */
  const deliverable = (from: SimProcess, sent: Sent, arrived: () => void): void => {
    hop(`${from.id} ${sent.subject}`, `${from.id} sends ${sent.subject}`, () => {
      if (unreachable.has(from.name)) kernel.count('fault:sent_into_void')
      else arrived()
    })
  }
  const endInterest = (subscription: Subscription): void => {
    subscription.ended = true
    const subscribed = interest.get(subscription.subject)
    subscribed?.delete(subscription)
    if (subscribed?.size === 0) interest.delete(subscription.subject)
  }
  const heal = (): void => {
    cuts.clear()
    unreachable.clear()
    believedGone.clear()
    faults = CALM_NETWORK
  }

  /** Messages of one moment to one subject would be one message if the size limit allowed. */
  const countSplit = (last: LastSent, { subject }: Sent): void => {
    const atMs = kernel.now()
    const isSplit = last.atMs === atMs && last.subject === subject && faults.maxMessageBytes < DEFAULT_MAX_MESSAGE_BYTES
    if (isSplit) kernel.count('fault:message_split')
    Object.assign(last, { atMs, subject })
  }
  const connect = (process: SimProcess, last: LastSent = { atMs: -1, subject: '' }): NetworkPort => ({
    connected: () => !believedGone.has(process.name),
    maxMessageBytes: () => faults.maxMessageBytes,
    send: (sent) => {
      if (!process.alive()) return
      countSplit(last, sent)
      deliverable(process, sent, () => {
        if (!lost(sent.subject)) route(process, sent)
      })
    },
    subscribe: (subject, handler) => {
      const subscription: Subscription = { process, subject, handler, underWay: 0, ended: false }
      if (!process.alive()) return subscription
      hop(`${process.id} subscriptions`, `${process.id} subscribes ${subject}`, () => {
        if (!process.alive() || subscription.ended) return
        const subscribed = interest.get(subject) ?? new Set()
        interest.set(subject, subscribed.add(subscription))
      })
      process.onEnd(() => {
        kernel.schedule(random.between(0, DEATH_NOTICED_WITHIN_MS), `${process.id} is gone from ${subject}`, () =>
          endInterest(subscription),
        )
      })
      return subscription
    },
    unsubscribe: (subscription, done) => {
      const settle = (): void => {
        if (subscription.underWay === 0) process.deliver(done)
        else process.later(1, `drains ${subscription.subject}`, settle)
      }
      hop(`${process.id} subscriptions`, `${process.id} unsubscribes ${subscription.subject}`, () => {
        endInterest(subscription)
        hop(`${process.id} unsubscribed`, `${process.id} has unsubscribed ${subscription.subject}`, settle)
      })
    },
  })
  return {
    setFaults: (next) => {
      faults = next
    },
    cut: (from, to, kind, counter = 'fault:cut') => {
      kernel.record(`${kernel.now()} cut ${from} to ${to}: ${kind}`)
      cuts.set(cutKey(from, to), { kind, counter })
    },
    mend: (from, to) => cuts.delete(cutKey(from, to)),
    disconnect: (name, noticedAfterMs) => {
      kernel.count('fault:disconnect')
      unreachable.add(name)
      kernel.schedule(noticedAfterMs, `${name} notices that it is disconnected`, () => {
        if (unreachable.has(name)) believedGone.add(name)
      })
    },
    reconnect: (name) => {
      unreachable.delete(name)
      believedGone.delete(name)
    },
    reachable: (name) => !unreachable.has(name),
    heal,
    connect,
  }
}

/** The Transport of one incarnation. */
export function createSimTransport(network: SimNetwork, process: SimProcess): Transport {
  const port = network.connect(process)
  const { maxMessageBytes } = port
  const checkSize = (message: string): void => {
    const sizeBytes = Buffer.byteLength(message)
    if (sizeBytes > maxMessageBytes())
      throw new Error(`message of ${sizeBytes} bytes: at most ${maxMessageBytes()} are carried`)
  }
  return {
    maxMessageBytes,
    request: (subject, message, timeoutMs, onReply) => {
      checkSize(message)
      let open = true
      const timer = process.later(
        process.untilMonotonic(process.monotonicMs() + timeoutMs),
        `gives up on ${subject}`,
        () => {
          open = false
        },
        'timer',
      )
      const close = (): void => {
        open = false
        timer.cancel()
      }
      const take = (reply: string | NotDelivered): void => {
        if (!open) return
        if (reply === NOT_DELIVERED) close()
        onReply(reply)
      }
      if (port.connected()) port.send({ subject, body: message, onReply: take })
      else process.later(0, `has no connection for ${subject}`, () => take(NOT_DELIVERED))
      return { close }
    },
    serve: (subject, handler): Service => {
      const subscription = port.subscribe(subject, (body, reply) => {
        handler(body, (message) => {
          checkSize(message)
          reply(message)
        })
      })
      let drained: Promise<void> | undefined
      return {
        drain: () => (drained ??= process.promise((resolve) => port.unsubscribe(subscription, () => resolve()))),
      }
    },
  }
}

function cutKey(from: string, to: string): string {
  return `${from} ${to}`
}

function nothing(): void {}
