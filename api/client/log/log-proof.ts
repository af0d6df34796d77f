/**
 * Proofs that the ledger's log has an entry, in the form of C2SP. https://c2sp.org/tlog-proof
 *   R1. The head in the proof is signed as the policy demands.
 *   R2. The hashes lead from the entry to the root of that head.
 *   R3. The entry is that of the expected hash, under the salt in the proof.
 */
import { base64, type Bytes } from '../signing/bytes.ts'
import { type Invalid, judged, tampered, type Valid } from '../verify/verdict.ts'
import { parseCount } from './checkpoint.ts'
import { logEntry } from './log-entry.ts'
import { isIncluded, leafHash } from './merkle.ts'
import { noteText, parseNote, type SignedNote, strictBase64 } from './signed-note.ts'
import { type TrustedHead, trustedHead, type TrustPolicy } from './trust-policy.ts'

export interface LogProof {
  /** Salt of the entry; 32 bytes. */
  readonly salt: Bytes
  /** Place of the entry in the log, from 0 on. */
  readonly index: number
  /** From the leaf's sibling up; 32 bytes each. */
  readonly hashes: readonly Bytes[]
  readonly checkpoint: SignedNote
}

export interface VerifiedInclusion extends Valid {
  /** Of the entry. */
  readonly auditHash: string
  readonly index: number
  readonly head: TrustedHead
}

const FIRST_LINE = 'c2sp.org/tlog-proof@v1'
const HASH_BYTES = 32

/** Undefined for a malformed proof. */
export function parseLogProof(text: string): LogProof | undefined {
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const [first, extra, index, ...rest] = text.slice(0, end).split('\n')
  const salt = strictBase64(valueOf('extra', extra) ?? ' ')
  const place = parseCount(valueOf('index', index) ?? '')
  const hashes = rest.map(strictBase64)
  const checkpoint = parseNote(text.slice(end + 2))
  if (first !== FIRST_LINE || salt === undefined || place === undefined || checkpoint === undefined) return undefined
  if (!hashes.every((hash) => hash?.length === HASH_BYTES)) return undefined
  return { salt, index: place, hashes: hashes as readonly Bytes[], checkpoint }
}

function valueOf(name: string, line: string | undefined): string | undefined {
  return line?.startsWith(`${name} `) === true ? line.slice(name.length + 1) : undefined
}

export function logProofText({ salt, index, hashes, checkpoint }: LogProof): string {
  const lines = [FIRST_LINE, `extra ${base64(salt)}`, `index ${index}`, ...hashes.map(base64)]
  return `${lines.join('\n')}\n\n${noteText(checkpoint)}`
}

/**
 * Whether the log has the entry with this hash, and the policy trusts the head of the log. `auditHash`: of a receipt whose
 * signature is verified, or of an entry of a verified chain. Rejects with Ed25519Missing where WebCrypto lacks it.
 */
export function verifyLogProof(
  text: string,
  auditHash: string,
  policy: TrustPolicy,
): Promise<VerifiedInclusion | Invalid> {
  return judgeLogProof(text, [auditHash], policy)
}

/** The same, of the first of the entries that it proves. */
export function judgeLogProof(
  text: string,
  auditHashes: Iterable<string>,
  policy: TrustPolicy,
): Promise<VerifiedInclusion | Invalid> {
  return judged<VerifiedInclusion | Invalid>(async () => {
    const proof = parseLogProof(text)
    if (proof === undefined) return tampered('the proof is malformed')
    const head = await trustedHead(proof.checkpoint, policy)
    if ('ok' in head) return head
    for (const auditHash of auditHashes) {
      const entry = await logEntry(proof.salt, auditHash)
      if (entry === undefined) return tampered('the hash or the salt is malformed')
      if (!(await isIncluded(await leafHash(entry), proof.index, head, proof.hashes))) continue
      return { ok: true, proved: provedBy(proof, auditHash, head), auditHash, index: proof.index, head }
    }
    return tampered(
      `the log does not have the entry in place ${proof.index}: the proof is of another one, or was changed`,
    )
  })
}

function provedBy({ index }: LogProof, auditHash: string, { origin, size, witnesses }: TrustedHead): readonly string[] {
  const by = witnesses.length === 0 ? 'no witness of the policy' : witnesses.join(', ')
  return [
    `The log ${origin} has the entry with hash ${auditHash} in place ${index}.`,
    `Its head of ${size} entries is signed by the log, and by ${by}.`,
  ]
}
