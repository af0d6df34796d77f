/** The shape of a mint (D11): a signed body, so what it does not know it refuses. */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import type { Invalid } from '../http/problem.ts'
import {
  ACCOUNT_ID_PATTERN,
  ACCOUNT_ID_RULE,
  accountIdField,
  checkedField,
  idempotencyKeyField,
  ledgerIdField,
  signatureField,
} from './fields.ts'
import { schemaErrors, unknownFields } from '../http/invalid.ts'
import { isObject } from './nft-class.ts'
import { defineClosed } from './named-schema.ts'
import { isAccountId } from '../../actors/identifiers.ts'

const MAX_METADATA_BYTES = 65_536

const CLASS_RULE = 'must be the class ID in the path'
const METADATA_RULE = 'must be an object of at most 65,536 bytes as canonical JSON'

export const mintSchema = defineClosed('NftMint', 'A signed mint.', {
  class_id: [v.string(CLASS_RULE), 'The class of the path, so that it is signed.'],
  instance_id: [
    checkedField(ACCOUNT_ID_RULE, isAccountId, { pattern: ACCOUNT_ID_PATTERN }),
    'The NFT’s ID within the class, chosen by the issuer.',
  ],
  account_id: [accountIdField, 'The issuer of the class, whose key signs.'],
  owner: [v.exactOptional(accountIdField), 'The first owner; the issuer by default.'],
  metadata: [
    v.pipe(v.custom<JsonObject>(isMetadata, METADATA_RULE), v.metadata({ type: 'object', additionalProperties: true })),
    'Data about the NFT.',
  ],
  ledger_id: [
    v.exactOptional(ledgerIdField),
    'The ledger that this is for, as `/readyz` tells it. Required in production.',
  ],
  idempotency_key: idempotencyKeyField,
  signature: signatureField,
})
const MINT_FIELDS: ReadonlySet<string> = new Set(Object.keys(mintSchema.entries))

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
