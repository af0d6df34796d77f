/** The two path values that must be well formed (D1); any other that names nothing is a 404. */
import { isAccountId, isUuid } from '../../actors/identifiers.ts'
import { invalidProblem, type Problem } from '../http/problem.ts'
import { ACCOUNT_ID_RULE, GROUP_ID_RULE } from '../schemas/fields.ts'

/** Undefined when it is well formed. */
export function checkAccountId(accountId: string): Problem | undefined {
  if (isAccountId(accountId)) return undefined
  return invalidProblem('invalid-request', [
    { field: 'account_id', code: 'ERR_INVALID_ACCOUNT_ID', message: ACCOUNT_ID_RULE },
  ])
}

/** Undefined when it is well formed. */
export function checkGroupId(groupId: string): Problem | undefined {
  if (isUuid(groupId)) return undefined
  return invalidProblem('invalid-request', [
    { field: 'group_id', code: 'ERR_INVALID_GROUP_ID', message: GROUP_ID_RULE },
  ])
}
