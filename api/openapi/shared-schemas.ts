/** The schemas of values and answers that many endpoints share, by the names that the document gives them. */
import { publicKeyField } from '../schemas/account.ts'
import { accountIdField, amountField, idempotencyKeyField, signatureField, tokenIdField } from '../schemas/fields.ts'
import { problemResponse } from '../schemas/responses/problem.ts'
import {
  attestationId,
  classId,
  derSignature,
  groupId,
  instanceId,
  keyId,
  minimalDecimal,
  minimalTotal,
  pageToken,
  publicJwk,
  sha256,
  shardId,
  timestamp,
  transactionId,
} from '../schemas/responses/values.ts'
import type { NamedSchema } from '../endpoint/operation.ts'

export const SHARED_SCHEMAS: Readonly<Record<string, NamedSchema>> = {
  AccountId: { schema: accountIdField, description: 'An account. `.` and `..` are none.' },
  TokenId: {
    schema: tokenIdField,
    description: 'A fungible token: its symbol as registered, or `BASE`, the ledger’s own unit.',
  },
  TransactionId: { schema: transactionId, description: 'A transaction: `txn_` and a ULID.' },
  GroupId: {
    schema: groupId,
    description: 'A UUID in lower case that links transactions, or names a settlement group.',
  },
  ClassId: { schema: classId, description: 'An NFT class: `cls_` and a ULID.' },
  InstanceId: { schema: instanceId, description: 'An NFT within its class; formed like an account ID.' },
  AttestationId: { schema: attestationId, description: 'An attestation: `att_` and a ULID.' },
  ShardId: { schema: shardId, description: 'A shard of the ledger: a keyed hash of the account ID decides it.' },
  Amount: { schema: amountField, description: 'A quantity above zero, as it was signed: trailing zeros are kept.' },
  Quantity: {
    schema: minimalDecimal,
    description: 'A computed quantity in minimal form, as `100.5` or `0`; never an exponent.',
  },
  Total: {
    schema: minimalTotal,
    description: 'A total over many accounts in minimal form, with up to 38 integer digits.',
  },
  Timestamp: { schema: timestamp, description: 'ISO 8601 in UTC with milliseconds.' },
  Hash: { schema: sha256, description: 'A SHA-256 hash: `sha256:` and 64 hexadecimal digits.' },
  IdempotencyKey: {
    schema: idempotencyKeyField,
    description:
      'Chosen by the client, once per account and kind of order; never expires. Sent again, it gets the first answer again.',
  },
  Signature: {
    schema: signatureField,
    description:
      'ECDSA P-256 over the SHA-256 of the canonical JSON (RFC 8785) of the body without `signature`: base64url or base64 of the 64 bytes r||s, or of DER.',
  },
  ServiceSignature: {
    schema: derSignature,
    description:
      'A signature of the service: base64 of DER, ECDSA P-256 with SHA-256. Its keys are in `/.well-known/jwks.json`.',
  },
  KeyId: { schema: keyId, description: 'The RFC 7638 thumbprint of a P-256 key.' },
  PublicKey: {
    schema: publicKeyField,
    description:
      'A P-256 public key of at most 2,048 characters: a JWK without a private part, a PEM (SPKI), or base64url of a SEC1 point or of DER SPKI.',
  },
  PublicJwk: { schema: publicJwk, description: 'A P-256 public key as a JWK.' },
  PageToken: {
    schema: pageToken,
    description: 'Where the next page begins; empty on the last one. Opaque: send it back as `page_token`.',
  },
  Problem: {
    schema: problemResponse,
    description: 'Why a request was refused, or could not be answered (RFC 9457).',
    fields: {
      type: 'Which kind of problem this is: an address that explains it.',
      title: 'The kind of problem in words.',
      status: 'The HTTP status.',
      detail: 'An explanation of this occurrence.',
      instance: 'The path of the request as it was sent, percent-encoded.',
      request_id: 'The ID of the request, as in the header `X-Request-Id`. Quote it in a support request.',
      errors:
        'Each part of the request that is wrong: in every 400, and where a body names what does not exist. At most 100.',
      error_codes: 'For programs: every code that applies.',
      outcome:
        'In a 503 to a request that changes the ledger: `not_applied` is proved, `unknown` is not. Retry both with the same key.',
      key_id: 'For a signature mismatch: the key expected to sign. Absent if the account has no key.',
      payload_digest:
        'For a signature mismatch: the SHA-256 of the canonical payload that the service computed. If it differs from yours, the canonical forms differ.',
    },
  },
}
