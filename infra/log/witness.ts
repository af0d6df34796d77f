/**
 * A witness of logs: it signs a head only if that continues the last head that it signed. https://c2sp.org/tlog-witness
 *   W1. A head is stored before its signature is sent, and never replaced by one that does not continue it: not even by two
 *       requests at a time.
 *   W2. Nothing is signed for an unknown log, or without that log's own valid signature.
 *   W3. A head is stored only if it can be read again, with verified signatures alone: requests come from strangers.
 */
import { isConsistent, isSame } from '../../api/client/log/merkle.ts'
import { type LogHead, parseCheckpoint } from '../../api/client/log/checkpoint.ts'
import {
  cosignatureBytes,
  cosignedText,
  type NoteKey,
  type NoteSignature,
  noteText,
  parseNote,
  signatureLine,
  verifySignatures,
} from '../../api/client/log/signed-note.ts'
import type { NoteSigner } from './log-signer.ts'
import type { WitnessRequest } from './witness-request.ts'

/** A witness remembers this of a log. */
export interface WitnessedHead extends LogHead {
  /** With the signatures of the log and of the witness. */
  readonly note: string
}

export interface WitnessStore {
  /** Undefined for a log of which nothing was signed. */
  readonly head: (origin: string) => Promise<WitnessedHead | undefined>
  /** Resolves once the head is stored for good. */
  readonly save: (head: WitnessedHead) => Promise<void>
}

export type WitnessAnswer =
  | { readonly kind: 'signed'; readonly line: string }
  /** The log names another old size than the witness has. */
  | { readonly kind: 'conflict'; readonly size: number }
  | { readonly kind: 'malformed' | 'unknown_log' | 'unsigned' | 'inconsistent'; readonly problem: string }

export interface WitnessOptions {
  readonly signer: NoteSigner
  readonly logs: readonly NoteKey[]
  readonly store: WitnessStore
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

/** Root of the tree without leaves: SHA-256 of nothing. */
const EMPTY_ROOT = new Uint8Array(
  Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex'),
)

export class Witness {
  private readonly options: WitnessOptions
  private last: Promise<unknown> = Promise.resolve()

  constructor(options: WitnessOptions) {
    this.options = options
  }

  /** Requests are judged one after the other (W1). Rejects if the head cannot be stored. */
  add(request: WitnessRequest): Promise<WitnessAnswer> {
    const answer = this.last.then(() => this.judge(request))
    this.last = answer.catch(() => undefined)
    return answer
  }

  private async judge({ oldSize, proof, checkpoint }: WitnessRequest): Promise<WitnessAnswer> {
    const { logs, store } = this.options
    const head = parseCheckpoint(checkpoint.text)
    if (head === undefined) return { kind: 'malformed', problem: 'the head is malformed' }
    const keys = logs.filter(({ name }) => name === head.origin)
    if (keys.length === 0) return { kind: 'unknown_log', problem: `the log ${head.origin} is not known` }
    const signers = await verifySignatures(checkpoint, keys)
    if (signers === undefined || signers.length === 0) {
      return { kind: 'unsigned', problem: 'the head is not signed by its log' }
    }
    if (oldSize > head.size) return { kind: 'malformed', problem: 'the old size is above that of the head' }
    const known = await store.head(head.origin)
    if ((known?.size ?? 0) !== oldSize) return { kind: 'conflict', size: known?.size ?? 0 }
    const old = known ?? { size: 0, root: EMPTY_ROOT }
    if (head.size === 0 && !isSame(head.root, EMPTY_ROOT)) {
      return { kind: 'inconsistent', problem: 'an empty log has another root' }
    }
    if (!(await isConsistent(old, head, proof))) {
      return { kind: 'inconsistent', problem: `the head of ${head.size} entries does not continue that of ${old.size}` }
    }
    return this.sign(head, checkpoint, new Set(signers.map(({ key }) => key)))
  }

  /** `verified`: keys of the log with which the head is signed. */
  private async sign(
    head: LogHead,
    checkpoint: WitnessRequest['checkpoint'],
    verified: ReadonlySet<NoteKey>,
  ): Promise<WitnessAnswer> {
    const { signer, store, nowMs } = this.options
    const seconds = Math.floor(nowMs() / 1_000)
    const bytes = cosignatureBytes(seconds, signer.sign(cosignedText(checkpoint.text, seconds)))
    const signature = { name: signer.key.name, keyId: signer.key.id, bytes }
    // One of each key: the request may repeat them (W3).
    const byLog = [...verified].flatMap((key) => checkpoint.signatures.find((found) => isBy(found, key)) ?? [])
    const note = noteText({ text: checkpoint.text, signatures: [...byLog, signature] })
    if (parseNote(note) === undefined) return { kind: 'malformed', problem: 'the head is too long to be signed' }
    await store.save({ ...head, note })
    return { kind: 'signed', line: signatureLine(signature) }
  }
}

function isBy({ name, keyId }: NoteSignature, key: NoteKey): boolean {
  return name === key.name && keyId === key.id
}
