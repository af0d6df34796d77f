/**
 * What happened in a run, told to a person: who asked what of whom, what was committed, what went wrong, and when.
 *   S1. A run with a story is the same run: a story draws nothing, schedules nothing and is no part of the trace.
 *   S2. Without a story nothing of this file runs.
 */
import type { GatewayOutcome, GatewayRequest } from '../../runtime/ports/ledger-gateway.ts'
import type { Delivery, Item } from '../../runtime/messages.ts'
import { NOT_DELIVERED, type Transport } from '../../runtime/ports/transport.ts'
import type { KernelWitness } from './kernel.ts'
import type { AppliedCommit, ShardChange, SimDatabase } from './sim-ledger-store-database.ts'
import { batchWords } from './story-batches.ts'
import { counterWords, eventWords, recordWords } from './story-faults.ts'
import type { StoryKind, StoryLine } from './story-lines.ts'
import { answerWords, envelopeWords, outcomeWords, requestWords } from './story-words.ts'
import { isDelivery, subjectKind } from './subjects.ts'
import { deliveriesIn, deliveryAnswersIn, itemsIn, verdictsIn } from '../support/bodies.ts'

export interface Story {
  readonly witness: KernelWitness
  /** The session is this node's: from now on it is called by its name. */
  readonly knows: (session: string, node: string) => void
  readonly watches: (database: SimDatabase) => void
  /** A client asks an edge. The same request object asked again has the same number. */
  readonly asks: (edge: string, request: GatewayRequest) => void
  readonly hears: (edge: string, request: GatewayRequest, outcome: GatewayOutcome) => void
  /** Who asked last what is now answered, by a name that both messages have. */
  readonly askers: Map<string, string>
  /** `from`, `to`: names of nodes and edges. */
  readonly says: (from: string, to: string, text: string) => void
  readonly nameOfSession: (session: string) => string
  /** `#12`, the number of the request that an item is an attempt at, and the attempt. */
  readonly nameOfItem: (item: Item) => string
  readonly lines: () => readonly StoryLine[]
}

export function createStory(): Story {
  const lines: StoryLine[] = []
  const sessions = new Map<string, string>()
  const numbers = new Map<string, number>()
  const askers = new Map<string, string>()
  let nowMs = 0
  let label = ''

  const nameOfSession = (session: string): string => sessions.get(session) ?? session.slice(0, 8)
  const named = (text: string): string =>
    text
      .replaceAll(/ledger\.node\.([0-9a-f]{32})/g, (_, session: string) => nameOfSession(session))
      .replaceAll(/\b[0-9a-f]{32}\b/g, nameOfSession)
      .replaceAll(/#\d+\b/g, '')
  const tell = (kind: StoryKind, text: string): void => {
    lines.push({ atMs: nowMs, kind, text })
  }
  const numberOf = (actorId: string, operation: Item['operation']): string => {
    const key = `${actorId} ${JSON.stringify(operation)}`
    const number = numbers.get(key) ?? numbers.size + 1
    numbers.set(key, number)
    return `#${number}`
  }
  const owner = ({ shardId, before, after }: ShardChange): void => {
    const told = (row: ShardChange['after']): string =>
      `${row.nodeId ?? 'nobody'}’s in epoch ${row.epoch}.${row.attempt}`
    tell('owner', `shard ${shardId} is ${told(after)}, and was ${told(before)}`)
  }
  const commit = ({ nodeId, shards }: AppliedCommit): void => {
    for (const { batch } of shards) {
      const words = batchWords(batch)
      const { shardId, epoch, attempt } = batch.token
      if (words.length > 0)
        tell('commit', `${nodeId} commits shard ${shardId} (epoch ${epoch}.${attempt}): ${words.join('; ')}`)
    }
  }
  return {
    witness: {
      stepped: (atMs, next) => {
        nowMs = atMs
        label = next
        const words = eventWords(next)
        if (words !== undefined) tell('fault', named(words))
      },
      recorded: (line) => {
        const words = recordWords(line.replace(/^[\d.]+ /, ''))
        if (words !== undefined) tell(words.kind, named(words.text))
      },
      counted: (name) => {
        const words = counterWords(name)
        if (words !== undefined) tell('fault', `FAULT: ${words} (while: ${named(label)})`)
      },
    },
    knows: (session, node) => {
      sessions.set(session, node)
    },
    watches: (database) => {
      database.onApplied(commit)
      database.onShardChange(owner)
    },
    asks: (edge, { actor, caller, operation }) => {
      const who = caller.clientId === 'client' ? 'client' : `client “${caller.clientId}”`
      const before = numbers.size
      const number = numberOf(actor.id, operation)
      const words = requestWords(actor, operation, numbers.size > before)
      tell('client', `${who} asks ${edge}: ${number} ${words}`)
    },
    hears: (edge, { actor, operation }, outcome) => {
      tell('client', `${edge} tells the client of ${numberOf(actor.id, operation)}: ${outcomeWords(outcome)}`)
    },
    says: (from, to, text) => tell('message', `${from} -> ${to}: ${text}`),
    askers,
    nameOfSession,
    nameOfItem: ({ actor, operation, attempt }) => `${numberOf(actor.id, operation)} (attempt ${attempt})`,
    lines: () => lines,
  }
}

/** The mouth of a node or edge, listened to; the transport itself if there is no story. */
export function toldTransport(story: Story | undefined, name: string, transport: Transport): Transport {
  if (story === undefined) return transport
  return {
    ...transport,
    request: (subject, message, timeoutMs, onReply) => {
      const to = story.nameOfSession(sessionOf(subject))
      for (const { about, text } of sentWords(story, subject, message)) {
        story.askers.set(about, name)
        story.says(name, to, text)
      }
      return transport.request(subject, message, timeoutMs, (reply) => {
        if (reply === NOT_DELIVERED) story.says('network', name, `nobody serves ${to}`)
        onReply(reply)
      })
    },
    serve: (subject, handler) =>
      transport.serve(subject, (message, reply) => {
        const items = subjectKind(subject) === 'items' ? itemsIn(message) : []
        handler(message, (answer) => {
          for (const { about, text } of repliedWords(story, subject, items, answer)) {
            story.says(name, story.askers.get(about) ?? 'nobody', text)
          }
          reply(answer)
        })
      }),
  }
}

/** `about`: what a question and its answer have in common. */
interface Said {
  readonly about: string
  readonly text: string
}

function sentWords(story: Story, subject: string, message: string): readonly Said[] {
  if (isDelivery(subject)) {
    return deliveriesIn(message).map((delivery) => ({
      about: wayOf(delivery.source, delivery.target),
      text: deliveryWords(delivery),
    }))
  }
  if (subjectKind(subject) === 'control') return callWords(message)
  return itemsIn(message).map((item) => {
    const { operation, actor, shardId, epoch, requestId } = item
    const text = `${story.nameOfItem(item)} ${operation.kind} for ${actor.id}, shard ${shardId} in epoch ${epoch}`
    return { about: requestId, text }
  })
}

function repliedWords(story: Story, subject: string, items: readonly Item[], answer: string): readonly Said[] {
  if (isDelivery(subject)) {
    return deliveryAnswersIn(answer).map(({ source, target, kind, mark }) => ({
      about: wayOf(source, target),
      text:
        kind === 'taken'
          ? `shard ${target} has taken in all up to ${mark} of shard ${source}`
          : `what came from shard ${source} to shard ${target}: ${kind} (mark ${mark})`,
    }))
  }
  if (subjectKind(subject) === 'control') return callWords(answer)
  return verdictsIn(answer).map(({ requestId, attempt, verdict }) => {
    const item = items.find((one) => one.requestId === requestId && one.attempt === attempt)
    const which = item === undefined ? requestId : story.nameOfItem(item)
    const said = verdict.kind === 'answered' ? answerWords(verdict.answer) : verdict.kind
    return { about: requestId, text: `${which} ${said}` }
  })
}

/** Pings are too many to be told. */
function callWords(message: string): readonly Said[] {
  const empty = message.includes('"body":{}') || message.includes('"ping"')
  return empty ? [] : [{ about: 'shards', text: `of shards: ${message}` }]
}

function wayOf(source: number, target: number): string {
  return `from ${source} to ${target}`
}

function deliveryWords({ source, target, epoch, messages }: Delivery): string {
  const all = messages.map(({ number, envelope }) => `${number}: ${envelopeWords(envelope)}`).join(', ')
  const what = messages.length === 0 ? 'nothing, to hear how far it is' : all
  return `from shard ${source} (epoch ${epoch}) to shard ${target}: ${what}`
}

function sessionOf(subject: string): string {
  return subject.split('.')[2] ?? subject
}
