/**
 * GET /v1/accounts/{id}/log-key: the key with which an account's entries are found in the log. A client that loses access
 * to the account keeps it, and with it sees how often the account moves from then on: only its own clients and
 * administrators have it. Proofs show no more than their reader could read: the places of the entries that there are.
 */
import { accountRead } from '../../endpoint/path-values.ts'
import { noSuchAccount } from '../../endpoint/refusals.ts'
import { type Endpoint, EVERYONE } from '../../endpoint/route.ts'
import { notFound, problem } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { accountLogKeyResponse } from '../../schemas/responses/account.ts'

export const getAccountLogKey: Endpoint = {
  id: 'getAccountLogKey',
  method: 'GET',
  path: '/v1/accounts/:accountId/log-key',
  summary: 'Get the log key of an account',
  description:
    'Finds the entries of the account in the log, where no other key shows whose an entry is: `ledger monitor` follows an account with it. The key does not change. Its owner can see for ever how often the account moves: keep it like a password.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The key.', content: accountLogKeyResponse }],
  refusals: {
    ERR_FORBIDDEN: 'The client is neither an administrator, nor limited to accounts.',
    ERR_NOT_FOUND: 'There is no such account, or it was erased.',
  },
  handle: accountRead(async (accountId, { ledgerLog, reads }, { caller, scope }) => {
    const account = await reads.account(accountId)
    if (account === undefined) return noSuchAccount()
    if (account.status === 'erased')
      return notFound('The account was erased, and nothing of it can be found in the log.')
    if (scope.whole && caller.role !== 'admin') {
      const detail =
        'Only an administrator, or a client that is limited to accounts, may have the log key of one: it finds also the entries that the account will have. The proof of an entry needs no key.'
      return problem('forbidden', 'ERR_FORBIDDEN', detail)
    }
    const key = Buffer.from(ledgerLog.accountKey(accountId)).toString('base64')
    return jsonReply(200, { account_id: accountId, log_key: key })
  }),
}
