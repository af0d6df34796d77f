/**
 * The protocol of a key program, which holds keys outside the ledger: one JSON object on each line of its standard input
 * and output.
 *   Request:  {"id": 1, "op": "sign", "key": "...", "data": ["..."]}
 *   Reply:    {"id": 1, "results": ["..."]}  or  {"id": 1, "error": "key_not_found"}
 * Replies may be in any order. `data` and `results` are base64, in the same order.
 *   mac         HMAC-SHA-256 of each item: 32 bytes.
 *   sign        ECDSA on P-256 over each item, a SHA-256 digest of 32 bytes: 64 bytes r||s, or DER.
 *   public_key  `data` is empty. One result: an SPKI (DER, or PEM as it is) or an uncompressed SEC1 point.
 */
import * as v from 'valibot'
import { isKeyReference } from '../key-reference.ts'

export const KEY_OPERATIONS = ['mac', 'sign', 'public_key'] as const
export type KeyOperation = (typeof KEY_OPERATIONS)[number]

/** The error of a device that refused the PIN. Another attempt could lock it. */
export const LOGIN_REFUSED = 'login_refused'

/** Items in one request. */
export const MAX_ITEMS = 256
/** More than a reply to MAX_ITEMS needs. */
export const MAX_LINE_BYTES = 65_536

const items = v.pipe(v.array(v.string()), v.maxLength(MAX_ITEMS))
const id = v.pipe(v.number(), v.safeInteger())

export const requestSchema = v.object({
  id,
  op: v.picklist(KEY_OPERATIONS),
  key: v.pipe(v.string(), v.check(isKeyReference)),
  data: items,
})
export type KeyRequest = v.InferOutput<typeof requestSchema>

export const replySchema = v.union([
  v.object({ id, results: items }),
  v.object({ id, error: v.pipe(v.string(), v.regex(/^[a-z0-9_]{1,64}$/)) }),
])
export type KeyReply = v.InferOutput<typeof replySchema>
