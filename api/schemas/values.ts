/**
 * The values that responses are made of, as strict as the interface is: what a client may rely on, and what a test of the
 * interface demands. Objects of the responses take further members, because within /v1 fields are added.
 */
import * as v from 'valibot'
import { ACCOUNT_ID_PATTERN } from './fields.ts'
import { define, named } from './named-schema.ts'

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}'
const MAX_SHARD_ID = 65_535

export const timestamp = named(
  'Timestamp',
  'ISO 8601 in UTC with milliseconds.',
  v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/), v.metadata({ format: 'date-time' })),
)

/** Computed: minimal form (D4). */
export const minimalDecimal = named(
  'Quantity',
  'A computed quantity in minimal form, as `100.5` or `0`; never an exponent.',
  v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]{0,17})(\.[0-9]{0,17}[1-9])?$/)),
)
/** Computed over many accounts: up to 38 integer digits (D12). */
export const minimalTotal = named(
  'Total',
  'A total over many accounts in minimal form, with up to 38 integer digits.',
  v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]{0,37})(\.[0-9]{0,17}[1-9])?$/)),
)

export const transactionId = named(
  'TransactionId',
  'A transaction: `txn_` and a ULID.',
  v.pipe(v.string(), v.regex(new RegExp(`^txn_${ULID}$`))),
)
export const holdId = named(
  'HoldId',
  'A hold: `hld_` and a ULID.',
  v.pipe(v.string(), v.regex(new RegExp(`^hld_${ULID}$`))),
)
export const attestationId = named(
  'AttestationId',
  'An attestation: `att_` and a ULID.',
  v.pipe(v.string(), v.regex(new RegExp(`^att_${ULID}$`))),
)
export const classId = named(
  'ClassId',
  'An NFT class: `cls_` and a ULID.',
  v.pipe(v.string(), v.regex(new RegExp(`^cls_${ULID}$`))),
)
/** The minter chooses it; it has the form of an account ID (D1). */
export const instanceId = named(
  'InstanceId',
  'An NFT within its class; formed like an account ID.',
  v.pipe(v.string(), v.regex(new RegExp(ACCOUNT_ID_PATTERN))),
)
/** Lower case (D1). */
export const groupId = named(
  'GroupId',
  'A UUID in lower case that links transactions, or names a settlement group.',
  v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/), v.metadata({ format: 'uuid' })),
)

export const sha256 = named(
  'Hash',
  'A SHA-256 hash: `sha256:` and 64 hexadecimal digits.',
  v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
)
/** Base64 of DER (D9, D12): a P-256 signature has 66 to 72 bytes but for one in billions. */
export const derSignature = named(
  'ServiceSignature',
  'A signature of the service: base64 of DER, ECDSA P-256 with SHA-256. Its keys are in `/.well-known/jwks.json`.',
  v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{86,96}={0,2}$/)),
)
/** RFC 7638: SHA-256 in base64url. */
export const keyId = named(
  'KeyId',
  'The RFC 7638 thumbprint of a P-256 key.',
  v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/)),
)
const coordinate = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{43}$/))
/** RFC 7517 and RFC 7518: a point on P-256. */
export const publicJwk = define('PublicJwk', 'A P-256 public key as a JWK.', {
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: coordinate,
  y: coordinate,
})

export const shardId = named(
  'ShardId',
  'A shard of the ledger: a keyed hash of the account ID decides it.',
  v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_SHARD_ID)),
)
/** How many fractional digits a token has at most (D1). */
export const decimals = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(18))
/** Zero or above, exact as a JSON number. */
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** Whether a count is exact, or a lower bound (D16). */
export const countRelation = v.picklist(['eq', 'gte'])
/** Empty on the last page (D16). */
export const pageToken = named(
  'PageToken',
  'Where the next page begins; empty on the last one. Opaque: send it back as `page_token`.',
  v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{0,512}$/)),
)
/** The members after the items of a page, if the list is counted. */
export const countedPage = {
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
}
export const text = v.pipe(v.string(), v.nonEmpty())
/** Snake case: what went wrong, for programs. More of them may come. */
export const reasonCode = v.pipe(v.string(), v.regex(/^[a-z]+(_[a-z]+)*$/))
/** Any JSON object. */
export const jsonObject = v.record(v.string(), v.unknown())
/** A flat object of strings (D5). */
export const transactionMetadata = v.record(v.string(), v.string())
