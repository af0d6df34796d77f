/**
 * The two path values that must be well formed (D1), `:accountId` and `:groupId`. Any other that names nothing is a 404.
 * For a client that is scoped to accounts there is no account outside (D17).
 */
import { isAccountId, isUuid } from '../../actors/identifiers.ts'
import type { NftName } from '../../actors/nft-id.ts'
import { invalidProblem, type Problem } from '../http/problem.ts'
import { ACCOUNT_ID_RULE, GROUP_ID_RULE } from '../schemas/fields.ts'
import { noSuchAccount } from './refusals.ts'
import {
  type EdgeContext,
  type Endpoint,
  type EndpointOutcome,
  type GuardedCall,
  pathValue,
  type PublicCall,
} from './route.ts'

/** Undefined when they are well formed. */
export function checkPath({ http }: PublicCall): Problem | undefined {
  const { accountId, groupId } = http.req.param() as { readonly accountId?: string; readonly groupId?: string }
  if (accountId !== undefined && !isAccountId(accountId)) {
    return invalidProblem('invalid-request', [
      { field: 'account_id', code: 'ERR_INVALID_ACCOUNT_ID', message: ACCOUNT_ID_RULE },
    ])
  }
  if (groupId === undefined || isUuid(groupId)) return undefined
  return invalidProblem('invalid-request', [
    { field: 'group_id', code: 'ERR_INVALID_GROUP_ID', message: GROUP_ID_RULE },
  ])
}

/** A problem if the path names an account that the client cannot see. */
export function findAccount({ http, scope }: GuardedCall): Problem | undefined {
  const accountId = http.req.param('accountId')
  return accountId === undefined || scope.includes(accountId) ? undefined : noSuchAccount()
}

/** The group of the path. */
export function groupIdOf(call: PublicCall): string {
  return pathValue(call, 'groupId').toLowerCase()
}

/** The NFT of the path. */
export function nftNameOf(call: PublicCall): NftName {
  return { classId: pathValue(call, 'classId'), instanceId: pathValue(call, 'instanceId') }
}

/** A read of the account of the path: the account ID is checked before the query. */
export function accountRead(
  read: (accountId: string, context: EdgeContext, call: GuardedCall) => EndpointOutcome | Promise<EndpointOutcome>,
): Endpoint['handle'] {
  return (context, call) => checkPath(call) ?? findAccount(call) ?? read(pathValue(call, 'accountId'), context, call)
}
