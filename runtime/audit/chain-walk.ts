/**
 * Verifies the chain of one account from its registration, and compares its end with the account.
 *   W1. Entries are in order and complete, each contains the hash of the one before (C1, C2), and each names its account
 *       and sequence.
 *   W2. The account's sequence, tip, key, status and exact balances follow from its chain.
 *   W3. An erased account keeps only the links of its chain, so only the links are verified.
 * After a broken entry the walk continues, but draws no conclusions from the content of entries.
 */
import type { AccountStatus, Hold } from '../../actors/account/state.ts'
import type { ArrivedFrom } from '../../actors/arrival.ts'
import { type AuditEntry, chainHash, GENESIS, type Hash, isEntryFormat } from '../../actors/audit-chain.ts'
import type { Json, JsonObject } from '../../actors/canonical-json.ts'
import { readQuantity } from '../../actors/money.ts'
import { Books, NO_BOOKS, type StoredBooks } from './books.ts'
import type { Finding } from './finding.ts'
import { type HeldValue, heldValue, NO_HELD_VALUE } from './held-value.ts'
import { storedObject } from './stored-json.ts'

/** Gives the reference of an account in rows and findings: a keyed hash or the ID. Entries contain IDs. */
export type RefOf = (accountId: string) => string

const ITSELF: RefOf = (accountId) => accountId

/** An account's row as it was at one moment, with its balances and holds at the same moment. */
export interface AccountHead {
  readonly sequence: number
  readonly tip: Hash
  /** Sequence of the last stored entry; null: there is none. */
  readonly lastEntry: number | null
  readonly facts: ChainFacts
  readonly balances: readonly BalanceParts[]
  /** undefined: a hold cannot be read. */
  readonly holds: readonly Hold[] | undefined
}

/** Members of an account that entries other than transactions set. */
export interface ChainFacts {
  /** `arrivalFact` of an imported account. */
  readonly arrival?: string | undefined
  readonly keyId: string | null
  readonly publicKey: string | null
  readonly status: string
  readonly incoming: string
  readonly paused?: true | undefined
}

/** Decimal strings, unless the row was tampered with. */
export interface BalanceParts {
  readonly tokenId: string
  readonly balance: string
  readonly reserved: string
  readonly incoming: string
}

/** Position of an interrupted walk: plain JSON. */
export interface StoredWalk {
  readonly sequence: number
  readonly tip: Hash
  readonly facts: ChainFacts
  readonly books: StoredBooks
  readonly broken: boolean
}

const START: StoredWalk = {
  sequence: -1,
  tip: GENESIS,
  facts: { keyId: null, publicKey: null, status: 'active', incoming: 'accept' },
  books: NO_BOOKS,
  broken: false,
}

export class ChainWalk {
  private readonly account: string
  private readonly refOf: RefOf
  private readonly books: Books
  private sequence: number
  private tip: Hash
  private facts: ChainFacts
  private broken: boolean

  /** `account`: its reference. */
  constructor(account: string, stored: StoredWalk = START, refOf: RefOf = ITSELF) {
    this.account = account
    this.refOf = refOf
    this.books = new Books(stored.books)
    this.sequence = stored.sequence
    this.tip = stored.tip
    this.facts = stored.facts
    this.broken = stored.broken
  }

  /** Sequence of the next entry. */
  next(): number {
    return this.sequence + 1
  }

  stored(): StoredWalk {
    const { sequence, tip, facts, broken } = this
    return { sequence, tip, facts, books: this.books.stored(), broken }
  }

  take(entry: AuditEntry): Finding | undefined {
    return this.step(entry, () => this.readable(entry))
  }

  /** Skips an entry whose payload cannot be read. */
  takeUnread(entry: Pick<AuditEntry, 'sequence' | 'auditHash'>, problem: string): Finding | undefined {
    return this.step(entry, () => problem)
  }

  /** W3. */
  takeErased(entry: Omit<AuditEntry, 'payload'>): Finding | undefined {
    return this.step(entry, () =>
      entry.previousHash === this.tip ? undefined : 'its previous_hash is not the hash of the entry before',
    )
  }

  private step(
    entry: Pick<AuditEntry, 'sequence' | 'auditHash'>,
    problemOf: () => string | undefined,
  ): Finding | undefined {
    const expected = this.next()
    const problem = entry.sequence === expected ? problemOf() : 'it is missing'
    this.sequence = entry.sequence
    this.tip = entry.auditHash
    if (problem === undefined) return undefined
    this.broken = true
    return this.found(expected, problem)
  }

  /** Errors are findings, too: a tampered row may contain anything. */
  private readable(entry: AuditEntry): string | undefined {
    try {
      return this.judge(entry)
    } catch {
      return 'it cannot be read'
    }
  }

  private found(sequence: number, problem: string): Finding {
    return { subject: 'chains_verify', place: `account ${this.account}, entry ${sequence}`, problem }
  }

  private judge(entry: AuditEntry): string | undefined {
    if (entry.previousHash !== this.tip) return 'its previous_hash is not the hash of the entry before'
    const members = storedObject(entry.payload)
    const wrong = entryProblem(entry, this.account, members, this.refOf)
    if (wrong !== undefined || members === undefined) return wrong
    if (entry.txnId !== null) return this.broken ? undefined : this.books.enter(members)
    return this.noteFact(entry.sequence, members)
  }

  private noteFact(sequence: number, members: JsonObject): string | undefined {
    const { kind } = members
    if ((kind === 'registration') !== (sequence === 0)) return 'its place is not that of a registration'
    if (kind === 'status_change') {
      this.facts = { ...this.facts, status: textIn(members, 'status'), incoming: textIn(members, 'incoming') }
    } else if (kind === 'arrival') {
      return this.noteArrival(members)
    } else if (kind === 'pause' || kind === 'resumption') {
      this.facts = { ...this.facts, paused: kind === 'pause' ? true : undefined }
    } else if (isOfHold(kind)) {
      return this.broken ? undefined : this.books.state(members)
    } else if (kind === 'settlement') {
      return this.broken ? undefined : this.books.settle(members)
    } else if (kind === 'erasure') {
      this.facts = { ...this.facts, status: ERASED, paused: undefined, keyId: null, publicKey: null }
    } else {
      this.facts = { ...this.facts, keyId: textOrNull(members, 'key_id'), publicKey: textOrNull(members, 'public_key') }
    }
    return undefined
  }

  /** An imported account comes with its state and balances. */
  private noteArrival(members: JsonObject): string | undefined {
    if (this.facts.arrival !== undefined || this.facts.keyId !== null)
      return 'it came from another ledger, and was here'
    this.facts = {
      arrival: arrivalFact({
        ledgerId: textIn(members, 'ledger_id'),
        importId: textIn(members, 'import_id'),
        recordHash: textIn(members, 'record_hash'),
      }),
      keyId: textOrNull(members, 'key_id'),
      publicKey: textOrNull(members, 'public_key'),
      status: textIn(members, 'status'),
      incoming: textIn(members, 'incoming'),
      paused: this.facts.paused,
    }
    return this.broken ? undefined : this.books.arrive(members['balances'])
  }

  /** Call after the last entry of `head` (W2). */
  finish(head: AccountHead): readonly Finding[] {
    const findings: Finding[] = []
    const wrong = this.endProblem(head)
    if (wrong !== undefined)
      findings.push({ subject: 'chains_verify', place: `account ${this.account}`, problem: wrong })
    for (const [tokenId, problem] of this.balanceProblems(
      head,
      wrong === undefined && !this.broken && head.facts.status !== ERASED,
    )) {
      findings.push({ subject: 'no_negative_balance', place: `account ${this.account}, ${tokenId}`, problem })
    }
    return findings
  }

  private endProblem({ sequence, tip, lastEntry, facts }: AccountHead): string | undefined {
    if (lastEntry !== sequence) return `its last entry is ${lastEntry ?? 'missing'}, the account says ${sequence}`
    if (this.sequence !== sequence) return `its chain ends with ${this.sequence}, the account says ${sequence}`
    if (this.tip !== tip) return 'its tip is not the hash of its last entry'
    if (this.broken || facts.status === ERASED) return undefined
    const other = (['arrival', 'keyId', 'publicKey', 'status', 'incoming', 'paused'] as const).find(
      (fact) => facts[fact] !== this.facts[fact],
    )
    return other === undefined ? undefined : `its ${FACT_NAMES[other]} is not what its chain says`
  }

  /** `derivable`: the chain is intact, so balances can be derived from it. */
  private *balanceProblems(head: AccountHead, derivable: boolean): Iterable<readonly [string, string]> {
    const held = head.holds === undefined ? undefined : heldValue(head.holds)
    if (held === undefined) yield ['holds', 'what is unfinished at the account cannot be read']
    const seen = new Set<string>()
    for (const parts of head.balances) {
      seen.add(parts.tokenId)
      const problem = this.balanceProblem(parts, held, derivable)
      if (problem !== undefined) yield [parts.tokenId, problem]
    }
    const named = new Set([...(derivable ? this.books.tokens() : []), ...(held?.keys() ?? [])])
    for (const tokenId of named) if (!seen.has(tokenId)) yield [tokenId, 'there is no balance of what has moved']
  }

  private balanceProblem(
    { tokenId, ...parts }: BalanceParts,
    held: ReadonlyMap<string, HeldValue> | undefined,
    derivable: boolean,
  ): string | undefined {
    const [balance, reserved, incoming] = [parts.balance, parts.reserved, parts.incoming].map(readQuantity)
    if (balance === undefined || reserved === undefined || incoming === undefined) return UNSOUND
    if (balance < 0n || reserved < 0n || incoming < 0n || balance < reserved) return UNSOUND
    if (held === undefined) return undefined
    const value = held.get(tokenId) ?? NO_HELD_VALUE
    if (reserved !== value.reserved) return 'what is reserved is not what is unfinished'
    if (incoming !== value.incoming) return 'what is incoming is not what is unfinished'
    if (!derivable || this.books.agree(tokenId, balance, value)) return undefined
    return 'it is not what its chain sums up to'
  }
}

/** Entries of a payer about its holds change what is available, not the balance. */
const OF_HOLDS: ReadonlySet<Json> = new Set(['hold_created', 'hold_released', 'hold_expired'])

function isOfHold(kind: Json | undefined): boolean {
  return kind !== undefined && OF_HOLDS.has(kind)
}

const UNSOUND = 'it is below zero, or below what is reserved of it'
const ERASED: AccountStatus = 'erased'
const FACT_NAMES = {
  arrival: 'arrival',
  keyId: 'key_id',
  publicKey: 'public_key',
  status: 'status',
  incoming: 'incoming',
  paused: 'paused',
} as const

/** Checks an entry by itself (W1). `account`: its reference; `members`: of its payload. */
export function entryProblem(
  entry: AuditEntry,
  account: string,
  members: JsonObject | undefined,
  refOf: RefOf = ITSELF,
): string | undefined {
  const { sequence, txnId, payload } = entry
  if (chainHash(entry.previousHash, payload) !== entry.auditHash)
    return 'its audit_hash does not follow from its payload'
  if (members === undefined) return 'its payload is no JSON object'
  if (!isEntryFormat(members['format'])) return 'its payload is in an unknown format'
  const accountId = members['account_id']
  if (typeof accountId !== 'string' || refOf(accountId) !== account)
    return 'its payload was written for another account'
  if (members['sequence'] !== sequence) return 'its payload was written for another sequence'
  if (members['txn_id'] !== txnId) return 'its payload was written for another transaction'
  if ((members['kind'] === 'transaction') !== (txnId !== null)) return 'its payload is of another kind'
  return undefined
}

/** Source ledger, import and record as one text. */
export function arrivalFact({ ledgerId, importId, recordHash }: ArrivedFrom): string {
  return `${ledgerId} ${importId} ${recordHash}`
}

function textIn(members: JsonObject, name: string): string {
  return textOrNull(members, name) ?? ''
}

function textOrNull(members: JsonObject, name: string): string | null {
  const value: Json | undefined = members[name]
  return typeof value === 'string' ? value : null
}
