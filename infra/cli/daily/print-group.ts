import type { GroupLeg, SettlementGroup } from '../../../api/client/index.ts'
import type { Column, Output } from '../common/output.ts'
import { assetText } from './asset.ts'

export const LEGS: readonly Column<GroupLeg>[] = [
  { name: 'account_id' },
  { name: 'type' },
  { name: 'amount', right: true },
  { name: 'asset', of: assetText },
  { name: 'to_account_id' },
  { name: 'leg_status' },
  { name: 'txn_id' },
]

/** The group, and for people a table of its legs. */
export function printGroup(group: SettlementGroup, { isJson, record, line, table }: Output): void {
  const { legs, failure, expected_legs: _, compensations, partial_failures: partial, ...members } = group
  const why = failure === undefined ? {} : { failure: `${failure.code}: ${failure.detail}` }
  record(group, {
    ...members,
    ...why,
    ...(compensations.length === 0 ? {} : { compensations }),
    ...(partial.length === 0 ? {} : { partial_failures: partial }),
  })
  if (isJson) return
  line('')
  table(legs, LEGS, 'no legs')
}
