/**
 * Checks a new entry against the entry before it and its account, without the rest of the chain.
 *   X1. It follows that entry, and its account's sequence has reached it.
 *   X2. If it is the last entry, the account holds the asset quantity that the entry states.
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
  /** The account's balance of the entry's asset, decimal strings; null unless the entry is its last. */
  readonly holding: { readonly tokenId: string; readonly balance: string; readonly incoming: string } | null
}

export function newEntryFindings(entry: AuditEntry, place: EntryPlace, refOf?: RefOf): readonly Finding[] {
  const { accountId, holding } = place
  const members = storedObject(entry.payload)
  const findings: Finding[] = []
  const problem = entryProblem(entry, accountId, members, refOf) ?? placeProblem(entry, place)
  if (problem !== undefined) {
    findings.push({ subject: 'chains_verify', place: `account ${accountId}, entry ${entry.sequence}`, problem })
  }
  if (holding !== null && members !== undefined && isOtherThanSaid(holding, members)) {
    const of = `account ${accountId}, ${holding.tokenId}`
    findings.push({ subject: 'no_negative_balance', place: of, problem: 'it is not what its chain says' })
  }
  return findings
}

/** Checks only the position of an erased account's entry (X1). */
export function newErasedEntryFindings(
  entry: Omit<AuditEntry, 'payload'>,
  place: Omit<EntryPlace, 'holding'>,
): readonly Finding[] {
  const problem = placeProblem(entry, place)
  if (problem === undefined) return []
  return [{ subject: 'chains_verify', place: `account ${place.accountId}, entry ${entry.sequence}`, problem }]
}

/** X1. */
function placeProblem(
  { sequence, previousHash, auditHash }: Omit<AuditEntry, 'payload'>,
  { before, head }: Omit<EntryPlace, 'holding'>,
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

/** undefined: a text is not a quantity. */
function sumOf(balance: string, incoming: string): Quantity | undefined {
  const [one, other] = [readQuantity(balance), readQuantity(incoming)]
  return one === undefined || other === undefined ? undefined : one + other
}

/** X2. */
function isOtherThanSaid(
  holding: { readonly balance: string; readonly incoming: string },
  members: JsonObject,
): boolean {
  const { incoming = '0' } = members
  const balance = members['balance_after'] ?? members['balance']
  if (typeof balance !== 'string' || typeof incoming !== 'string') return true
  const has = sumOf(holding.balance, holding.incoming)
  const said = sumOf(balance, incoming)
  return has === undefined || said === undefined || has !== said
}
