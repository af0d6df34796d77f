/** Chain entries of legs whose value arrives or is burned as their group settles. */
import type { LegHold } from '../../../actors/account/state.ts'
import type { AuditEntryWrite } from '../../../runtime/ports/ledger-store.ts'
import { isNftAsset, unitsOf } from '../reference/fields.ts'
import type { EntryFields, Part } from './accounts-part.ts'
import type { Demand } from './messages.ts'

/** `value`: the account's balance and incoming value of the asset, as the entries before it sum up. */
export function checkSettlement(
  demand: Demand,
  { at, burnsInGroups, heard }: Part,
  fields: EntryFields,
  value: bigint,
): void {
  const isOrdered = heard.some((message) => message.type === 'settle_leg' && message.groupId === fields['group_id'])
  demand(isOrdered, `I8: ${at}: entry ${fields['sequence']} settles a group that did not order it`)
  const shown = unitsOf(String(fields['balance_after'])) + unitsOf(String(fields['incoming'] ?? '0'))
  demand(burnsInGroups || shown === value, `I4: ${at}: settlement ${fields['sequence']} shows another balance`)
}

/** Every settled leg that changes the balance has its entry. `legs`: of the account before the commit. */
export function demandSettlements(
  demand: Demand,
  { at, heard }: Part,
  legs: readonly LegHold[],
  entries: readonly AuditEntryWrite[],
): void {
  const isSettled = ({ groupId, leg, role }: LegHold): boolean =>
    heard.some((to) => to.type === 'settle_leg' && to.groupId === groupId && to.leg === leg && to.role === role)
  const changesBalance = ({ role, terms: { tokenId, type } }: LegHold): boolean =>
    !isNftAsset(tokenId) && (role === 'receiver' || type === 'credit' || type === 'mint' || type === 'burn')
  const due = legs.filter((leg) => leg.state === 'completed' && changesBalance(leg) && isSettled(leg)).length
  const entered = entries.filter(({ payload }) => (JSON.parse(payload) as EntryFields)['kind'] === 'settlement').length
  demand(entered >= due, `I6: ${at}: ${due} settled legs changed balances, and the chain has ${entered} of them`)
}
