/** Responses about imports (D20). */
import * as v from 'valibot'
import { count, keyId, publicJwk, text } from './values.ts'

const importId = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  v.metadata({ format: 'uuid' }),
)

export const importKeyResponse = v.object({ ledger_id: text, public_key: publicJwk, key_id: keyId })

export const importSummary = v.object({
  accounts: count,
  tokens: count,
  nft_classes: count,
  nft_instances: count,
  attestations: count,
  present: count,
})

/** A part was accepted, or all parts were and the import is not decided yet. */
export const importUnderWayResponse = v.object({
  import_id: importId,
  status: v.picklist(['staging', 'checking', 'applying', 'taking', 'refusing']),
  next_part: v.exactOptional(count),
  lines: v.exactOptional(count),
  done: v.exactOptional(count),
  total: v.exactOptional(count),
})

export const importDoneResponse = v.object({
  import_id: importId,
  status: v.literal('done'),
  summary: importSummary,
})

export const importRefusal = v.object({
  detail: text,
  error_codes: v.array(text),
  errors: v.array(v.object({ field: text, message: text })),
})

export const importResponse = v.object({
  import_id: importId,
  status: v.picklist(['staging', 'checking', 'applying', 'taking', 'done', 'refusing', 'refused']),
  next_part: count,
  lines: count,
  done: v.exactOptional(count),
  total: v.exactOptional(count),
  summary: v.exactOptional(importSummary),
  refusal: v.exactOptional(importRefusal),
})
