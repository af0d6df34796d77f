/** GET /v1/accounts: all accounts, in an order of the ledger's own (D2, D16). */
import type { AccountScope } from '../../../actors/account-scope.ts'
import type { AccountView } from '../../../actors/account/outcome.ts'
import type { LedgerReads } from '../../../runtime/ports/ledger-reads.ts'
import { ADMINS, type Endpoint } from '../../endpoint/route.ts'
import { inTurns } from '../../http/in-turns.ts'
import { listReply } from '../../endpoint/paging.ts'
import { type ScannedPage, scanPage, type ScanRequest } from '../../endpoint/scan.ts'
import { accountMembers } from '../../views/views.ts'
import { accountListResponse } from '../../schemas/responses/account.ts'
import { PAGING } from '../../endpoint/parameters.ts'

export const listAccounts: Endpoint = {
  id: 'listAccounts',
  method: 'GET',
  path: '/v1/accounts',
  summary: 'List all accounts',
  description: 'In an order of the ledger’s own, which stays as it is.',
  roles: ADMINS,
  parameters: PAGING,
  answers: [
    { status: 200, description: 'One page.', content: accountListResponse, headers: ['X-Total-Count-Relation'] },
  ],
  handle: (context, call) =>
    listReply(context, call, call.scope.whole ? [] : [orderOf(call.scope)], async ({ after, limit }) => {
      const { rows, next, count } = await pageOf(context.reads, call.scope, { after, limit, counted: after === null })
      return { members: { accounts: rows.map((account) => accountMembers(account, context.jwkOf)) }, next, count }
    }),
}

type Reads = Pick<LedgerReads, 'account' | 'accounts'>
type Page = ScannedPage<AccountView, string>

/** Places of one order mean nothing in the other. */
function orderOf({ ids }: AccountScope): 'by ID' | 'of the ledger' {
  return ids === null ? 'of the ledger' : 'by ID'
}

async function pageOf(reads: Reads, scope: AccountScope, asked: ScanRequest<string>): Promise<Page> {
  if (scope.whole) {
    const { accounts, next, count } = await reads.accounts(asked.after, asked.limit)
    return { rows: accounts, next, count }
  }
  if (scope.ids !== null) return pageOfNamed(reads, scope.ids, asked)
  return scanPage(
    {
      read: async (after: string | null, limit) => {
        const { accounts, next } = await reads.accounts(after, limit)
        return { rows: accounts, next }
      },
      shown: (rows) => rows.filter(({ accountId }) => scope.includes(accountId)),
    },
    asked,
  )
}

/** Those that are named one by one are few. */
async function pageOfNamed(reads: Reads, ids: readonly string[], { after, limit }: ScanRequest<string>): Promise<Page> {
  const rest = ids.filter((id) => after === null || id > after)
  const found = (await inTurns(rest, reads.account)).filter((account) => account !== undefined)
  const rows = found.slice(0, limit)
  const next = found.length > limit ? (rows.at(-1)?.accountId ?? null) : null
  return { rows, next, count: { total: found.length, exact: true } }
}
