/** The last line of an export: requester, audience, and the ledger's signature over all lines before it. */
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { PROOF_SYSTEM, type ProofRecord } from '../../api/schemas/export-records.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { ServiceKeys } from '../../runtime/ports/service-keys.ts'
import type { ExportLines } from './export-lines.ts'

/** The text that the signature covers. */
export function signedProof({ signature: _signature, ...signed }: ProofRecord): string {
  return canonicalJson(signed satisfies JsonObject)
}

export interface ProofMaker {
  readonly ledgerId: string
  readonly serviceKeys: ServiceKeys
  readonly clock: Pick<Clock, 'now'>
}

/** The line with its line feed. Throws when no key can sign. */
export async function proofLine(
  lines: ExportLines,
  { audience, requester }: { readonly audience: string; readonly requester: string },
  { ledgerId, serviceKeys, clock }: ProofMaker,
): Promise<string> {
  const nowMs = clock.now()
  const keyId = serviceKeys.current('assertion')
  const key = serviceKeys.published().find((published) => published.keyId === keyId)
  const unsigned = lines.recordOf({
    record: 'proof',
    ledger_id: ledgerId,
    audience,
    // The key may have come into use since the clock was read.
    timestamp: isoTimestamp(Math.max(nowMs, key?.activeFromMs ?? nowMs)),
    requester,
    proof_system: PROOF_SYSTEM,
    proof_hash: lines.proofHash(),
    key_id: keyId,
    signature: '',
  })
  const [signature] = await serviceKeys.sign(keyId, [signedProof(unsigned)])
  if (signature === undefined) throw new Error('the assertion key did not sign')
  return lines.add({ ...unsigned, signature })
}
