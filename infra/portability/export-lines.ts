/** Writes export lines: numbered, each with the hash of the line before, and the ledger's signature over all of them. */
import { createHash } from 'node:crypto'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import {
  type ExportRecord,
  lineHash,
  NO_LINE,
  PROOF_SYSTEM,
  type ProofRecord,
} from '../../api/schemas/requests/export-records.ts'
import { signAssertion } from '../../api/endpoint/service-signature.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'

/** A record without its line number and previous hash. */
export type RecordBody = BodyOf<ExportRecord>
type BodyOf<Of> = Of extends unknown ? Omit<Of, 'line' | 'previous_hash'> : never

/** Bytes. A record must fit into an import request together with its envelope. */
export const LONGEST_RECORD = 900_000

export class RecordTooLong extends Error {
  override readonly name = 'RecordTooLong'
}

export class ExportLines {
  private line = 0
  private previousHash = NO_LINE
  private readonly hash = createHash('sha256')

  /** The line with its line feed. Throws RecordTooLong. */
  add(body: RecordBody): string {
    const text = canonicalJson(this.recordOf(body))
    if (Buffer.byteLength(text, 'utf8') > LONGEST_RECORD) throw new RecordTooLong('A record is too long.')
    this.line += 1
    this.previousHash = lineHash(text)
    this.hash.update(`${text}\n`, 'utf8')
    return `${text}\n`
  }

  /** Hash over all lines so far: `sha256:` and 64 hexadecimal digits. */
  proofHash(): string {
    return `sha256:${this.hash.copy().digest('hex')}`
  }

  /** `body` as the next line, without adding it. */
  recordOf<Body extends object>(body: Body): Body & Pick<ProofRecord, 'line' | 'previous_hash'> {
    return { ...body, line: this.line, previous_hash: this.previousHash }
  }
}

/** The text that the proof's signature covers. */
export function signedProof({ signature: _signature, ...signed }: ProofRecord): string {
  return canonicalJson(signed satisfies JsonObject)
}

export interface ProofMaker {
  readonly ledgerId: string
  readonly serviceKeys: ServiceKeys
  readonly clock: Pick<Clock, 'now'>
}

/** The last line, with its line feed. Throws when no key can sign. */
export async function proofLine(
  lines: ExportLines,
  { audience, requester }: { readonly audience: string; readonly requester: string },
  { ledgerId, serviceKeys, clock }: ProofMaker,
): Promise<string> {
  const { content, signature } = await signAssertion(serviceKeys, clock.now(), (keyId, at) =>
    lines.recordOf({
      record: 'proof' as const,
      ledger_id: ledgerId,
      audience,
      timestamp: at,
      requester,
      proof_system: PROOF_SYSTEM,
      proof_hash: lines.proofHash(),
      key_id: keyId,
    }),
  )
  return lines.add({ ...content, signature })
}
