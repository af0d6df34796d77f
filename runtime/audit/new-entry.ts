/**
 * Checks a new entry against the entry before it and its account, without the rest of the chain.
 *   X1. It follows that entry, and its account's sequence has reached it.
 *   X2. If it is the last entry, the account holds what the entry states of each asset. Settlements after an entry of
 *       format 1 have no entries: the sum of balance and incoming value is compared.
 */
import { type AuditEntry, GENESIS, type Hash } from '../../actors/audit-chain.ts'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { type Quantity, readQuantity } from '../../actors/money.ts'
import { entryProblem, type RefOf } from './chain-walk.ts'
import type { Finding } from './finding.ts'
import { storedObject } from './stored-json.ts'

/** Rows around the entry, from one snapshot. */
export interface EntryPlace {
  /** The account's reference. */
  readonly accountId: string
  /** Hash of the entry before; null: there is none. */
  readonly before: Hash | null
  /** Head of its account; null: there is no account. */
  readonly head: { readonly sequence: number; readonly tip: Hash } | null
  /** The account's balances of the entry's assets; empty unless the entry is its last. */
  readonly holdings: readonly Holding[]
}

/** Decimal strings. `side`: the asset that the entry's transaction gave or moved, or that its exchange received. */
export interface Holding {
  readonly side: 'given' | 'received'
  readonly tokenId: string
  readonly balance: string
  readonly incoming: string
}

export function newEntryFindings(entry: AuditEntry, place: EntryPlace, refOf?: RefOf): readonly Finding[] {
  const { accountId, holdings } = place
  const members = storedObject(entry.payload)
  const findings: Finding[] = []
  const problem = entryProblem(entry, accountId, members, refOf) ?? placeProblem(entry, place)
  if (problem !== undefined) {
    findings.push({ subject: 'chains_verify', place: `account ${accountId}, entry ${entry.sequence}`, problem })
  }
  for (const holding of holdings) {
    if (members === undefined || isAsStated(holding, members)) continue
    const of = `account ${accountId}, ${holding.tokenId}`
    findings.push({ subject: 'no_negative_balance', place: of, problem: 'it is not what its chain says' })
  }
  return findings
}

/** Checks only the position of an erased account's entry (X1). */
export function newErasedEntryFindings(
  entry: Omit<AuditEntry, 'payload'>,
  place: Omit<EntryPlace, 'holdings'>,
): readonly Finding[] {
  const problem = placeProblem(entry, place)
  if (problem === undefined) return []
  return [{ subject: 'chains_verify', place: `account ${place.accountId}, entry ${entry.sequence}`, problem }]
}

/** X1. */
function placeProblem(
  { sequence, previousHash, auditHash }: Omit<AuditEntry, 'payload'>,
  { before, head }: Omit<EntryPlace, 'holdings'>,
) {
  if (sequence > 0 && before === null) return 'the entry before it is missing'
  if (previousHash !== (sequence === 0 ? GENESIS : before)) {
    return 'its previous_hash is not the hash of the entry before'
  }
  if (head === null) return 'its account is not there'
  if (sequence > head.sequence) return 'its account does not know of it'
  if (sequence === head.sequence && auditHash !== head.tip) return 'it is the last one, and not the tip of its account'
  return undefined
}

/** X2. */
function isAsStated(holding: Holding, members: JsonObject): boolean {
  const [balance, incoming] = [readQuantity(holding.balance), readQuantity(holding.incoming)]
  const stated = statedOf(holding.side, members)
  if (balance === undefined || incoming === undefined || stated === undefined) return false
  if (members['format'] === 1) return balance + incoming === stated.balance + stated.incoming
  return balance === stated.balance && incoming === stated.incoming
}

/** The balance that the entry states; undefined: no quantity. */
function statedOf(
  of: Holding['side'],
  members: JsonObject,
): { readonly balance: Quantity; readonly incoming: Quantity } | undefined {
  const isGiven = of === 'given'
  const side = isGiven ? members : members['receive']
  if (typeof side !== 'object' || side === null || Array.isArray(side)) return undefined
  const { balance_after: after = members[isGiven ? 'balance' : 'received_balance'] } = side as JsonObject
  const coming = members[isGiven ? 'incoming' : 'received_incoming'] ?? '0'
  if (typeof after !== 'string' || typeof coming !== 'string') return undefined
  const [balance, incoming] = [readQuantity(after), readQuantity(coming)]
  return balance === undefined || incoming === undefined ? undefined : { balance, incoming }
}
