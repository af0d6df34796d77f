/** The lines of a list of transactions in `application/x-ndjson` (D16). */
import * as v from 'valibot'
import { problemResponse } from './problem.ts'
import { listedTransactionResponse } from './transaction.ts'
import { count, pageToken } from './values.ts'
import { define, named } from '../named-schema.ts'

export const linePlace = define(
  'TransactionLinePlace',
  'Where a list that is cut off behind this line is gone on with.',
  { next_page_token: [pageToken, 'The `page_token` for what follows.'] },
)
export const lineEnd = define('TransactionLineEnd', 'The last line of a list that was sent to its end.', {
  end: [v.literal(true), 'Always true.'],
  count: [count, 'How many transactions this answer had.'],
  next_page_token: [pageToken, 'Where a feed goes on; empty if it was newest first.'],
})
export const lineProblem = define(
  'TransactionLineProblem',
  'The last line of a list that could not be sent to its end.',
  { problem: [problemResponse, 'Why.'] },
)
/** The end comes first: it has all members of a place. */
export const transactionLine = named(
  'TransactionLine',
  'A line of a list that is sent as lines.',
  v.union([listedTransactionResponse, lineEnd, linePlace, lineProblem]),
)
