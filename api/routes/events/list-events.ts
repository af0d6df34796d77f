/**
 * GET /v1/events: the event log in pages, or as a stream (D23).
 *   E1. A cursor is a position in the whole log, sealed for one client. It does not depend on the filters.
 */
import * as v from 'valibot'
import { EventPositionForeign, type EventPosition } from '../../../runtime/ports/ledger-events.ts'
import { type EventFilter, readTypes } from '../../endpoint/event-filter.ts'
import { EVENT_STREAM_TYPE, eventStream, waitedPage } from '../../endpoint/event-stream.ts'
import { PAGE_SIZE } from '../../endpoint/parameters.ts'
import { pageSizeOf } from '../../endpoint/paging.ts'
import {
  type EdgeContext,
  type Endpoint,
  type EndpointOutcome,
  EVERYONE,
  type GuardedCall,
} from '../../endpoint/route.ts'
import { VARIES } from '../../endpoint/transaction-lines.ts'
import { prefers } from '../../http/accept.ts'
import { downstreamFailure } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { accountIdField, checkedField } from '../../schemas/fields.ts'
import { eventListResponse } from '../../schemas/responses/event.ts'
import { eventMembers } from '../../views/event-views.ts'

const MAX_WAIT_S = 30
const LATEST = 'latest'
const TYPES_RULE = 'must be up to 20 types of events, separated by commas, such as ledger.transaction.*'
const ASSET_RULE = 'must be a token, or an NFT as class/instance'

const TYPES = checkedField(TYPES_RULE, (text) => readTypes(text) !== undefined)
const ASSET = checkedField(ASSET_RULE, (text) => /^[A-Za-z0-9_.:@/-]{1,160}$/.test(text))

export const listEvents: Endpoint = {
  id: 'listEvents',
  method: 'GET',
  path: '/v1/events',
  summary: 'Read the event log',
  description: `Everything that became final, oldest first: each event once in the log, in the order of the commits of each shard and of each account's chain. Send \`next_cursor\` as \`after\` to read on. The same event has the same \`id\` each time.

A page can be empty and still have another \`next_cursor\`: keep it. The filters may change between pages.

With \`wait\` the response waits up to so many seconds for the next event.

With \`Accept: text/event-stream\` the response is a stream of **server-sent events**: \`id\` is the cursor, \`event\` the type, and \`data\` the event. The header \`Last-Event-ID\` resumes it and takes precedence over \`after\`. A comment follows every 15 seconds without an event. The service ends the stream when the access token expires or is revoked, and closes a connection that takes nothing for 60 seconds.

A client may have 100 streams and waiting requests at a time, an edge 1,000; beyond that the response is 503.`,
  roles: EVERYONE,
  parameters: [
    {
      name: 'after',
      in: 'query',
      description: `The \`next_cursor\` of an earlier page of the same client; or \`${LATEST}\` for what comes from now on. Absent: from the first event.`,
      schema: v.pipe(v.string(), v.maxLength(512)),
    },
    {
      name: 'types',
      in: 'query',
      description:
        'Only these types, separated by commas. `.*` at the end stands for any rest: `ledger.transaction.*`.',
      schema: TYPES,
    },
    { name: 'account_id', in: 'query', description: 'Only events that concern this account.', schema: accountIdField },
    {
      name: 'token_id',
      in: 'query',
      description: 'Only events that concern this token, or this NFT as `class/instance`.',
      schema: ASSET,
    },
    PAGE_SIZE,
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'The `id` of the last event of an earlier stream, instead of `after`.',
      schema: v.pipe(v.string(), v.maxLength(512)),
    },
    {
      name: 'wait',
      in: 'query',
      description: `Seconds to wait for an event if there is none. Above ${MAX_WAIT_S} is served as ${MAX_WAIT_S}. Ignored for a stream.`,
      schema: v.pipe(v.number(), v.integer(), v.minValue(0)),
    },
  ],
  answers: [
    { status: 200, description: 'One page; or a stream.', content: eventListResponse, text: EVENT_STREAM_TYPE },
  ],
  refusals: {
    ERR_INVALID_ACCOUNT_ID: '',
    ERR_INVALID_TOKEN_ID: '',
    ERR_OVERLOADED: 'Too many streams and waiting requests, of this client or at this edge.',
  },
  handle: (context, call) => answer(context, call),
}

async function answer(context: EdgeContext, call: GuardedCall): Promise<EndpointOutcome> {
  const { tokens, events, settings } = context
  const { query, caller } = call
  const types = query.checked('types', TYPES, 'ERR_INVALID_QUERY')
  const filter: EventFilter = {
    types: types === null ? null : (readTypes(types) ?? null),
    accountId: query.checked('account_id', accountIdField, 'ERR_INVALID_ACCOUNT_ID'),
    tokenId: query.checked('token_id', ASSET, 'ERR_INVALID_TOKEN_ID'),
  }
  const limit = pageSizeOf(query)
  const waitS = query.parsed('wait', parseWait, 'ERR_INVALID_QUERY', 'must be a number of seconds') ?? 0
  const scope = JSON.stringify(['/v1/events', caller.clientId])
  const text = call.http.req.header('last-event-id') ?? query.value('after')
  const read = text === null || text === LATEST ? undefined : tokens.read(scope, text)
  if (text !== null && text !== LATEST && read === undefined) {
    query.reject('after', 'ERR_INVALID_QUERY', 'is damaged, or belongs to another client')
  }
  const refused = query.problem()
  if (refused !== undefined) return refused
  try {
    const after = text === LATEST ? await events.end() : (read?.cursor ?? null)
    const seal = (next: EventPosition): string => tokens.write(scope, { cursor: next, count: null })
    const listening = { filter, after, seal }
    if (prefers(call.http.req.header('accept'), EVENT_STREAM_TYPE, 'application/json')) {
      return await eventStream(context, call, listening)
    }
    const page = await waitedPage(context, call, { ...listening, limit, waitMs: waitS * 1_000 })
    if ('kind' in page) return page
    const shown = page.events.map((event) => eventMembers(event, settings.ledgerId))
    return jsonReply(200, { events: shown, next_cursor: seal(page.next) }, VARIES)
  } catch (error) {
    if (!(error instanceof EventPositionForeign)) throw error
    query.reject('after', 'ERR_INVALID_QUERY', 'is of a database that was replaced since: read again without it')
    return query.problem() ?? downstreamFailure()
  }
}

function parseWait(text: string): number | undefined {
  return /^[0-9]{1,6}$/.test(text) ? Math.min(Number(text), MAX_WAIT_S) : undefined
}
