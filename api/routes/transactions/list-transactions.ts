/** GET /v1/transactions: the query over all transactions, newest first or as a feed, in pages or as lines (D16). */
import { isDecimalString } from '../../../actors/money.ts'
import type { AccountScope } from '../../../actors/account-scope.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { TIME, timeIn } from '../../endpoint/times.ts'
import {
  type LedgerReads,
  TRANSACTION_STATUSES,
  type TransactionCursor,
  type TransactionQuery,
  type TransactionView,
} from '../../../runtime/ports/ledger-reads.ts'
import { prefers } from '../../http/accept.ts'
import { listReply } from '../../endpoint/paging.ts'
import type { Query } from '../../http/query.ts'
import { type ScannedPage, scanPage, type ScanRequest } from '../../endpoint/scan.ts'
import {
  accountIdField,
  checkedField,
  DECIMAL_PATTERN,
  groupIdField,
  idempotencyKeyField,
  tokenIdField,
} from '../../schemas/fields.ts'
import { cursorText, LINES_TYPE, readCursor, transactionLines, VARIES } from '../../endpoint/transaction-lines.ts'
import { transactionMembers } from '../../views/views.ts'
import { transactionLine, transactionListResponse } from '../../schemas/responses/transaction.ts'
import type { Parameter } from '../../endpoint/operation.ts'
import { PAGING } from '../../endpoint/parameters.ts'
import * as v from 'valibot'

const DECIMAL = checkedField('must be a non-negative decimal string', isDecimalString, { pattern: DECIMAL_PATTERN })
const TYPE = v.picklist(TRANSACTION_TYPES, `must be one of ${TRANSACTION_TYPES.join(', ')}`)
const STATUS = v.picklist(TRANSACTION_STATUSES, `must be one of ${TRANSACTION_STATUSES.join(', ')}`)
const ORDER = v.picklist(['desc', 'asc'], 'must be desc or asc')

function filter(name: string, schema: Parameter['schema'], description: string): Parameter {
  return { name, in: 'query', description, schema }
}

export const listTransactions: Endpoint = {
  id: 'listTransactions',
  method: 'GET',
  path: '/v1/transactions',
  summary: 'List transactions, or follow them',
  description: `Newest first, with every filter applied together.

With \`order=asc\` it is a **feed**: each transaction once, where it was accepted, and always a \`next_page_token\`, on an empty page too: keep it, and ask again later with the same filters. Nothing is skipped or repeated.

A page may hold fewer rows than requested, even none, while \`next_page_token\` is not empty. \`total_count\` is exact without filters, by account, by status and by both; otherwise up to 10,000 (1,000 with an amount filter), and a lower bound beyond (\`total_count_relation\` is \`gte\`).

\`account_id\` with \`idempotency_key\` finds what a key did.

With \`Accept: application/x-ndjson\` the response has **all matches as lines**: one transaction a line; a line \`next_page_token\` after at most \`page_size\` transactions; and last a line \`end\`, or a line \`problem\` if the list cannot continue. A response without one of these two was cut off: drop the lines after its last \`next_page_token\`, and continue with that token as \`page_token\`. The service reads each page when the client is ready for it, and closes the connection after 60 seconds without progress. A feed ends with the transactions that were accepted before the request; its \`end\` has the token for the next request. The lines have no \`total_count\`. A client may read two such lists at a time, an edge sends four; beyond that the response is 503.`,
  roles: EVERYONE,
  parameters: [
    filter('account_id', accountIdField, 'Of this account.'),
    filter('date_from', TIME, 'Created at this time or later: RFC 3339 with an offset.'),
    filter('date_to', TIME, 'Created before this time: RFC 3339 with an offset.'),
    filter('type', TYPE, 'Of this type.'),
    filter('token_id', tokenIdField, 'Of this token; `BASE` for the ledger’s own unit.'),
    filter('token_class', v.string(), '`fungible` or `nft`; anything else finds nothing.'),
    filter('group_id', groupIdField, 'Under this group ID.'),
    filter('amount_min', DECIMAL, 'Of this amount or more.'),
    filter('amount_max', DECIMAL, 'Of this amount or less.'),
    filter('status', STATUS, 'In this status.'),
    filter('idempotency_key', idempotencyKeyField, 'Of this key; needs `account_id`.'),
    filter('order', v.optional(ORDER, 'desc'), 'Newest first, or as a feed.'),
    ...PAGING,
  ],
  answers: [
    {
      status: 200,
      description: 'One page; or all there is, as lines.',
      content: transactionListResponse,
      lines: transactionLine,
      headers: ['X-Total-Count-Relation'],
    },
  ],
  refusals: {
    ERR_INVALID_ACCOUNT_ID: 'The account ID is ill-formed, or missing beside `idempotency_key`.',
    ERR_INVALID_TIMESTAMP: '',
    ERR_INVALID_TYPE: '',
    ERR_INVALID_TOKEN_ID: '',
    ERR_INVALID_GROUP_ID: '',
    ERR_INVALID_AMOUNT: 'A bound is no non-negative decimal string.',
    ERR_INVALID_IDEMPOTENCY_KEY: '',
    ERR_OVERLOADED: 'Too many lists are being sent as lines, to this client or by this edge.',
  },
  handle(context, call) {
    const { reads } = context
    const { http, query, scope } = call
    const filters = readFilters(query)
    return listReply(context, call, Object.values(filters), async (request) => {
      const { limit } = request
      const after = request.after === null ? null : readCursor(request.after)
      if (prefers(http.req.header('accept'), LINES_TYPE, JSON_TYPE)) {
        return transactionLines(context, call, {
          isFeed: filters.order === 'asc',
          after,
          read: (seen, from) => pageOf(reads, seen, filters, { limit, after: from, counted: false }),
          // Nothing is counted for lines; a count that came with the token is not lost.
          tokenOf: (next) => request.tokenOf(next === null ? null : cursorText(next)),
        })
      }
      const { rows, next, count } = await pageOf(reads, scope, filters, { limit, after, counted: after === null })
      const members = { transactions: rows.map(transactionMembers) }
      return { members, next: next === null ? null : cursorText(next), count, headers: VARIES }
    })
  },
}

type Filters = Omit<TransactionQuery, 'limit' | 'after' | 'counted'>

const JSON_TYPE = 'application/json'

/** An ID that no account can have. */
const NO_ACCOUNT = '.'

type Page = ScannedPage<TransactionView, TransactionCursor>

async function pageOf(
  reads: Pick<LedgerReads, 'transactions'>,
  scope: AccountScope,
  filters: Filters,
  asked: ScanRequest<TransactionCursor>,
): Promise<Page> {
  const [only = null] = scope.ids?.length === 1 ? scope.ids : []
  const accountId = filters.accountId ?? only
  if (scope.whole || accountId !== null) {
    const seen = accountId === null || scope.includes(accountId) ? accountId : NO_ACCOUNT
    const { transactions, next, count } = await reads.transactions({ ...filters, ...asked, accountId: seen })
    return { rows: transactions, next, count }
  }
  return scanPage(
    {
      read: async (after: TransactionCursor | null, limit) => {
        const page = await reads.transactions({ ...filters, limit, after, counted: false })
        return { rows: page.transactions, next: page.next, ended: page.ended }
      },
      shown: (rows) => rows.filter((row) => scope.includes(row.accountId)),
    },
    asked,
  )
}

/** The members have a fixed order: their values make the scope of the page tokens. */
function readFilters(query: Query): Filters {
  const filters: Filters = {
    accountId: query.checked('account_id', accountIdField, 'ERR_INVALID_ACCOUNT_ID'),
    createdFromMs: timeIn(query, 'date_from'),
    createdToMs: timeIn(query, 'date_to'),
    type: query.checked('type', TYPE, 'ERR_INVALID_TYPE'),
    tokenId: query.checked('token_id', tokenIdField, 'ERR_INVALID_TOKEN_ID'),
    tokenClass: query.value('token_class'),
    groupId: query.checked('group_id', groupIdField, 'ERR_INVALID_GROUP_ID')?.toLowerCase() ?? null,
    amountMin: query.checked('amount_min', DECIMAL, 'ERR_INVALID_AMOUNT'),
    amountMax: query.checked('amount_max', DECIMAL, 'ERR_INVALID_AMOUNT'),
    status: query.checked('status', STATUS, 'ERR_INVALID_QUERY'),
    idempotencyKey: query.checked('idempotency_key', idempotencyKeyField, 'ERR_INVALID_IDEMPOTENCY_KEY'),
    order: query.checked('order', ORDER, 'ERR_INVALID_QUERY') ?? 'desc',
  }
  // A key means something within its account only (D7).
  if (filters.idempotencyKey !== null && filters.accountId === null) {
    query.reject('account_id', 'ERR_INVALID_ACCOUNT_ID', 'is required with idempotency_key')
  }
  return filters
}
