/**
 * Compares undecided groups with the accounts of their legs, in one snapshot. An account has a hold for a leg from the time
 * it expects the leg until it settles or reverts it, which follows the group's decision. If an older state of a group was
 * restored, holds are missing.
 */
import type { Finding } from '../../runtime/audit/finding.ts'
import { legHoldId } from '../../actors/account/state.ts'
import type { GroupState, PartState } from '../../actors/group/state.ts'
import { type ActorRow, keyNameOfActorRow, openActor } from '../postgres/rows/actor-documents.ts'
import { arrayLiteral, column } from '../postgres/connection/array-literal.ts'
import type { RowVault } from '../vault/row-vault.ts'
import type { Moment } from './audit-reads.ts'
import { opened } from './opened.ts'

export const UNDECIDED: readonly string[] = ['registering', 'open'] satisfies readonly GroupState['status'][]

const GROUPS_NAMED = `
SELECT shard_id, kind, actor_id, version, class_id, document FROM actors
 WHERE kind = 'group' AND actor_id = ANY($1::text[]) AND status = ANY($2::text[])`

/** Indexes in the lists $1, $2 of missing holds. All shards are searched, because a reference does not contain its shard. */
const MISSING = `
SELECT n.place::integer FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n (account_id, hold_id, place)
 WHERE (SELECT true FROM ledger CROSS JOIN generate_series(0, shard_count - 1) AS s (id)
          JOIN holds h ON h.shard_id = s.id AND h.account_id = n.account_id AND h.hold_id = n.hold_id LIMIT 1) IS NULL`

const HELD: ReadonlySet<PartState> = new Set(['expected', 'ordered', 'completed', 'failed'])

interface Held {
  readonly groupId: string
  readonly ref: string
  readonly holdId: string
}

/** `ids`: of groups; decided and unreadable ones are skipped. */
export async function openGroupFindings(moment: Moment, ids: readonly string[]): Promise<readonly Finding[]> {
  const rows = await moment.query<ActorRow>(GROUPS_NAMED, [arrayLiteral('text', ids), arrayLiteral('text', UNDECIDED)])
  await moment.fetchKeys(rows.map(keyNameOfActorRow))
  const held = rows.flatMap((row) => {
    const group = opened(() => openActor(row, keyNameOfActorRow(row), moment.vault))
    return group.isOpen && group.value.kind === 'group' ? heldFor(group.value, moment.vault) : []
  })
  if (held.length === 0) return []
  const missing = await moment.query<{ place: number }>(MISSING, [
    column('text', held, ({ ref }) => ref),
    column('text', held, ({ holdId }) => holdId),
  ])
  const groups = new Set(missing.map(({ place }) => held[place - 1]?.groupId ?? ''))
  return [...groups].map((groupId): Finding => {
    const problem = 'it is undecided, and accounts have ended its legs'
    return { subject: 'value_is_conserved', place: `group ${groupId}`, problem }
  })
}

/** Expected holds of accounts. NFTs and tokens are checked elsewhere. */
function heldFor({ id: groupId, legs }: GroupState, vault: RowVault): readonly Held[] {
  return legs.flatMap(({ terms, parts }, leg) =>
    parts.flatMap(({ role, state }): Held[] => {
      if ((role !== 'own' && role !== 'receiver') || !HELD.has(state)) return []
      const accountId = role === 'own' ? terms.accountId : (terms.toAccountId ?? '')
      return [{ groupId, ref: vault.accountRef(accountId), holdId: legHoldId({ groupId, leg, role }) }]
    }),
  )
}
