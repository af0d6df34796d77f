/**
 * Requests to witnesses, as logs send them and witnesses read them. https://c2sp.org/tlog-witness
 *
 *   old <size that the witness saw last>
 *   <hash of the consistency proof>...
 *
 *   <signed head>
 */
import { parseCount } from '../../api/client/log/checkpoint.ts'
import { noteText, parseNote, type SignedNote, strictBase64 } from '../../api/client/log/signed-note.ts'
import { base64, type Bytes } from '../../api/client/signing/bytes.ts'

export interface WitnessRequest {
  readonly oldSize: number
  readonly proof: readonly Bytes[]
  readonly checkpoint: SignedNote
}

export const MOST_PROOF_HASHES = 63
/** A clock of a witness that differs more is wrong. */
export const CLOCK_TOLERANCE_MS = 300_000
export const SIZE_TYPE = 'text/x.tlog.size'

const HASH_BYTES = 32

export function witnessRequestText({ oldSize, proof, checkpoint }: WitnessRequest): string {
  return [`old ${oldSize}`, ...proof.map(base64), '', noteText(checkpoint)].join('\n')
}

/** Undefined for a malformed request. */
export function parseWitnessRequest(text: string): WitnessRequest | undefined {
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\n')
  const oldSize = first.startsWith('old ') ? parseCount(first.slice('old '.length)) : undefined
  const checkpoint = parseNote(text.slice(end + 2))
  const proof = lines.map(strictBase64)
  if (oldSize === undefined || checkpoint === undefined || proof.length > MOST_PROOF_HASHES) return undefined
  if (!proof.every((hash) => hash?.length === HASH_BYTES)) return undefined
  return { oldSize, proof: proof as readonly Bytes[], checkpoint }
}
