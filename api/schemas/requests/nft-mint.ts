/** The shape of a mint (D11): a signed body, so what it does not know it refuses. */
import * as v from 'valibot'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { Invalid } from '../../http/problem.ts'
import {
  ACCOUNT_ID_PATTERN,
  ACCOUNT_ID_RULE,
  accountIdField,
  checkedField,
  idempotencyKeyField,
  ledgerIdField,
  objectField,
  signatureField,
} from '../fields.ts'
import { defineClosed } from '../named-schema.ts'
import { isAccountId } from '../../../actors/identifiers.ts'
import { closedErrors } from '../read-body.ts'

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
  metadata: [objectField(METADATA_RULE, isMetadata), 'Data about the NFT.'],
  ledger_id: [
    v.exactOptional(ledgerIdField),
    'The ledger that this is for, as `/readyz` tells it. Required in production.',
  ],
  idempotency_key: idempotencyKeyField,
  signature: signatureField,
})
/** Everything that is wrong with the body; empty when it is a mint in this class that the ledger can judge. */
export function mintErrors(body: JsonObject, classId: string): readonly Invalid[] {
  const invalid = closedErrors(mintSchema, body)
  const { class_id: named } = body
  if (typeof named === 'string' && named !== classId) {
    invalid.push({ field: 'class_id', code: 'ERR_INVALID_CLASS_ID', message: CLASS_RULE })
  }
  return invalid
}

function isMetadata(value: JsonObject): boolean {
  return Buffer.byteLength(canonicalJson(value)) <= MAX_METADATA_BYTES
}
