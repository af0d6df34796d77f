/**
 * Transactions as lines of JSON, as many as there are (D16): one by one as lists show them, with places to go on from.
 *   N1. A page is read when its reader has taken the one before it, as a list reads it; between pages nothing is held of
 *       the ledger. It is read under what the client may see at that moment (E3).
 *   N2. The last line is `end`, or `problem` if it cannot go on: whatever ends otherwise was cut off.
 *   N3. Behind a line `next_page_token` comes what a list gives for that token: what was cut off is gone on with from the
 *       last such line, and nothing is missing or comes twice but what stood behind it.
 *   N4. A feed ends with all that was accepted before it was asked for: it does not follow a ledger that never rests.
 */
import type { AccountScope } from '../../actors/account-scope.ts'
import type { TransactionCursor, TransactionView } from '../../runtime/ports/ledger-reads.ts'
import { fieldsOf } from '../../runtime/ports/trail.ts'
import { logFailure } from '../http/failure-log.ts'
import { downstreamFailure, type Problem, problem, problemMembers } from '../http/problem.ts'
import { sentPath } from '../http/request-path.ts'
import { streamReply, textReply } from '../http/reply.ts'
import type { EdgeContext, EndpointOutcome, GuardedCall } from './route.ts'
import { type StreamEnd, streamTexts } from '../http/text-stream.ts'
import { transactionMembers } from '../views/views.ts'

export const LINES_TYPE = 'application/x-ndjson'
/** Of every answer of an address that has lines as well. */
export const VARIES = { vary: 'Accept' } as const

/** How far the clocks of a ledger may be from each other at most, with some room. */
const CLOCK_MARGIN_MS = 1_000

/** The text of a cursor in a page token. Transaction IDs have no space; behind the first one is the position, if any. */
export function cursorText(cursor: TransactionCursor): string {
  return cursor.position === null ? cursor.txnId : `${cursor.txnId} ${cursor.position}`
}

/** Of a text that `cursorText` wrote: the token's MAC vouches for that. */
export function readCursor(text: string): TransactionCursor {
  const space = text.indexOf(' ')
  return space < 0 ? { txnId: text, position: null } : { txnId: text.slice(0, space), position: text.slice(space + 1) }
}

export interface TransactionsRead {
  readonly rows: readonly TransactionView[]
  /** null: nothing follows. */
  readonly next: TransactionCursor | null
}

export interface LinesRequest {
  readonly isFeed: boolean
  readonly after: TransactionCursor | null
  readonly read: (scope: AccountScope, after: TransactionCursor | null) => Promise<TransactionsRead>
  readonly tokenOf: (next: TransactionCursor | null) => string
}

type LinesContext = Pick<EdgeContext, 'clock' | 'log' | 'settings' | 'streamPlaces'>

/** The progress of the response. */
interface Progress {
  rows: number
  failed: boolean
}

/** Throws what the first page throws: so far it is an answer like every other. */
export async function transactionLines(
  context: LinesContext,
  call: GuardedCall,
  asked: LinesRequest,
): Promise<EndpointOutcome> {
  const { clock, log, streamPlaces } = context
  const { caller, http, scope, trail } = call
  // A HEAD request has no reader for the lines.
  if (http.req.method === 'HEAD') return textReply(200, LINES_TYPE, '', VARIES)
  const giveBack = streamPlaces.take(caller.clientId)
  if (giveBack === undefined) return tooMany()
  try {
    const untilMs = clock.now() + CLOCK_MARGIN_MS
    const first = await asked.read(scope, asked.after)
    const progress: Progress = { rows: 0, failed: false }
    const ended = (end: StreamEnd): void => {
      giveBack()
      const how = end === 'sent' && progress.failed ? 'failed' : end
      log.info('transactions_streamed', {
        ...fieldsOf(trail),
        clientId: caller.clientId,
        rows: progress.rows,
        end: how,
      })
    }
    const texts = textsOf(context, call, asked, { first, untilMs, progress })
    return streamReply(200, LINES_TYPE, streamTexts(texts, clock, ended), VARIES)
  } catch (failure) {
    giveBack()
    throw failure
  }
}

function tooMany(): Problem {
  const detail = 'Too many lists are being sent as lines, to this client or by this edge. Try again.'
  return problem('downstream-failure', 'ERR_OVERLOADED', detail)
}

interface StartedLines {
  readonly first: TransactionsRead
  readonly untilMs: number
  readonly progress: Progress
}

/** One text for each page. */
async function* textsOf(
  context: LinesContext,
  call: GuardedCall,
  asked: LinesRequest,
  { first, untilMs, progress }: StartedLines,
): AsyncGenerator<string, void, undefined> {
  let after = asked.after
  let page = first
  for (;;) {
    progress.rows += page.rows.length
    const token = asked.tokenOf(page.next)
    const isLast = endsWith(page, { isFeed: asked.isFeed, after, untilMs })
    const last = isLast ? { end: true, count: progress.rows, next_page_token: token } : { next_page_token: token }
    yield [...page.rows.map(transactionMembers), last].map(lineOf).join('')
    if (isLast) return
    after = page.next
    const next = await readOn(context, call, asked, after)
    if ('kind' in next) {
      progress.failed = true
      const { errorBase } = context.settings
      const request = { errorBase, instance: sentPath(call.http), requestId: call.trail.requestId }
      yield lineOf({ problem: problemMembers(next, request) })
      return
    }
    page = next
  }
}

interface Place {
  readonly isFeed: boolean
  /** Where the page began. */
  readonly after: TransactionCursor | null
  readonly untilMs: number
}

/** Whether this page is the last (N4): a feed always has a next token. */
function endsWith({ rows, next }: TransactionsRead, { isFeed, after, untilMs }: Place): boolean {
  if (next === null) return true
  if (!isFeed) return false
  const stands = rows.length === 0 && next.txnId === after?.txnId && next.position === after.position
  return next.txnId === '' || stands || rows.some(({ createdAtMs }) => createdAtMs > untilMs)
}

/** The next page, or why there is none. */
async function readOn(
  { log }: LinesContext,
  { admitAgain, http, trail }: GuardedCall,
  asked: LinesRequest,
  after: TransactionCursor | null,
): Promise<TransactionsRead | Problem> {
  try {
    const grant = await admitAgain()
    return grant.ok ? await asked.read(grant.value.scope, after) : grant.error
  } catch (failure) {
    logFailure(log, failure, trail, http.req.method)
    return downstreamFailure()
  }
}

function lineOf(members: object): string {
  return `${JSON.stringify(members)}\n`
}
