/**
 * Checks one part of an import by itself and against the end of the file before it. Nothing is stored here.
 *   P1. All faults are reported at once, with record and field. Of the lines out of order only the first is reported.
 *   P2. Content encrypted to this ledger is decrypted once, here. Decryption fails unless it belongs to its record.
 *   P3. Trust and the signature are checked last, after all faults of content.
 */
import { setImmediate } from 'node:timers/promises'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { sha256Hex } from '../../actors/audit-chain.ts'
import {
  type AttestationRecord,
  type ExportedAttestation,
  type ExportRecord,
  type InstanceRecord,
  type LedgerRecord,
  lineHash,
  NO_LINE,
  type ProofRecord,
  RANKS,
  recordKindOf,
  type RecordKind,
} from '../../api/schemas/requests/export-records.ts'
import { signatureProblem, type SignatureProblem, timeMsIn } from '../../api/endpoint/service-signature.ts'
import type { GivenRecord, ImportFault, ImportRefusal } from '../../runtime/ports/ledger-imports.ts'
import type { ImportKeys } from '../../runtime/ports/service-keys.ts'
import type { PinnedKey, TrustedLedgers } from '../config/trusted-ledgers.ts'
import { PROOF_PROBLEMS, proofProblem } from './export-check.ts'
import { signedProof } from './export-lines.ts'
import type { FileEnd, ImportSource, OpenedBalances, StagedPart } from './import-documents.ts'
import { historyFault } from './import-history.ts'

export interface PartContext {
  /** This ledger. */
  readonly ledgerId: string
  readonly trusted: TrustedLedgers
  readonly keys: Pick<ImportKeys, 'openBalance' | 'openKeySalt'>
}

export interface CheckedPart {
  readonly staged: StagedPart
  readonly source: ImportSource
  readonly end: FileEnd
}

export type PartVerdict =
  | { readonly ok: true; readonly part: CheckedPart }
  | { readonly ok: false; readonly refusal: ImportRefusal | 'ill_formed' }

/** The file before the part. */
export interface Before {
  readonly source: ImportSource
  readonly end: FileEnd
}

const NOTHING: FileEnd = { lines: 0, tip: NO_LINE, rank: 0, account: null }

/** Decryptions and signature checks between two yields to the event loop. */
const AT_ONCE = 16

/** `before` is undefined for the first part. `ill_formed`: the only faults are malformed records, reported elsewhere. */
export async function checkPart(
  given: readonly GivenRecord[],
  last: boolean,
  before: Before | undefined,
  context: PartContext,
): Promise<PartVerdict> {
  const check = new PartCheck(last, before, context)
  for (const [index, { record, wellFormed }] of given.entries()) {
    check.take(index, record, wellFormed)
    if (check.worked()) await setImmediate()
  }
  return check.verdict(given.every(({ wellFormed }) => wellFormed))
}

class PartCheck {
  private readonly last: boolean
  private readonly context: PartContext
  private readonly isFirst: boolean
  private readonly firstLine: number
  private readonly faults: ImportFault[] = []
  private readonly lines: string[] = []
  private readonly balances = new Map<number, OpenedBalances>()
  private end: FileEnd
  private source: ImportSource | undefined
  private proof: { readonly index: number; readonly record: ProofRecord } | undefined
  private torn = false
  private work = 0

  constructor(last: boolean, before: Before | undefined, context: PartContext) {
    this.last = last
    this.context = context
    this.isFirst = before === undefined
    this.source = before?.source
    this.end = before?.end ?? NOTHING
    this.firstLine = this.end.lines
  }

  /** Whether to yield to the event loop. */
  worked(): boolean {
    if (this.work < AT_ONCE) return false
    this.work = 0
    return true
  }

  take(index: number, record: JsonObject, wellFormed: boolean): void {
    const at = `records[${index}]`
    const kind = recordKindOf(record)
    this.follow(at, record)
    if (kind !== undefined) this.place(at, kind, record)
    const text = canonicalJson(record)
    this.lines.push(text)
    this.end = { ...this.end, lines: this.end.lines + 1, tip: lineHash(text) }
    if (kind === 'account') this.openBalances(at, record)
    if (wellFormed) this.look(at, index, record as ExportRecord)
  }

  verdict(wellFormed: boolean): PartVerdict {
    const { proof, source } = this
    if (this.last && this.end.rank !== RANKS.proof)
      this.fault('proof_hash', 'last', `line ${this.end.lines}: the proof of the export is missing`)
    if (this.faults.length > 0) return { ok: false, refusal: { kind: 'invalid', faults: this.faults } }
    if (!wellFormed || source === undefined) return { ok: false, refusal: 'ill_formed' }
    const refusal = this.trustFault(source.ledgerId) ?? (proof === undefined ? undefined : this.proofFault(proof))
    if (refusal !== undefined) return { ok: false, refusal }
    const text = this.lines.map((line) => `${line}\n`).join('')
    return {
      ok: true,
      part: { staged: { firstLine: this.firstLine, text, balances: this.balances }, source, end: this.end },
    }
  }

  private fault(code: ImportFault['code'], field: string, message: string): void {
    this.faults.push({ code, field, message })
  }

  /** P1. */
  private follow(at: string, { line, previous_hash: previous }: JsonObject): void {
    const expected = this.end.lines
    if (this.torn || typeof line !== 'number' || typeof previous !== 'string') return
    if (line !== expected) {
      this.torn = true
      const what = line > expected ? `line ${expected} is missing` : `line ${line} is repeated or out of order`
      this.fault('field', `${at}.line`, `is ${line} where line ${expected} must be: ${what}`)
    } else if (previous !== this.end.tip) {
      this.torn = true
      const which = line === 0 ? 'line 0 has none before it' : `line ${line - 1} or line ${line} was changed`
      this.fault('field', `${at}.previous_hash`, `is not the hash of the line before: ${which}`)
    }
  }

  private place(at: string, kind: RecordKind, record: JsonObject): void {
    const rank = RANKS[kind]
    const { lines, account } = this.end
    const say = (message: string): void => this.fault('field', `${at}.record`, `line ${lines}: ${message}`)
    if (lines === 0 && kind !== 'ledger') say('the first record must be the ledger')
    else if (lines > 0 && kind === 'ledger') say('only the first record may be the ledger')
    else if (rank < this.end.rank) say('it comes after kinds that must follow it')
    else if (this.proof !== undefined) say('nothing may follow the proof')
    if (kind === 'proof' && !this.last) say('the proof must be in the last part')
    if (kind === 'used_keys') {
      const { account_id: accountId, part } = record
      if (account === null || account.accountId !== accountId || account.usedParts !== part) {
        say('used keys must follow their account, with their parts in order')
      } else this.end = { ...this.end, account: { ...account, usedParts: account.usedParts + 1 } }
    } else {
      const accountId = record['account_id']
      const next = kind === 'account' && typeof accountId === 'string' ? { accountId, usedParts: 0 } : null
      this.end = { ...this.end, account: next }
    }
    this.end = { ...this.end, rank: Math.max(rank, this.end.rank) }
  }

  /** P2. A malformed record is decrypted as far as it can be read. */
  private openBalances(at: string, { account_id: accountId, balances }: JsonObject): void {
    if (typeof accountId !== 'string' || !Array.isArray(balances)) return
    const opened = new Map<string, string>()
    for (const [index, balance] of (balances as readonly Partial<Record<string, unknown>>[]).entries()) {
      const { token_id: tokenId, encrypted_balance: jwe } = balance ?? {}
      if (typeof tokenId !== 'string' || typeof jwe !== 'string') continue
      if (opened.has(tokenId)) {
        const message = `line ${this.end.lines - 1}: the account has another balance of this token`
        this.fault('balance', `${at}.balances[${index}].token_id`, message)
        continue
      }
      this.work += 1
      const quantity = this.context.keys.openBalance({ accountId, tokenId }, jwe)
      if (quantity !== undefined) opened.set(tokenId, quantity)
      else {
        const line = `line ${this.end.lines - 1}`
        const message = `${line}: it cannot be decrypted as a balance of this account and token`
        this.fault('balance', `${at}.balances[${index}].encrypted_balance`, message)
      }
    }
    this.balances.set(this.end.lines - 1, opened)
  }

  private look(at: string, index: number, record: ExportRecord): void {
    switch (record.record) {
      case 'ledger':
        return this.seeLedger(at, record)
      case 'nft_instance':
        return this.seeInstance(at, record)
      case 'attestation':
        return this.seeAttestation(at, record)
      case 'proof':
        this.seeProof(at, index, record)
        return
      case 'token':
      case 'nft_class':
      case 'account':
      case 'used_keys':
    }
  }

  private seeLedger(
    at: string,
    { ledger_id: ledgerId, audience, partial, encrypted_key_salt: jwe }: LedgerRecord,
  ): void {
    if (audience !== this.context.ledgerId) {
      this.fault('wrong_ledger', `${at}.audience`, `must be this ledger, ${this.context.ledgerId}`)
    }
    const keySalt = this.context.keys.openKeySalt(jwe)
    if (keySalt === undefined) this.fault('field', `${at}.encrypted_key_salt`, 'line 0: it cannot be decrypted')
    if (this.isFirst) this.source = { ledgerId, partial, keySalt: keySalt ?? '' }
  }

  private seeInstance(at: string, record: InstanceRecord): void {
    const fault = historyFault(record)
    if (fault === undefined) return
    this.fault('field', `${at}.${fault.field}`, `line ${record.line}: ${fault.message}`)
  }

  private seeAttestation(at: string, { line, attestation }: AttestationRecord): void {
    // For an untrusted ledger, the refusal names the ledger instead.
    if (!this.context.trusted.has(this.source?.ledgerId ?? '')) return
    this.work += 1
    const problem = problemOfAttestation(attestation, this.pinned())
    if (problem !== undefined) this.fault('signature', `${at}.attestation.signature`, `line ${line}: ${problem}`)
  }

  private seeProof(at: string, index: number, record: ProofRecord): void {
    this.proof = { index, record }
    if (record.ledger_id !== this.source?.ledgerId) {
      this.fault('field', `${at}.ledger_id`, 'must be the ledger that the first record names')
    }
    if (record.audience !== this.context.ledgerId) {
      this.fault('wrong_ledger', `${at}.audience`, `must be this ledger, ${this.context.ledgerId}`)
    }
  }

  private pinned(): readonly PinnedKey[] {
    return this.context.trusted.get(this.source?.ledgerId ?? '') ?? []
  }

  /** P3. */
  private trustFault(ledgerId: string): ImportRefusal | undefined {
    if (this.context.trusted.has(ledgerId)) return undefined
    const detail = 'The exporting ledger is not among the trusted ledgers of this ledger.'
    return { kind: 'untrusted', field: 'records[0].ledger_id', detail }
  }

  private proofFault({
    index,
    record,
  }: {
    readonly index: number
    readonly record: ProofRecord
  }): ImportRefusal | undefined {
    const problem = proofProblem(record, this.pinned())
    if (problem === undefined) return undefined
    const detail = `line ${record.line}: the proof is invalid: ${PROOF_PROBLEMS[problem]}.`
    if (problem !== 'mismatch') return { kind: 'untrusted', field: `records[${index}].key_id`, detail }
    const signed = { keyId: record.key_id, payloadHash: sha256Hex(signedProof(record)) }
    return { kind: 'mismatch', field: `records[${index}].signature`, detail, signed }
  }
}

const NOT_FOR_ATTESTATIONS = 'the key that it names is not for attestations'
const ATTESTATION_PROBLEMS: Readonly<Record<SignatureProblem, string>> = {
  unknown_key: NOT_FOR_ATTESTATIONS,
  other_purpose: NOT_FOR_ATTESTATIONS,
  revoked: 'the key that it names is revoked',
  not_in_use: 'the key that it names was not in use at that time',
  mismatch: 'its signature does not verify',
}

/** Why the signature is invalid; undefined when it is valid. It covers all members but itself. */
function problemOfAttestation(
  { signature, ...signed }: ExportedAttestation,
  keys: readonly PinnedKey[],
): string | undefined {
  const times = [signed.created_at, signed.imported_at, signed.revoked_at].flatMap((at) => at ?? [])
  const claim = { keyId: signed.key_id, atMs: Math.max(...times.map(timeMsIn)), text: canonicalJson(signed), signature }
  const problem = signatureProblem(claim, 'attestation', keys)
  return problem && ATTESTATION_PROBLEMS[problem]
}
