/**
 * The common part of reads of one account: any role may read an account in the client's scope. The account ID is checked
 * first.
 */
import { checkAccountId } from './path-values.ts'
import { noSuchAccount } from './refusals.ts'
import type { Operation } from './operation.ts'
import { type EndpointOutcome, guarded, type GuardedCall, type GuardedRoute, pathValue } from './route.ts'

/** The path of the operation names the account as `:accountId`. */
export function accountRead(
  operation: Operation,
  read: (accountId: string, call: GuardedCall) => EndpointOutcome | Promise<EndpointOutcome>,
): GuardedRoute {
  return {
    ...guarded(operation),
    handle(call) {
      const accountId = pathValue(call, 'accountId')
      const refused = checkAccountId(accountId) ?? (call.scope.includes(accountId) ? undefined : noSuchAccount())
      return refused ?? read(accountId, call)
    },
  }
}
