/**
 * Selects the events that a client gets (D17, D23).
 *   F1. A scoped client gets events about its accounts, and about attestations that it submitted itself.
 *   F2. A filter by account also selects the account's events after its erasure: who knows the ID may know them.
 */
import { EVENT_NAMES, type LedgerEvent, type LedgerEvents } from '../../runtime/ports/ledger-events.ts'
import { eventType } from '../views/event-views.ts'
import type { Viewer } from './scoped-reads.ts'

/** null: no filter. */
export interface EventFilter {
  /** Types, or the beginnings of types before `*`. */
  readonly types: readonly string[] | null
  readonly accountId: string | null
  readonly tokenId: string | null
}

/** The events that a client gets. */
export interface EventSelection {
  readonly selects: (event: LedgerEvent) => boolean
  /** Every selected event concerns one of these accounts; null: any account. */
  readonly accountIds: readonly string[] | null
}

const TYPES = EVENT_NAMES.map(eventType)
const MAX_TYPES = 20

/** undefined: some text selects no type. */
export function readTypes(text: string): readonly string[] | undefined {
  const types = text.split(',')
  return types.length <= MAX_TYPES && types.every((one) => TYPES.some((type) => matches(type, one))) ? types : undefined
}

function matches(type: string, pattern: string): boolean {
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern
}

export function selectsEvent(
  { types, accountId, tokenId }: EventFilter,
  { scope, clientId }: Viewer,
  { erasedNameOf }: Pick<LedgerEvents, 'erasedNameOf'>,
): EventSelection {
  const erased = accountId === null ? '' : erasedNameOf(accountId)
  const isOf = ({ accountIds }: LedgerEvent): boolean =>
    accountId === null || accountIds.includes(accountId) || accountIds.includes(erased)
  const isSeen = ({ accountIds, content }: LedgerEvent): boolean =>
    scope.whole ||
    accountIds.some((id) => scope.includes(id)) ||
    (accountId !== null && scope.includes(accountId) && accountIds.includes(erased)) ||
    (content.kind === 'attestation' && content.attestation.submittedBy === clientId)
  const selects = (event: LedgerEvent): boolean =>
    (types === null || types.some((one) => matches(eventType(event.name), one))) &&
    isOf(event) &&
    (tokenId === null || event.tokenIds.includes(tokenId)) &&
    isSeen(event)
  return { selects, accountIds: accountId === null ? null : [accountId, erased] }
}
