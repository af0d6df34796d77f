/**
 * Checks that classes, groups, exchanges and holds can be decrypted and match their columns, and that accounts have the
 * holds of undecided groups. A hold's captures must not exceed its amount. Other walks check the effects of their decisions. An actor that cannot be decrypted is stuck.
 */
import type { ActorState } from '../../actors/actor-state.ts'
import { remainingOf } from '../../actors/hold/state.ts'
import type { Finding, Subject } from '../../runtime/audit/finding.ts'
import { type ActorRow, keyNameOfActorRow, openActor } from '../postgres/rows/actor-documents.ts'
import { PLACES } from '../postgres/rows/row-sealer.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import { openGroupFindings, UNDECIDED } from './open-groups.ts'
import { opened } from './opened.ts'
import { type Look, SAW_NOTHING, type Step, type Walk } from './walk.ts'

const KINDS = ['class', 'exchange', 'group', 'hold'] as const
type Kind = (typeof KINDS)[number]

/** The next page begins after this actor. */
export interface ActorsCursor {
  readonly kind: Kind
  readonly id: string
}

const PAGE_SIZE = 200

const ACTORS_PAGE = `
SELECT shard_id, kind, actor_id, version, class_id, status, due_at, document FROM actors
 WHERE kind = $1::text AND actor_id > $2::text ORDER BY actor_id LIMIT ${PAGE_SIZE}`

interface Row extends ActorRow {
  readonly status: string
  readonly due_at: Date | null
}

/** Groups, exchanges and holds decide on value; a class determines the provenance of its NFTs. */
const SUBJECT_OF: Readonly<Record<Kind, Subject>> = {
  class: 'provenance',
  exchange: 'value_is_conserved',
  group: 'value_is_conserved',
  hold: 'value_is_conserved',
}

export const actorsWalk: Walk<ActorsCursor> = {
  name: 'actors',
  subjects: ['provenance', 'value_is_conserved'],
  start: { kind: KINDS[0], id: '' },
  step,
}

async function step(look: Look, { kind, id }: ActorsCursor): Promise<Step<ActorsCursor>> {
  const rows = await look.query<Row>(ACTORS_PAGE, [kind, id])
  await look.fetchKeys(rows.map(keyNameOfActorRow))
  const unread = rows.flatMap((row): Finding[] => {
    const state = opened(() => openWhole(row, look.vault))
    if (state.isOpen) return []
    const place = `${kind} ${row.class_id ?? row.actor_id}`
    return [{ subject: SUBJECT_OF[kind], place, problem: state.problem }]
  })
  const undecided = rows.filter((row) => row.kind === 'group' && UNDECIDED.includes(row.status))
  const ids = undecided.map((row) => row.actor_id)
  const unheld = ids.length === 0 ? [] : await look.moment((moment) => openGroupFindings(moment, ids))
  const findings = [...unread, ...unheld]
  const last = rows.at(-1)
  const following = KINDS[KINDS.indexOf(kind) + 1]
  if (last !== undefined && rows.length === PAGE_SIZE) {
    return { ...SAW_NOTHING, next: { kind, id: last.actor_id }, findings }
  }
  return { ...SAW_NOTHING, next: following === undefined ? null : { kind: following, id: '' }, findings }
}

function openWhole(row: Row, vault: RowVault): ActorState {
  const state = openActor(row, keyNameOfActorRow(row), vault)
  const agrees =
    state.version === Number(row.version) &&
    state.status === row.status &&
    state.dueAtMs === (row.due_at?.getTime() ?? null)
  const place = PLACES.actor(row.shard_id, row.kind, row.actor_id, Number(row.version))
  if (state.kind === 'hold' && remainingOf(state) < 0n) {
    throw new UnreadableRow(place, 'more of it is captured than its amount')
  }
  if (agrees) return state
  throw new UnreadableRow(place, 'its columns are not what was sealed')
}
