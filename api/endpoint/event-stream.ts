/**
 * Pages that wait for events, and streams of server-sent events (D23).
 *   S1. A page examines at most SCANNED_EVENTS: it can be empty and have a cursor further on.
 *   S2. Each look, and each part of a stream, checks the client's token and scope again (E3).
 *   S3. A stream holds one part at a time: a slow reader reads the log later, and nothing piles up.
 */
import type { EventPage, EventPosition, LedgerEvent, LedgerEvents } from '../../runtime/ports/ledger-events.ts'
import { fieldsOf } from '../../runtime/ports/trail.ts'
import { logFailure } from '../http/failure-log.ts'
import { type Problem, problem } from '../http/problem.ts'
import { streamReply, textReply } from '../http/reply.ts'
import { streamTexts } from '../http/text-stream.ts'
import { eventMembers, eventType } from '../views/event-views.ts'
import { sameAdmission } from './admitted-stream.ts'
import { type EventFilter, type EventSelection, selectsEvent } from './event-filter.ts'
import type { EdgeContext, EndpointOutcome, GuardedCall } from './route.ts'
import { viewerOf } from './scoped-reads.ts'
import { VARIES } from './transaction-lines.ts'

export const EVENT_STREAM_TYPE = 'text/event-stream'

const RETRY_MS = 3_000
const COMMENT_EVERY_MS = 15_000
const SCANNED_EVENTS = 5_000
/** Events of a part of a stream. */
const PART_EVENTS = 100
const READ_EVENTS = 1_000

export interface Listening {
  readonly filter: EventFilter
  readonly after: EventPosition | null
  /** The cursor for a position. */
  readonly seal: (position: EventPosition) => string
}

type Selected = Pick<EventPage, 'events' | 'next'>

/** S1. */
async function selected(
  read: LedgerEvents['read'],
  { selects }: EventSelection,
  { after, limit }: { readonly after: EventPosition | null; readonly limit: number },
): Promise<Selected> {
  const events: LedgerEvent[] = []
  let from = after
  for (let examined = 0; ;) {
    const page = await read(from, Math.min(READ_EVENTS, SCANNED_EVENTS - examined))
    for (const event of page.events) {
      if (!selects(event)) continue
      events.push(event)
      if (events.length === limit) return { events, next: event.position }
    }
    examined += page.events.length
    if (page.atEnd || examined >= SCANNED_EVENTS) return { events, next: page.next }
    from = page.next
  }
}

export async function waitedPage(
  { events, eventTail, eventPlaces, clock }: EdgeContext,
  call: GuardedCall,
  { filter, after, limit, waitMs }: Listening & { readonly limit: number; readonly waitMs: number },
): Promise<Selected | Problem> {
  let { scope } = viewerOf(call)
  let selection = selectsEvent(filter, viewerOf(call), events)
  const page = await selected(events.read, selection, { after, limit })
  if (page.events.length > 0 || waitMs === 0) return page
  const giveBack = eventPlaces.take(call.caller.clientId)
  if (giveBack === undefined) return tooMany()
  call.endTurn()
  const leave = eventTail.listen()
  try {
    const deadlineMs = clock.monotonic() + waitMs
    for (let { next } = page; ;) {
      const leftMs = deadlineMs - clock.monotonic()
      if (leftMs <= 0) return { events: [], next }
      const from = await eventTail.changed(next, leftMs, selection)
      const grant = await call.admitAgain()
      if (!grant.ok) return grant.error
      const isSame = grant.value.scope.text === scope.text
      ;({ scope } = grant.value)
      selection = selectsEvent(filter, { ...viewerOf(call), scope }, events)
      // A wider scope may select what the tail has passed over.
      const seen = await selected(eventTail.read, selection, { after: isSame ? from : next, limit })
      if (seen.events.length > 0) return seen
      next = seen.next
    }
  } finally {
    leave()
    giveBack()
  }
}

/** Throws what the first read throws: so far it is an answer like every other. */
export async function eventStream(
  context: EdgeContext,
  call: GuardedCall,
  listening: Listening,
): Promise<EndpointOutcome> {
  const { events, eventTail, eventPlaces, clock, log } = context
  const { caller, http, trail } = call
  // A HEAD request has no reader for the events.
  if (http.req.method === 'HEAD') return textReply(200, EVENT_STREAM_TYPE, '', VARIES)
  const giveBack = eventPlaces.take(caller.clientId)
  if (giveBack === undefined) return tooMany()
  const leave = eventTail.listen()
  const progress = { events: 0, ended: false }
  const end = (how: string): void => {
    progress.ended = true
    leave()
    giveBack()
    log.info('events_streamed', { ...fieldsOf(trail), client_id: caller.clientId, events: progress.events, end: how })
  }
  try {
    const selection = selectsEvent(listening.filter, viewerOf(call), events)
    const first = await selected(events.read, selection, { after: listening.after, limit: PART_EVENTS })
    const texts = textsOf(context, call, { ...listening, first, selection, progress })
    return streamReply(200, EVENT_STREAM_TYPE, streamTexts(texts, clock, end), {
      ...VARIES,
      'cache-control': 'no-store',
      // Proxies must not collect the parts.
      'x-accel-buffering': 'no',
    })
  } catch (failure) {
    end('broken')
    throw failure
  }
}

interface StartedStream extends Listening {
  readonly first: Selected
  readonly selection: EventSelection
  readonly progress: { events: number; readonly ended: boolean }
}

async function* textsOf(
  { eventTail, settings, clock, log }: EdgeContext,
  call: GuardedCall,
  { first, selection, seal, progress }: StartedStream,
): AsyncGenerator<string, void, undefined> {
  const isAdmitted = sameAdmission(call)
  const readOn = async (after: EventPosition): Promise<Selected> => {
    try {
      return await selected(eventTail.read, selection, { after, limit: PART_EVENTS })
    } catch (failure) {
      logFailure(log, failure, call.trail, call.http.req.method)
      throw failure
    }
  }
  yield `retry: ${RETRY_MS}\n\n`
  let sentMs = clock.monotonic()
  for (let page = first; !progress.ended && (await isAdmitted());) {
    const { events, next } = page
    if (events.length > 0) {
      progress.events += events.length
      yield events.map((event) => textOf(event, seal(event.position), settings.ledgerId)).join('')
      sentMs = clock.monotonic()
    } else if (clock.monotonic() - sentMs >= COMMENT_EVERY_MS) {
      // The cursor moves on past events that the filters leave out.
      yield `: no event\nid: ${seal(next)}\n\n`
      sentMs = clock.monotonic()
    }
    page = await readOn(next)
    if (page.events.length > 0) continue
    const leftMs = Math.max(1, sentMs + COMMENT_EVERY_MS - clock.monotonic())
    page = await readOn(await eventTail.changed(page.next, leftMs, selection))
  }
}

function textOf(event: LedgerEvent, cursor: string, ledgerId: string): string {
  return `id: ${cursor}\nevent: ${eventType(event.name)}\ndata: ${JSON.stringify(eventMembers(event, ledgerId))}\n\n`
}

function tooMany(): Problem {
  const detail = 'Too many streams and requests wait for events, of this client or at this edge. Try again.'
  return problem('downstream-failure', 'ERR_OVERLOADED', detail)
}
