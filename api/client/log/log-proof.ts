/**
 * Proofs that the ledger's log has an entry, in the form of C2SP. https://c2sp.org/tlog-proof
 *   R1. The head in the proof is signed as the policy demands.
 *   R2. The hashes lead from the entry to the root of that head.
 *   R3. The entry is that of the expected hash, under the salt in the proof.
 *   R4. With the log key of the account, the salt is that of the entry's place in the chain: all who have the key find the
 *       entry there, and a second one in its place. Without the key a proof does not exclude that the log has another
 *       entry in the same place of the chain: the prover chooses the salt (E2 of log-entry.ts).
 */
import { base64, type Bytes } from '../signing/bytes.ts'
import { type Invalid, judged, tampered, type Valid } from '../verify/verdict.ts'
import { parseCount } from './checkpoint.ts'
import { entrySalt, logEntry } from './log-entry.ts'
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

/** The place in a chain in which an entry must be (R4). */
export interface ExpectedLogPlace {
  /** Of the account; 32 bytes in base64, as `GET /v1/accounts/{id}/log-key` shows it. */
  readonly logKey: string
  /** Of the entry in the account's chain. */
  readonly sequence: number
}

/** An entry that a proof may be of. */
export interface ProvableEntry {
  readonly auditHash: string
  /** Undefined: R4 is not verified. */
  readonly place?: ExpectedLogPlace | undefined
}

export interface VerifiedInclusion extends Valid {
  /** Of the entry. */
  readonly auditHash: string
  readonly index: number
  readonly head: TrustedHead
}

const FIRST_LINE = 'c2sp.org/tlog-proof@v1'
const HASH_BYTES = 32
const KEY_BYTES = 32

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
 * signature is verified, or of an entry of a verified chain. `place`: of that entry; without it the log may have another
 * entry in the same place of the chain (R4). Rejects with Ed25519Missing where WebCrypto lacks it, and with a RangeError for
 * a malformed log key.
 */
export function verifyLogProof(
  text: string,
  auditHash: string,
  policy: TrustPolicy,
  place?: ExpectedLogPlace,
): Promise<VerifiedInclusion | Invalid> {
  return judgeLogProof(text, [{ auditHash, place }], policy)
}

/** The same, of the first of the entries that it proves. */
export async function judgeLogProof(
  text: string,
  entries: readonly ProvableEntry[],
  policy: TrustPolicy,
): Promise<VerifiedInclusion | Invalid> {
  if (entries.some(({ place }) => place !== undefined && strictBase64(place.logKey)?.length !== KEY_BYTES)) {
    throw new RangeError(`a log key has ${KEY_BYTES} bytes in base64`)
  }
  return judged<VerifiedInclusion | Invalid>(async () => {
    const proof = parseLogProof(text)
    if (proof === undefined) return tampered('the proof is malformed')
    const head = await trustedHead(proof.checkpoint, policy)
    if ('ok' in head) return head
    for (const { auditHash, place } of entries) {
      const entry = await logEntry(proof.salt, auditHash)
      if (entry === undefined) return tampered('the hash or the salt is malformed')
      if (!(await isIncluded(await leafHash(entry), proof.index, head, proof.hashes))) continue
      if (place !== undefined && !(await isSaltOf(proof.salt, place))) return tampered(elsewhere(place))
      return { ok: true, proved: provedBy(proof, auditHash, head, place), auditHash, index: proof.index, head }
    }
    return tampered(
      `the log does not have the entry in place ${proof.index}: the proof is of another one, or was changed`,
    )
  })
}

function elsewhere({ sequence }: ExpectedLogPlace): string {
  return `the log does not have it as entry ${sequence} of the account's chain: the log key finds no such entry`
}

async function isSaltOf(salt: Bytes, { logKey, sequence }: ExpectedLogPlace): Promise<boolean> {
  const key = strictBase64(logKey)
  return key !== undefined && base64(await entrySalt(key, sequence)) === base64(salt)
}

function provedBy(
  { index }: LogProof,
  auditHash: string,
  { origin, size, witnesses }: TrustedHead,
  place: ExpectedLogPlace | undefined,
): readonly string[] {
  const by = witnesses.length === 0 ? 'no witness of the policy' : witnesses.join(', ')
  return [
    `The log ${origin} has the entry with hash ${auditHash} in place ${index}.`,
    `Its head of ${size} entries is signed by the log, and by ${by}.`,
    ...(place === undefined ? [] : [`All who have the log key find it as entry ${place.sequence} of the account.`]),
  ]
}
