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
  type SignedNote,
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

/** Two signed heads of one size with different roots. They prove by themselves that the log has two histories. */
export interface LogFork {
  /** The head that the witness did not sign. */
  readonly head: LogHead
  /** Both heads, or the one of an empty log with another root than that of no entries. */
  readonly notes: readonly string[]
}

export interface LogForkStore {
  /** Resolves once the fork is stored for good. False: it is known, or enough of this log are. */
  readonly saveFork: (fork: LogFork) => Promise<boolean>
}

export type WitnessAnswer =
  | { readonly kind: 'signed'; readonly line: string }
  /** The log names another old size than the witness has. */
  | { readonly kind: 'conflict'; readonly size: number; readonly fork: LogFork | undefined }
  | { readonly kind: 'forked'; readonly problem: string; readonly fork: LogFork }
  /** `inconsistent`: the proof does not hold. Anyone can send a wrong proof with a published head. */
  | { readonly kind: 'malformed' | 'unknown_log' | 'unsigned' | 'inconsistent'; readonly problem: string }

export interface WitnessOptions {
  readonly signer: NoteSigner
  readonly logs: readonly NoteKey[]
  readonly store: WitnessStore
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

/** The root of a tree without leaves is SHA-256 of nothing. */
const EMPTY = {
  size: 0,
  root: new Uint8Array(Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex')),
}

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
    const ofLog = logs.filter(({ name }) => name === head.origin)
    if (ofLog.length === 0) return { kind: 'unknown_log', problem: `the log ${head.origin} is not known` }
    const signers = await verifySignatures(checkpoint, ofLog)
    if (signers === undefined || signers.length === 0) {
      return { kind: 'unsigned', problem: 'the head is not signed by its log' }
    }
    if (oldSize > head.size) return { kind: 'malformed', problem: 'the old size is above that of the head' }
    const keys = new Set(signers.map(({ key }) => key))
    const note = { text: checkpoint.text, signatures: oneOfEach(keys, checkpoint) }
    const known = await store.head(head.origin)
    const fork = forkOf(known, head, note)
    const old = known ?? EMPTY
    if (old.size !== oldSize) return { kind: 'conflict', size: old.size, fork }
    if (fork !== undefined) return { kind: 'forked', problem: `the log has two heads of ${head.size} entries`, fork }
    if (!(await isConsistent(old, head, proof))) {
      return { kind: 'inconsistent', problem: `no proof that ${head.size} entries continue the ${old.size} before` }
    }
    return this.sign(head, note)
  }

  /** `checkpoint`: with verified signatures alone (W3). */
  private async sign(head: LogHead, checkpoint: SignedNote): Promise<WitnessAnswer> {
    const { signer, store, nowMs } = this.options
    const seconds = Math.floor(nowMs() / 1_000)
    const bytes = cosignatureBytes(seconds, signer.sign(cosignedText(checkpoint.text, seconds)))
    const signature = { name: signer.key.name, keyId: signer.key.id, bytes }
    const note = noteText({ text: checkpoint.text, signatures: [...checkpoint.signatures, signature] })
    if (parseNote(note) === undefined) return { kind: 'malformed', problem: 'the head is too long to be signed' }
    // Anyone can send the published head again: within a second its signature is the stored one, and the disk is spared.
    if ((await store.head(head.origin))?.note !== note) await store.save({ ...head, note })
    return { kind: 'signed', line: signatureLine(signature) }
  }
}

/** Requests may repeat the signature of a key. */
function oneOfEach(keys: ReadonlySet<NoteKey>, { signatures }: SignedNote): readonly NoteSignature[] {
  return [...keys].flatMap((key) => signatures.find(({ name, keyId }) => name === key.name && keyId === key.id) ?? [])
}

function forkOf(known: WitnessedHead | undefined, head: LogHead, note: SignedNote): LogFork | undefined {
  const same = known?.size === head.size ? known : undefined
  const root = head.size === 0 ? EMPTY.root : same?.root
  if (root === undefined || isSame(root, head.root)) return undefined
  return { head, notes: [...(same === undefined ? [] : [same.note]), noteText(note)] }
}
