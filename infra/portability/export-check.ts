/**
 * Verifies offline, line by line and in bounded memory, that an export is complete and signed by the ledger it names.
 * Encrypted content is not checked.
 *   C1. Every change is found, and the first changed line is named. Each line contains the hash of the line before it, and
 *       the signature covers all lines.
 *   C2. A file that ends before its proof, or continues after it, is rejected.
 */
import { createHash } from 'node:crypto'
import { canonicalJson, type Json, type JsonObject } from '../../actors/canonical-json.ts'
import {
  EXPORT_FORMAT,
  type ExportRecord,
  type LedgerRecord,
  lineHash,
  NO_LINE,
  PROOF_SYSTEM,
  type ProofRecord,
  RANKS,
  RECORD_KINDS,
  type RecordKind,
} from '../../api/schemas/requests/export-records.ts'
import { signatureProblem, type SignatureProblem, timeMsIn } from '../../api/endpoint/service-signature.ts'
import type { PublishedKey } from '../../runtime/ports/service-keys.ts'
import { signedProof } from './export-lines.ts'

export interface ExportKeys {
  /** Ledger that published the keys; undefined: the document does not name it. */
  readonly ledgerId: string | undefined
  readonly keys: readonly PublishedKey<string>[]
}

/** `line`: counted from 0, like the `line` member of records. */
export interface ExportProblem {
  readonly line: number
  readonly problem: string
}

export interface ExportSummary {
  readonly ledger: LedgerRecord
  readonly proof: ProofRecord
  /** Records by kind. */
  readonly counts: Readonly<Record<RecordKind, number>>
}

export type ExportVerdict =
  | { readonly ok: true; readonly summary: ExportSummary }
  | { readonly ok: false; readonly problem: ExportProblem }

type AnyLine = JsonObject & Pick<ExportRecord, 'record' | 'line' | 'previous_hash'>

interface PreviousLine {
  readonly record: ExportRecord['record']
  readonly hash: string
}

/** `lines`: without their line feeds. Throws only errors of `lines`. */
export async function checkExport(lines: AsyncIterable<string>, keys: ExportKeys): Promise<ExportVerdict> {
  const check = new ExportCheck(keys)
  for await (const text of lines) {
    const problem = check.take(text)
    if (problem !== undefined) return { ok: false, problem }
  }
  return check.end()
}

export class ExportCheck {
  private readonly keys: ExportKeys
  private readonly hash = createHash('sha256')
  private readonly counts = Object.fromEntries(RECORD_KINDS.map((kind) => [kind, 0])) as Record<RecordKind, number>
  private ledger: LedgerRecord | undefined
  private proof: ProofRecord | undefined
  private before: PreviousLine | undefined
  private taken = 0
  /** The last line does not contain the hash of the one before it. The next line shows which of the two was changed. */
  private torn = false

  constructor(keys: ExportKeys) {
    this.keys = keys
  }

  /** Takes the next line without its line feed. Returns a problem of this line or of the one before. */
  take(text: string): ExportProblem | undefined {
    const number = this.taken
    const read = readLine(text)
    const torn = this.tornBy(read)
    if (torn !== undefined) return torn
    if (typeof read === 'string') return { line: number, problem: read }
    if (this.proof !== undefined) return { line: number, problem: 'it follows the proof' }
    if (read.line !== number) return { line: number, problem: `it is out of order: this is line ${read.line}` }
    this.torn = read.previous_hash !== (this.before?.hash ?? NO_LINE)
    if (this.torn && number === 0) return { line: 0, problem: 'it names a line before it' }
    const problem = this.misplaced(read) ?? (this.torn && read.record !== 'proof' ? undefined : this.see(read))
    if (problem !== undefined) return { line: number, problem }
    this.counts[read.record] += 1
    this.before = { record: read.record, hash: lineHash(text) }
    this.hash.update(`${text}\n`, 'utf8')
    this.taken += 1
    return read.record === 'proof' && this.torn ? changed(number - 1) : undefined
  }

  /** Call after the last line. */
  end(): ExportVerdict {
    const { ledger, proof, counts } = this
    if (this.torn) return { ok: false, problem: changed(this.taken - 1) }
    if (ledger !== undefined && proof !== undefined) return { ok: true, summary: { ledger, proof, counts } }
    const problem = this.taken === 0 ? 'the file is empty' : 'the file ends before its proof: it was cut off'
    return { ok: false, problem: { line: this.taken, problem } }
  }

  private tornBy(read: AnyLine | string): ExportProblem | undefined {
    if (!this.torn) return undefined
    // If the next line contains the last line's hash, the last line is intact and the one before it was changed.
    const isLastWhole = typeof read !== 'string' && read.previous_hash === this.before?.hash
    return changed(isLastWhole ? this.taken - 2 : this.taken - 1)
  }

  private misplaced({ record }: AnyLine): string | undefined {
    if (this.before === undefined) return record === 'ledger' ? undefined : 'the first line must be the ledger record'
    if (record === 'ledger') return 'there is more than one ledger'
    if (RANKS[record] < RANKS[this.before.record]) return `a record ${record} follows ${this.before.record}`
    const follows = this.before.record === 'account' || this.before.record === 'used_keys'
    return record === 'used_keys' && !follows ? 'used keys without their account' : undefined
  }

  /** Checks the content of the first line and the last one. */
  private see(read: AnyLine): string | undefined {
    if (read.record === 'ledger') {
      const ledger = read as LedgerRecord
      this.ledger = ledger
      if (read['format'] !== EXPORT_FORMAT) return 'its export format is not supported'
      const { ledgerId } = this.keys
      return ledgerId === undefined || ledger.ledger_id === ledgerId
        ? undefined
        : 'its ledger is not the ledger of the JWKS'
    }
    if (read.record !== 'proof') return undefined
    this.proof = read as ProofRecord
    if (read['proof_system'] !== PROOF_SYSTEM) return 'its proof_system is unknown'
    return this.problemOfProof(this.proof)
  }

  private problemOfProof(proof: ProofRecord): string | undefined {
    const { ledger } = this
    if (ledger?.ledger_id !== proof.ledger_id) return 'its ledger_id is not that of the first line'
    if (ledger.audience !== proof.audience) return 'its audience is not that of the first line'
    const problem = proofProblem(proof, this.keys.keys)
    if (problem !== undefined) return PROOF_PROBLEMS[problem]
    // Naming the changed line is more useful than reporting the hash over all lines.
    if (this.torn) return undefined
    const hash = `sha256:${this.hash.copy().digest('hex')}`
    return proof.proof_hash === hash ? undefined : 'its proof_hash is not that of the lines before it'
  }
}

function changed(line: number): ExportProblem {
  return { line, problem: 'it was changed' }
}

/** The line, or its problem. */
function readLine(text: string): AnyLine | string {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return 'it is not JSON'
  }
  if (!isRecord(value)) return 'it is not an export record'
  return canonicalJson(value) === text ? value : 'it is not canonical JSON'
}

function isRecord(value: Json): value is AnyLine {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { record, line, previous_hash: previousHash } = value as JsonObject
  return (
    typeof record === 'string' &&
    Object.hasOwn(RANKS, record) &&
    typeof line === 'number' &&
    Number.isSafeInteger(line) &&
    typeof previousHash === 'string'
  )
}

export const PROOF_PROBLEMS: Readonly<Record<SignatureProblem, string>> = {
  unknown_key: 'the key that it names is not in the JWKS',
  other_purpose: 'the key that it names is not for assertions',
  revoked: 'the key that it names is revoked',
  not_in_use: 'the key that it names was not in use at its timestamp',
  mismatch: 'its signature does not verify',
}

export function proofProblem(proof: ProofRecord, keys: readonly PublishedKey<string>[]): SignatureProblem | undefined {
  const { key_id: keyId, timestamp, signature } = proof
  const claim = { keyId, atMs: timeMsIn(timestamp), text: signedProof(proof), signature }
  return signatureProblem(claim, 'assertion', keys)
}
