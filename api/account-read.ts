/** What all reads of one account share: everybody may read it, and its ID is judged before anything else of the request. */
import { checkAccountId } from './path-values.ts'
import { type EndpointOutcome, EVERYONE, type GuardedCall, type GuardedRoute, pathValue } from './route.ts'

/** `path` names the account as `:accountId`. */
export function accountRead(
  path: string,
  read: (accountId: string, call: GuardedCall) => EndpointOutcome | Promise<EndpointOutcome>,
): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path,
    roles: EVERYONE,
    asksLedger: false,
    handle(call) {
      const accountId = pathValue(call, 'accountId')
      return checkAccountId(accountId) ?? read(accountId, call)
    },
  }
}
