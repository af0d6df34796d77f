/** GET /v1/accounts/{id}/statements: the movements of one balance, signed or as CSV (D22). */
import type { Movement, MovementQuery, MovementsPage } from '../../../runtime/ports/ledger-reads.ts'
import { isoTimestamp } from '../../../actors/timestamp.ts'
import { admittedStream, NotAdmitted, sameAdmission } from '../../endpoint/admitted-stream.ts'
import { listReply, MAX_PAGE_SIZE, type PageRequest } from '../../endpoint/paging.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import { accountRead } from '../../endpoint/path-values.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type EdgeContext, type Endpoint, EVERYONE, type GuardedCall } from '../../endpoint/route.ts'
import { signAssertion } from '../../endpoint/service-signature.ts'
import { pastTimeIn, TIME } from '../../endpoint/times.ts'
import { prefers } from '../../http/accept.ts'
import { logFailure } from '../../http/failure-log.ts'
import { notFound, problem, type Problem } from '../../http/problem.ts'
import { streamReply, type StreamReply, textReply } from '../../http/reply.ts'
import { streamTexts } from '../../http/text-stream.ts'
import { statementResponse } from '../../schemas/responses/account.ts'
import { tokenIdField } from '../../schemas/fields.ts'
import { movementMembers } from '../../views/views.ts'

const CSV = 'text/csv'
const VARIES = { vary: 'Accept' } as const

export const getStatement: Endpoint = {
  id: 'getStatement',
  method: 'GET',
  path: '/v1/accounts/:accountId/statements',
  summary: 'Get a statement',
  description: `The movements of one balance, oldest first: \`opening\` and the amounts add up to \`closing\`. Each page has its own and is signed with the assertion key; \`ledger verify\` checks pages, and that they follow each other.

The log proves the entries of the account’s chain that state the movements: \`GET /v1/accounts/{id}/audit-chain/{sequence}/proof\`, with the \`sequence\` of a movement. The proof of entry \`closing_sequence\` proves them all, with the chain up to it.

A movement is a change of \`balance\`. A leg of a settlement group moves the balance when its group settles; value that is reserved or \`incoming\` has not moved.

A transaction that is being recorded at \`to\` may be missing: its time is that of its acceptance. A statement that ends some minutes ago has them all.

With \`Accept: text/csv\` the response has **all movements as CSV** with a header row, unsigned. One that ends without an error is complete. A client may read two such lists at a time, an edge sends four; beyond that the response is 503.`,
  roles: EVERYONE,
  parameters: [
    {
      name: 'token_id',
      in: 'query',
      required: true,
      description: 'The token; `BASE` for the ledger’s own unit.',
      schema: tokenIdField,
    },
    {
      name: 'from',
      in: 'query',
      description: 'From this time on, not in the future: RFC 3339 with an offset.',
      schema: TIME,
    },
    { name: 'to', in: 'query', description: 'Before this time, by default now; not in the future.', schema: TIME },
    ...PAGING,
  ],
  answers: [{ status: 200, description: 'One page; or all movements as CSV.', content: statementResponse, text: CSV }],
  refusals: {
    ERR_INVALID_TOKEN_ID: 'The token ID is ill-formed or missing.',
    ERR_INVALID_TIMESTAMP: 'A time is ill-formed, or lies in the future.',
    ERR_OVERLOADED: 'Too many lists are being sent, to this client or by this edge.',
  },
  handle: accountRead((accountId, context, call) => {
    const { http } = call
    const range = readRange(call, context.clock.now())
    return listReply(context, call, [range.tokenId, range.fromMs, range.toMs], async (request) => {
      const asked = queryOf(accountId, range, request, context.clock.now())
      const page = await context.reads.movements(asked)
      if (page === undefined) return noSuchAccount()
      if (page === null) return notFound('The account was erased, and its movements with it.')
      if (prefers(http.req.header('accept'), CSV, 'application/json')) return csvReply(context, call, asked, page)
      const members = await signedPage(context, asked, page)
      const { next } = page
      return { members, next: next && `${next.atMs} ${next.sequence} ${asked.toMs}`, headers: VARIES }
    })
  }),
}

interface Range {
  readonly tokenId: string
  readonly fromMs: number | null
  /** null: now. */
  readonly toMs: number | null
}

function readRange({ query }: GuardedCall, nowMs: number): Range {
  const tokenId = query.checked('token_id', tokenIdField, 'ERR_INVALID_TOKEN_ID')
  if (tokenId === null && query.value('token_id') === null) {
    query.reject('token_id', 'ERR_INVALID_TOKEN_ID', 'is required')
  }
  const fromMs = pastTimeIn(query, 'from', nowMs)
  const toMs = pastTimeIn(query, 'to', nowMs)
  return { tokenId: tokenId ?? '', fromMs, toMs }
}

/** Later pages end where the first does. */
function queryOf(
  accountId: string,
  { tokenId, fromMs, toMs }: Range,
  request: PageRequest,
  nowMs: number,
): MovementQuery {
  const base = {
    accountId,
    tokenId,
    fromMs: fromMs === null ? null : Math.max(0, Math.ceil(fromMs)),
    limit: request.limit,
  }
  if (request.after === null) return { ...base, toMs: Math.ceil(toMs ?? nowMs), after: null }
  const [atMs = 0, sequence = 0, endMs = 0] = request.after.split(' ').map(Number)
  return { ...base, toMs: endMs, after: { atMs, sequence } }
}

async function signedPage(
  { serviceKeys, clock, settings }: EdgeContext,
  { accountId, tokenId, fromMs, toMs, after }: MovementQuery,
  { opening, movements, closing, next }: MovementsPage,
): Promise<object> {
  const { content, signature } = await signAssertion(serviceKeys, clock.now(), (keyId, at) => ({
    account_id: accountId,
    token_id: tokenId,
    from: fromMs === null ? null : isoTimestamp(fromMs),
    to: isoTimestamp(toMs),
    opening: opening.balance,
    opening_sequence: opening.sequence,
    movements: movements.map(movementMembers),
    closing: closing.balance,
    closing_sequence: closing.sequence,
    first_page: after === null,
    last_page: next === null,
    ledger_id: settings.ledgerId,
    generated_at: at,
    key_id: keyId,
  }))
  return { ...content, signature }
}

function csvReply(
  context: EdgeContext,
  call: GuardedCall,
  asked: MovementQuery,
  first: MovementsPage,
): StreamReply | Problem | ReturnType<typeof textReply> {
  const { clock, streamPlaces } = context
  // A HEAD request has no reader for the rows.
  if (call.http.req.method === 'HEAD') return textReply(200, CSV, '', VARIES)
  const giveBack = streamPlaces.take(call.caller.clientId)
  if (giveBack === undefined) {
    return problem(
      'downstream-failure',
      'ERR_OVERLOADED',
      'Too many lists are being sent, to this client or by this edge. Try again.',
    )
  }
  const isAdmitted = sameAdmission(call)
  let isOver = false
  const ended = (): void => {
    isOver = true
    giveBack()
  }
  const goesOn = async (): Promise<boolean> => !isOver && (await isAdmitted())
  const rows = rowsOf(context, call, { asked: { ...asked, limit: MAX_PAGE_SIZE }, first, goesOn })
  return streamReply(200, CSV, admittedStream(streamTexts(rows, clock, ended), isAdmitted), VARIES)
}

interface StartedRows {
  readonly asked: MovementQuery
  readonly first: MovementsPage
  /** Whether the client still reads and is admitted; pages without movements are read while it takes nothing. */
  readonly goesOn: () => Promise<boolean>
}

async function* rowsOf(
  { log, reads }: EdgeContext,
  { http, trail }: GuardedCall,
  { asked, first, goesOn }: StartedRows,
): AsyncGenerator<string, void, undefined> {
  yield 'sequence,txn_id,type,amount,balance_after,timestamp\r\n'
  for (let page = first; ;) {
    if (page.movements.length > 0) yield page.movements.map(rowOf).join('')
    if (page.next === null) return
    if (!(await goesOn())) throw new NotAdmitted('The client may not have the rest.')
    try {
      const next = await reads.movements({ ...asked, after: page.next })
      // A list that ends here would look complete.
      if (!next) throw new Error('the account was erased while its movements were sent')
      page = next
    } catch (failure) {
      logFailure(log, failure, trail, http.req.method)
      throw failure
    }
  }
}

/** No value has a comma or a quote. */
function rowOf({ sequence, txnId, type, amount, balanceAfter, atMs }: Movement): string {
  return `${sequence},${txnId ?? ''},${type},${amount},${balanceAfter},${isoTimestamp(atMs)}\r\n`
}
