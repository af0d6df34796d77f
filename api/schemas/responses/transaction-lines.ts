/** The lines of a list of transactions in `application/x-ndjson` (D16). */
import * as v from 'valibot'
import { problemResponse } from './problem.ts'
import { listedTransactionResponse } from './transaction.ts'
import { count, pageToken } from './values.ts'

export const linePlace = v.object({ next_page_token: pageToken })
export const lineEnd = v.object({ end: v.literal(true), count, next_page_token: pageToken })
export const lineProblem = v.object({ problem: problemResponse })
/** The end comes first: it has all members of a place. */
export const transactionLine = v.union([listedTransactionResponse, lineEnd, linePlace, lineProblem])
