/**
 * The events of a run as a story for a reader: requests, commits, faults, and their times.
 *   S1. A run with a story is the same run: a story draws no random number, schedules no event and is not in the trace.
 *   S2. Without a story no code of this file runs.
 */
import { Decimal } from 'decimal.js'
import type { Delivery, Item } from '../../runtime/protocol/messages.ts'
import type { GatewayOutcome, GatewayRequest } from '../../runtime/edge/ledger-gateway.ts'
import { NOT_DELIVERED, type Transport } from '../../runtime/ports/transport.ts'
import { deliveriesIn, deliveryAnswersIn, itemsIn, verdictsIn } from '../support/bodies.ts'
import { actorKey } from '../support/reference-encoding.ts'
import type { KernelWitness, RunEnd } from './kernel/kernel.ts'
import { type Plan, writePlan } from './plan.ts'
import type { AppliedCommit, ShardChange } from './store/applied.ts'
import type { SimDatabase } from './store/database.ts'
import { isDelivery, subjectKind } from './subjects.ts'
import { meaningOf, type Violation } from './violations.ts'

/** `fault`: includes repairs; `owner`: changes of a shard's owner. */
export interface StoryLine {
  readonly atMs: number
  readonly kind: 'client' | 'message' | 'commit' | 'owner' | 'fault' | 'log'
  readonly text: string
}

export interface Story {
  readonly witness: KernelWitness
  /** Names the node of a session: from now on the session is shown under that name. */
  readonly knows: (session: string, node: string) => void
  readonly watches: (database: SimDatabase) => void
  /** A client sends a request to an edge. The same request object sent again has the same number. */
  readonly asks: (edge: string, request: GatewayRequest) => void
  readonly hears: (edge: string, request: GatewayRequest, outcome: GatewayOutcome) => void
  /** The latest sender of a pending request, by a name that request and answer share. */
  readonly askers: Map<string, string>
  /** `from`, `to`: names of nodes and edges. */
  readonly says: (from: string, to: string, text: string) => void
  readonly nameOfSession: (session: string) => string
  /** The request number `#12` and the attempt of an item. */
  readonly nameOfItem: (item: Item) => string
  readonly lines: () => readonly StoryLine[]
}

/** Fields without information for a reader, or with information that another field gives. */
const DULL = /^(signature|.*[hH]ash|publicKey|tip|salt|updatedAtMs|createdAtMs|lastTimeMs|receipt|payload)$/

/** A value in few words: without empty parts and quotes. */
export function brief(value: unknown): string {
  if (typeof value !== 'object' || value === null || Decimal.isDecimal(value)) return String(value)
  if (Array.isArray(value)) return `[${value.map(brief).join(', ')}]`
  const members = value instanceof Map ? [...value] : Object.entries(value)
  const fields = members.map(([name, member]) => [String(name), member === null ? '' : brief(member ?? '')] as const)
  return `{${fields
    .filter(([name, text]) => !DULL.test(name) && !['', '[]', '{}'].includes(text))
    .map(([name, text]) => `${name} ${text}`)
    .join(', ')}}`
}

/** Faults that the story shows with a line of their own, or that are too frequent to show. */
const SHOWN_ELSEWHERE =
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
    const shown = (row: ShardChange['after']): string =>
      `${row.nodeId === null ? 'unowned' : `${row.nodeId}’s`} in epoch ${row.epoch}.${row.attempt}`
    tell('owner', `shard ${shardId} is ${shown(after)}, and was ${shown(before)}`)
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
        const logged = /^(\S+) logs (\w+ .*)$/.exec(text)
        if (logged !== null) tell('log', `${logged[1]} logs ${logged[2]}`)
        else tell(text.includes('takes a rare path') ? 'log' : 'fault', `FAULT: ${text}`)
      },
      counted: (name) => {
        if (TOLD.test(name) && !SHOWN_ELSEWHERE.test(name))
          tell('fault', `FAULT: ${name.replace('fault:', '').replaceAll(/[_:-]/g, ' ')} (while: ${label})`)
      },
    },
    knows: (session, node) => {
      sessions.set(session, node)
    },
    watches: (database) => {
      database.onApplied(commit)
      database.shards.onChange(owner)
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

/** Adds a node's or an edge's messages to the story; returns the transport unchanged if there is no story. */
export function storyTransport(story: Story | undefined, name: string, transport: Transport): Transport {
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
        if (reply === NOT_DELIVERED) story.says('network', name, `no subscriber on ${to}`)
        onReply(reply)
      })
    },
    serve: (subject, handler) =>
      transport.serve(subject, (message, reply) => {
        const items = subjectKind(subject) === 'items' ? itemsIn(message) : []
        handler(message, (answer) => {
          for (const { about, text } of repliedWords(story, subject, items, answer)) {
            story.says(name, story.askers.get(about) ?? 'unknown', text)
          }
          reply(answer)
        })
      }),
  }
}

/** `about`: common to a request and its answer. */
interface StoryMessage {
  readonly about: string
  readonly text: string
}

function sentWords(story: Story, subject: string, message: string): readonly StoryMessage[] {
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

function repliedWords(story: Story, subject: string, items: readonly Item[], answer: string): readonly StoryMessage[] {
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

/** Pings are too frequent for a story. */
function callWords(message: string): readonly StoryMessage[] {
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

/** Lines shown of a long story: those about the violation first, then faults; and always the last ones. */
const SHOWN_LINES = 150
const LAST_LINES = 40

/** The lines to show: those with a name of the first violation, then faults and owners, the latest first. */
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
  /** Empty if the run held. */
  readonly violations: readonly Violation[]
  readonly end: RunEnd
  /** All lines, however many. */
  readonly full: boolean
}

/** The printed story of a run: its plan, its events and its violations. */
export function taleText({ plan, lines, violations, end, full }: Tale): readonly string[] {
  const names = [...new Set(violations.map(({ name }) => name))]
  const { seed, nodes, edges, accounts, clients, requestsPerClient, faultsMs } = plan
  return [
    `${brief({ nodes, edges, accounts, clients, requestsPerClient, faultsMs })}, changed: ${writePlan(plan)}`,
    ...(full ? lines.map(lineText) : shownLines(lines, violations)),
    // Violations after the first seldom add information.
    ...(violations.length === 0
      ? ['nothing broke']
      : ['BROKEN:', ...violations.slice(0, 5).map(({ text }) => `  ${text}`)]),
    ...names.map((name) => `  ${name}: ${meaningOf(name)}`),
    `seed ${seed}: ${end.steps} steps in ${(end.virtualMs / 1000).toFixed(1)} s of virtual time, hash ${end.hash}`,
  ]
}
