/**
 * Checks of a new entry by itself: without its chain, but for the entry before it.
 *   X1. It follows that entry, and its account knows of it: as its last one, or there are others after it.
 *   X2. If it is the last one, the account has no more of its asset than it says. Less it may have: when a group settles,
 *       its legs burn, and that is no entry.
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
  /** Of the entry before it; null when there is none. */
  readonly before: Hash | null
  /** Of its account; null when there is none. */
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
  if (holding !== null && members !== undefined && isMoreThanSaid(holding, members)) {
    const of = `account ${accountId}, ${holding.tokenId}`
    findings.push({ subject: 'no_negative_balance', place: of, problem: 'it is more than its chain says' })
  }
  return findings
}

/** Of an entry of an account that was erased: only where it stands (X1). */
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

/** undefined: one of them is no quantity. */
function sumOf(balance: string, incoming: string): Quantity | undefined {
  const [one, other] = [readQuantity(balance), readQuantity(incoming)]
  return one === undefined || other === undefined ? undefined : one + other
}

/** X2. */
function isMoreThanSaid(
  holding: { readonly balance: string; readonly incoming: string },
  members: JsonObject,
): boolean {
  const { balance, incoming = '0' } = members
  if (typeof balance !== 'string' || typeof incoming !== 'string') return true
  const has = sumOf(holding.balance, holding.incoming)
  const said = sumOf(balance, incoming)
  return has === undefined || said === undefined || has > said
}
