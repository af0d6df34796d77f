/** The shape of a mint (D11): a signed body, so what it does not know it refuses. */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import type { Invalid } from '../http/problem.ts'
import { accountIdField, idempotencyKeyField, ledgerIdField, signatureField } from './fields.ts'
import { objectMessage, schemaErrors, unknownFields } from '../http/invalid.ts'
import { isObject } from './nft-class.ts'

const MAX_METADATA_BYTES = 65_536

const CLASS_RULE = 'must be the class ID in the path'
const INSTANCE_RULE = 'must be 1 to 128 characters of a-z, A-Z, 0-9 and _ . - : @'
const METADATA_RULE = 'must be an object of at most 65,536 bytes as canonical JSON'

const mintEntries = {
  class_id: v.string(CLASS_RULE),
  instance_id: v.pipe(
    v.string(INSTANCE_RULE),
    v.check((text) => v.is(accountIdField, text), INSTANCE_RULE),
    v.metadata({ pattern: '^(?!\\.{1,2}$)[A-Za-z0-9_.:@-]{1,128}$' }),
  ),
  account_id: accountIdField,
  owner: v.exactOptional(accountIdField),
  metadata: v.pipe(
    v.custom<JsonObject>((value) => isMetadata(value), METADATA_RULE),
    v.metadata({ type: 'object', additionalProperties: true }),
  ),
  ledger_id: v.exactOptional(ledgerIdField),
  idempotency_key: idempotencyKeyField,
  signature: signatureField,
}
export const mintSchema = v.object(mintEntries, objectMessage)
const MINT_FIELDS: ReadonlySet<string> = new Set(Object.keys(mintEntries))

/** Everything that is wrong with the body; empty when it is a mint in this class that the ledger can judge. */
export function mintErrors(body: JsonObject, classId: string): readonly Invalid[] {
  const invalid = [...schemaErrors(mintSchema, body), ...unknownFields(body, MINT_FIELDS)]
  const { class_id: named } = body
  if (typeof named === 'string' && named !== classId) {
    invalid.push({ field: 'class_id', code: 'ERR_INVALID_CLASS_ID', message: CLASS_RULE })
  }
  return invalid
}

function isMetadata(value: unknown): boolean {
  return isObject(value) && Buffer.byteLength(canonicalJson(value as JsonObject)) <= MAX_METADATA_BYTES
}
