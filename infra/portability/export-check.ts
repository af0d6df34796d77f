/**
 * Whether an export is whole and was signed by the ledger that it names, without asking anybody: line by line, in bounded
 * memory. Encrypted content is not looked into.
 *   C1. What is not as it was signed is found, and the first line that is not is named: each line is tied to the one before,
 *       and the signature is over all of them.
 *   C2. A file that ends before its proof, or goes on behind it, is not whole.
 */
import { createHash } from 'node:crypto'
import { canonicalJson, type Json, type JsonObject } from '../../actors/canonical-json.ts'
import { parseTimestamp } from '../../actors/timestamp.ts'
import type { AssertionKey } from '../../api/endpoint/assertion.ts'
import {
  EXPORT_FORMAT,
  type ExportRecord,
  type LedgerRecord,
  lineHash,
  NO_LINE,
  PROOF_SYSTEM,
  type ProofRecord,
} from '../../api/schemas/export-record.ts'
import { verifiesText } from '../keys/service-signature.ts'
import { signedProof } from './export-proof.ts'

export interface ExportKeys {
  /** The ledger whose keys these are; undefined: the document does not say. */
  readonly ledgerId: string | undefined
  readonly keys: readonly AssertionKey[]
}

/** `line`: from 0, as the lines themselves say. */
export interface ExportProblem {
  readonly line: number
  readonly problem: string
}

export interface ExportSummary {
  readonly ledger: LedgerRecord
  readonly proof: ProofRecord
  /** Records by kind. */
  readonly counts: Readonly<Record<ExportRecord['record'], number>>
}

export type CheckedExport =
  | { readonly ok: true; readonly summary: ExportSummary }
  | { readonly ok: false; readonly problem: ExportProblem }

/** Kinds in the order in which they come; accounts and their used keys take turns. */
const RANKS: Readonly<Record<ExportRecord['record'], number>> = {
  ledger: 0,
  token: 1,
  nft_class: 2,
  nft_instance: 3,
  attestation: 4,
  account: 5,
  used_keys: 5,
  proof: 6,
}

type AnyLine = JsonObject & Pick<ExportRecord, 'record' | 'line' | 'previous_hash'>

interface TakenLine {
  readonly record: ExportRecord['record']
  readonly hash: string
}

/** Throws what `lines` throws. They come without their line feeds. */
export async function checkExport(lines: AsyncIterable<string>, keys: ExportKeys): Promise<CheckedExport> {
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
  private readonly counts: Record<ExportRecord['record'], number>
  private ledger: LedgerRecord | undefined
  private proof: ProofRecord | undefined
  private before: TakenLine | undefined
  private taken = 0
  /** The last line does not fit to the one before it: which of the two was changed, the next one says. */
  private torn = false

  constructor(keys: ExportKeys) {
    this.keys = keys
    this.counts = {
      ledger: 0,
      token: 0,
      nft_class: 0,
      nft_instance: 0,
      attestation: 0,
      account: 0,
      used_keys: 0,
      proof: 0,
    }
  }

  /** The next line, without its line feed. The problem of it, or of the one before. */
  take(text: string): ExportProblem | undefined {
    const number = this.taken
    const read = readLine(text)
    const torn = this.tornBy(read)
    if (torn !== undefined) return torn
    if (typeof read === 'string') return { line: number, problem: read }
    if (this.proof !== undefined) return { line: number, problem: 'it comes behind the proof' }
    if (read.line !== number) return { line: number, problem: `it is not in its place: line ${read.line} stands there` }
    this.torn = read.previous_hash !== (this.before?.hash ?? NO_LINE)
    if (this.torn && number === 0) return { line: 0, problem: 'it says that a line comes before it' }
    const problem = this.misplaced(read) ?? (this.torn && read.record !== 'proof' ? undefined : this.see(read))
    if (problem !== undefined) return { line: number, problem }
    this.counts[read.record] += 1
    this.before = { record: read.record, hash: lineHash(text) }
    this.hash.update(`${text}\n`, 'utf8')
    this.taken += 1
    return read.record === 'proof' && this.torn ? changed(number - 1) : undefined
  }

  /** All lines have been taken. */
  end(): CheckedExport {
    const { ledger, proof, counts } = this
    if (this.torn) return { ok: false, problem: changed(this.taken - 1) }
    if (ledger !== undefined && proof !== undefined) return { ok: true, summary: { ledger, proof, counts } }
    const problem = this.taken === 0 ? 'the file is empty' : 'the file ends before its proof: it was cut off'
    return { ok: false, problem: { line: this.taken, problem } }
  }

  private tornBy(read: AnyLine | string): ExportProblem | undefined {
    if (!this.torn) return undefined
    // Where the next line fits to the last one, that one is as it was, and the one before it is not.
    const isLastWhole = typeof read !== 'string' && read.previous_hash === this.before?.hash
    return changed(isLastWhole ? this.taken - 2 : this.taken - 1)
  }

  private misplaced({ record }: AnyLine): string | undefined {
    if (this.before === undefined) return record === 'ledger' ? undefined : 'the first line must be the ledger’s'
    if (record === 'ledger') return 'there is more than one ledger'
    if (RANKS[record] < RANKS[this.before.record]) return `a record ${record} comes behind ${this.before.record}`
    const follows = this.before.record === 'account' || this.before.record === 'used_keys'
    return record === 'used_keys' && !follows ? 'used keys of no account' : undefined
  }

  /** What the first line and the last one say. */
  private see(read: AnyLine): string | undefined {
    if (read.record === 'ledger') {
      const ledger = read as LedgerRecord
      this.ledger = ledger
      if (read['format'] !== EXPORT_FORMAT) return 'it is an export of another format'
      const { ledgerId } = this.keys
      return ledgerId === undefined || ledger.ledger_id === ledgerId
        ? undefined
        : 'it is of another ledger than the JWKS'
    }
    if (read.record !== 'proof') return undefined
    this.proof = read as ProofRecord
    if (read['proof_system'] !== PROOF_SYSTEM) return 'its proof_system is not known'
    return this.problemOfProof(this.proof)
  }

  private problemOfProof(proof: ProofRecord): string | undefined {
    const { ledger } = this
    if (ledger?.ledger_id !== proof.ledger_id) return 'it is the proof of another ledger'
    if (ledger.audience !== proof.audience) return 'it is for another ledger than the first line says'
    const problem = problemOfSignature(proof, this.keys.keys)
    // What tells which line was changed says more than that their hash did.
    if (problem !== undefined || this.torn) return problem
    const hash = `sha256:${this.hash.copy().digest('hex')}`
    return proof.proof_hash === hash ? undefined : 'its proof_hash is not that of the lines before it'
  }
}

function changed(line: number): ExportProblem {
  return { line, problem: 'it is not what was written' }
}

/** The line, or what is wrong with it. */
function readLine(text: string): AnyLine | string {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    return 'it is not JSON'
  }
  if (!isRecord(value)) return 'it is no record of an export'
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

/** Why the proof is not the ledger's; undefined when it is. */
export function problemOfSignature(proof: ProofRecord, keys: readonly AssertionKey[]): string | undefined {
  const key = keys.find(({ keyId }) => keyId === proof.key_id)
  if (key === undefined) return 'the key that it names is not in the JWKS'
  if (key.purpose !== 'assertion') return 'the key that it names is not for assertions'
  if (key.revokedAtMs !== null) return 'the key that it names is revoked'
  const atMs = typeof proof.timestamp === 'string' ? (parseTimestamp(proof.timestamp) ?? Number.NaN) : Number.NaN
  if (!(atMs >= key.activeFromMs && (key.retiredAtMs === null || atMs <= key.retiredAtMs))) {
    return 'the key that it names was not in use at its timestamp'
  }
  return typeof proof.signature === 'string' && verifiesText(key, signedProof(proof), proof.signature)
    ? undefined
    : 'its signature does not verify'
}
