/**
 * What happened in a run, told to a person: who asked what of whom, what was committed, what went wrong, and when.
 *   S1. A run with a story is the same run: a story draws nothing, schedules nothing and is no part of the trace.
 *   S2. Without a story nothing of this file runs.
 */
import { Decimal } from 'decimal.js'
import type { Delivery, Item } from '../../runtime/protocol/messages.ts'
import type { GatewayOutcome, GatewayRequest } from '../../runtime/edge/ledger-gateway.ts'
import { NOT_DELIVERED, type Transport } from '../../runtime/ports/transport.ts'
import { deliveriesIn, deliveryAnswersIn, itemsIn, verdictsIn } from '../support/bodies.ts'
import { actorKey } from '../support/reference-encoding.ts'
import type { KernelWitness, RunEnd } from './kernel.ts'
import { type Plan, writePlan } from './plan.ts'
import type { AppliedCommit, ShardChange, SimDatabase } from './sim-ledger-store-database.ts'
import { isDelivery, subjectKind } from './subjects.ts'
import { meaningOf, type Violation } from './violations.ts'

/** `fault`: also what mends it; `owner`: whose a shard is. */
export interface StoryLine {
  readonly atMs: number
  readonly kind: 'client' | 'message' | 'commit' | 'owner' | 'fault' | 'log'
  readonly text: string
}

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

/** Members that tell a reader nothing, or what another member tells. */
const DULL = /^(signature|.*[hH]ash|publicKey|tip|salt|updatedAtMs|createdAtMs|lastTimeMs|receipt|payload)$/

/** A value in few words: without what is empty, and without quotes. */
export function brief(value: unknown): string {
  if (typeof value !== 'object' || value === null || Decimal.isDecimal(value)) return String(value)
  if (Array.isArray(value)) return `[${value.map(brief).join(', ')}]`
  const members = value instanceof Map ? [...value] : Object.entries(value)
  const told = members.map(([name, member]) => [String(name), member === null ? '' : brief(member ?? '')] as const)
  return `{${told
    .filter(([name, text]) => !DULL.test(name) && !['', '[]', '{}'].includes(text))
    .map(([name, text]) => `${name} ${text}`)
    .join(', ')}}`
}

/** Faults that tell themselves by a line of their own, or that are too many to tell. */
const TOLD_ELSEWHERE =
  /^fault:(crash|pause|delivery_lost|control_\w+|store:slow|store:look-up-slow|store:far|hint_\w+|message_split)$/
const TOLD = /^(fault:|store:commit-applied-when-ended|store:commit-fenced|store:lock_let_go_of_living)/
const TOLD_EVENTS =
  /^mends |^reconnects | is started again$| sets its clock$| is gone from |^a blow$|^an administrator accepts|is back$/

export function createStory(): Story {
  const lines: StoryLine[] = []
  const sessions = new Map<string, string>()
  const numbers = new Map<string, number>()
  let nowMs = 0
  let label = ''
  const nameOfSession = (session: string): string => sessions.get(session) ?? session.slice(0, 8)
  const tell = (kind: StoryLine['kind'], text: string): void => {
    const named = text.replaceAll(/(?:ledger\.node\.)?\b([0-9a-f]{32})\b/g, (_, id: string) => nameOfSession(id))
    lines.push({
      atMs: nowMs,
      kind,
      text: kind === 'client' ? named : named.replaceAll(/(?<=(?:node|edge)-\w)#\d+/g, ''),
    })
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
      const { token, ...parts } = batch
      const rows = Object.entries(parts).flatMap(([name, part]) => part.map((row) => `${name} ${brief(row)}`))
      const { shardId, epoch, attempt } = token
      if (rows.length > 0)
        tell('commit', `${nodeId} commits shard ${shardId} (epoch ${epoch}.${attempt}): ${rows.join('; ')}`)
    }
  }
  return {
    witness: {
      stepped: (atMs, next) => {
        nowMs = atMs
        label = next
        if (TOLD_EVENTS.test(next) && !next.endsWith('.deliveries')) tell('fault', next)
      },
      recorded: (line) => {
        const text = line.replace(/^[\d.]+ /, '')
        if (text.startsWith('rates ')) return
        const says = /^(\S+) says (\w+ .*)$/.exec(text)
        if (says !== null) tell('log', `${says[1]} logs ${says[2]}`)
        else tell(text.includes('takes a rare path') ? 'log' : 'fault', `FAULT: ${text}`)
      },
      counted: (name) => {
        if (TOLD.test(name) && !TOLD_ELSEWHERE.test(name))
          tell('fault', `FAULT: ${name.replace('fault:', '').replaceAll(/[_:-]/g, ' ')} (while: ${label})`)
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
      const what = 'payload' in operation ? operation.payload.replaceAll('"', '') : brief(operation)
      tell(
        'client',
        `${who} asks ${edge}: ${numberOf(actor.id, operation)} ${operation.kind} ${actorKey(actor)}: ${what}`,
      )
    },
    hears: (edge, { actor, operation }, outcome) => {
      tell('client', `${edge} tells the client of ${numberOf(actor.id, operation)}: ${brief(outcome)}`)
    },
    says: (from, to, text) => tell('message', `${from} -> ${to}: ${text}`),
    askers: new Map(),
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
      const to = story.nameOfSession(subject.split('.')[2] ?? subject)
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
    return deliveriesIn(message).map((delivery) => ({ about: wayOf(delivery), text: deliveryWords(delivery) }))
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
    return deliveryAnswersIn(answer).map((one) => ({ about: wayOf(one), text: brief(one) }))
  }
  if (subjectKind(subject) === 'control') return callWords(answer)
  return verdictsIn(answer).map(({ requestId, attempt, verdict }) => {
    const item = items.find((one) => one.requestId === requestId && one.attempt === attempt)
    const which = item === undefined ? requestId : story.nameOfItem(item)
    return { about: requestId, text: `${which} ${brief(verdict)}` }
  })
}

/** Pings are too many to be told. */
function callWords(message: string): readonly Said[] {
  const empty = message.includes('"body":{}') || message.includes('"ping"')
  return empty ? [] : [{ about: 'shards', text: `of shards: ${message}` }]
}

function wayOf({ source, target }: { readonly source: number; readonly target: number }): string {
  return `from ${source} to ${target}`
}

function deliveryWords({ source, target, epoch, messages }: Delivery): string {
  const all = messages.map(({ number, envelope }) => `${number}: ${brief(envelope)}`).join(', ')
  return `from shard ${source} (epoch ${epoch}) to shard ${target}: ${all}`
}

/** Of a long story so many lines are shown: those that touch the violation, then what went wrong; and the last. */
const SHOWN_LINES = 150
const LAST_LINES = 40

/** The lines to show, those that touch what the first violation names before faults and owners, the latest first. */
export function shownLines(lines: readonly StoryLine[], violations: readonly Violation[]): readonly string[] {
  const names = violations[0]?.text.match(/\baccount-\d+\b|\btxn_\w{26}\b|\b[0-9a-f-]{36}\b|\bshard \d+\b/g) ?? []
  const isNamed = new RegExp(`(?:${names.join('|') || '(?!)'})\\b`)
  const rankOf = ({ kind, text }: StoryLine, index: number): number => {
    if (index >= lines.length - LAST_LINES) return 0
    if (isNamed.test(text)) return kind === 'commit' ? 1 : 2
    return kind === 'fault' || kind === 'owner' ? 3 : Infinity
  }
  const ranked = lines.map((line, index) => ({ line, index, rank: rankOf(line, index) }))
  const shown = ranked
    .filter(({ rank }) => rank < Infinity)
    .sort((left, right) => left.rank - right.rank || right.index - left.index)
    .slice(0, SHOWN_LINES)
    .sort((left, right) => left.index - right.index)
  return shown.flatMap(({ line, index }, place) => {
    const gap = index - (shown[place - 1]?.index ?? -1) - 1
    return [...(gap > 0 ? [`            … ${gap} lines left out`] : []), lineText(line)]
  })
}

function lineText({ atMs, text }: StoryLine): string {
  return `${(atMs / 1000).toFixed(3).padStart(8)} s  ${text}`
}

export interface Tale {
  readonly plan: Plan
  readonly lines: readonly StoryLine[]
  /** Empty: the run held. */
  readonly violations: readonly Violation[]
  readonly end: RunEnd
  /** Everything that happened, however long. */
  readonly full: boolean
}

/** The story of a run as it is printed: how it was made up, what happened, and what broke. */
export function taleText({ plan, lines, violations, end, full }: Tale): readonly string[] {
  const names = [...new Set(violations.map(({ name }) => name))]
  const { seed, nodes, edges, accounts, clients, requestsPerClient, faultsMs } = plan
  return [
    `${brief({ nodes, edges, accounts, clients, requestsPerClient, faultsMs })}, changed: ${writePlan(plan)}`,
    ...(full ? lines.map(lineText) : shownLines(lines, violations)),
    // What follows from the first is seldom news.
    ...(violations.length === 0
      ? ['nothing broke']
      : ['BROKEN:', ...violations.slice(0, 5).map(({ text }) => `  ${text}`)]),
    ...names.map((name) => `  ${name}: ${meaningOf(name)}`),
    `seed ${seed}: ${end.steps} steps in ${(end.virtualMs / 1000).toFixed(1)} s of virtual time, hash ${end.hash}`,
  ]
}
