/**
 * What all reads of one account share: everybody may read it whose scope includes it, and its ID is judged before anything
 * else of the request.
 */
import { checkAccountId } from './path-values.ts'
import { noSuchAccount } from './refusals.ts'
import { type EndpointOutcome, EVERYONE, type GuardedCall, type GuardedRoute, pathValue } from './route.ts'

/** `path` names the account as `:accountId`; `query`: its parameters. */
export function accountRead(
  path: string,
  query: readonly string[],
  read: (accountId: string, call: GuardedCall) => EndpointOutcome | Promise<EndpointOutcome>,
): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path,
    query,
    roles: EVERYONE,
    asksLedger: false,
    handle(call) {
      const accountId = pathValue(call, 'accountId')
      const refused = checkAccountId(accountId) ?? (call.scope.includes(accountId) ? undefined : noSuchAccount())
      return refused ?? read(accountId, call)
    },
  }
}
