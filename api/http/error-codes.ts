/**
 * The only table of error codes (D14): the types of problem that may carry each, all of one status, and what it means. The
 * union of codes, what a problem may be made of, and the pages about problems follow from it.
 */

/** The texts are shown on pages for people: text in backticks is code. */
export const ERROR_CODES = {
  ERR_NOT_FOUND: {
    types: ['not-found'],
    meaning: 'There is no such resource, or the body names an account, token, class or instance that does not exist.',
  },
  ERR_INSUFFICIENT_FUNDS: {
    types: ['conflict'],
    meaning: 'The amount of the hold is larger than the available balance; nothing was reserved.',
  },
  ERR_CONFLICT: {
    types: ['conflict'],
    meaning: 'The resource exists already, or its state does not permit the change.',
  },
  ERR_PAYLOAD_TOO_LARGE: { types: ['payload-too-large'], meaning: 'The body is larger than 1 MB (1,048,576 bytes).' },
  ERR_UNSUPPORTED_CONTENT_TYPE: {
    types: ['unsupported-media-type'],
    meaning: '`Content-Type` is not `application/json`, or the body has a `Content-Encoding`.',
  },
  ERR_SHARD_UNAVAILABLE: {
    types: ['shard-unavailable'],
    meaning: 'The shard that this needs has no owner at this moment: its ownership is moving.',
  },
  ERR_DOWNSTREAM_FAILURE: {
    types: ['downstream-failure'],
    meaning: 'An internal dependency is temporarily not available.',
  },
  ERR_INVALID_ACCOUNT_ID: {
    types: ['invalid-request', 'validation-error'],
    meaning: 'An account ID is missing, or is not 1 to 128 characters of a-z, A-Z, 0-9 and _ . - : @.',
  },
  ERR_INVALID_AMOUNT: {
    types: ['invalid-request', 'validation-error'],
    meaning:
      'An amount is missing, is not a decimal string with at most 18 integer and 18 fractional digits, is not above zero where it must be, or is finer than its token.',
  },
  ERR_INVALID_TYPE: {
    types: ['invalid-request', 'validation-error'],
    meaning: 'The type is missing or not one of the six types of transactions, or not one that this takes.',
  },
  ERR_INVALID_SIGNATURE: { types: ['validation-error'], meaning: 'The signature is missing or not a string.' },
  ERR_INVALID_IDEMPOTENCY_KEY: {
    types: ['invalid-request', 'validation-error'],
    meaning: 'The idempotency key is missing, or is not 1 to 255 printable ASCII characters.',
  },
  ERR_INVALID_GROUP_ID: {
    types: ['invalid-request', 'validation-error'],
    meaning: 'The group ID is not a UUID, or is missing where the transaction needs one.',
  },
  ERR_SELF_TRANSFER: { types: ['validation-error'], meaning: 'A transfer would go to the account it comes from.' },
  ERR_INVALID_TOKEN_ID: {
    types: ['invalid-request', 'validation-error'],
    meaning: 'The token ID is missing where one is needed, or cannot be that of a token.',
  },
  ERR_INVALID_SYMBOL: { types: ['validation-error'], meaning: 'The symbol is missing or not well formed.' },
  ERR_INVALID_DECIMALS: { types: ['validation-error'], meaning: '`decimals` is not a whole number from 0 to 18.' },
  ERR_INVALID_ISSUER: { types: ['validation-error'], meaning: 'The issuer is missing or not an account ID.' },
  ERR_INVALID_TOTAL_SUPPLY: {
    types: ['validation-error'],
    meaning: 'The total supply is missing, negative, not a decimal string, or finer than the token.',
  },
  ERR_INVALID_INITIAL_SUPPLY: {
    types: ['validation-error'],
    meaning: 'The initial supply of a record is missing, negative, not a decimal string, or finer than the token.',
  },
  ERR_INVALID_BALANCE: {
    types: ['validation-error'],
    meaning:
      'The encrypted balance of a record is missing, does not open, is of another account or token, or is no quantity above zero that its token can have.',
  },
  ERR_INVALID_CREATED_AT: {
    types: ['validation-error'],
    meaning: '`created_at` of a record is missing or not RFC 3339 with an offset.',
  },
  ERR_INVALID_UPDATED_AT: {
    types: ['validation-error'],
    meaning: '`updated_at` of a record is missing, not RFC 3339 with an offset, or before `created_at`.',
  },
  ERR_INVALID_PROOF_SYSTEM: {
    types: ['validation-error'],
    meaning: 'The proof system of an export is missing or not `ecdsa-p256-sha256`.',
  },
  ERR_INVALID_PROOF_HASH: {
    types: ['validation-error'],
    meaning: 'The hash in the proof of an export is missing, or is not that of the records before it.',
  },
  ERR_INVALID_CLASS_ID: { types: ['validation-error'], meaning: 'The ID of an NFT class is missing or wrong.' },
  ERR_INVALID_NAME: { types: ['validation-error'], meaning: 'The name is missing or not 1 to 256 characters.' },
  ERR_INVALID_SCHEMA: {
    types: ['validation-error'],
    meaning: 'The metadata schema is missing, not a valid JSON Schema, or more than the ledger evaluates.',
  },
  ERR_INVALID_REQUESTER: {
    types: ['validation-error'],
    meaning: 'The requester is missing or not 1 to 256 characters.',
  },
  ERR_INVALID_HEALTH_STATE: {
    types: ['validation-error'],
    meaning: 'The health state of a shard is missing or not one that can be set.',
  },
  ERR_INVALID_TXN_COUNT: {
    types: ['validation-error'],
    meaning: 'The transaction count is negative or not a whole number.',
  },
  ERR_NO_SHARDS: { types: ['shard-unavailable'], meaning: 'The ledger was not created yet: it has no shards.' },
  ERR_NO_HEALTHY_SHARDS: {
    types: ['shard-unavailable'],
    meaning: 'No shard of the ledger has an owner at this moment.',
  },
  ERR_INVALID_TIMESTAMP: {
    types: ['invalid-request', 'validation-error'],
    meaning: 'A time is not RFC 3339 with an offset, or `expires_at` is past.',
  },
  ERR_UNAUTHORIZED: {
    types: ['unauthorized'],
    meaning: 'There is no access token, it is not valid, or the credentials are wrong.',
  },
  ERR_FORBIDDEN: {
    types: ['forbidden'],
    meaning: 'The role or the grants of the client do not permit this, or the account has no key to sign with.',
  },
  ERR_SIGNATURE_MISMATCH: {
    types: ['forbidden'],
    meaning:
      'The signature does not verify under the key `key_id` over the canonical JSON of the body, whose SHA-256 is `payload_digest`.',
  },
  ERR_NOT_ISSUER: { types: ['forbidden'], meaning: 'Only the issuer may do this.' },
  ERR_INVALID_PUBLIC_KEY: {
    types: ['validation-error'],
    meaning: 'The public key is missing, not a P-256 key in one of the forms taken, or carries a private part.',
  },
  ERR_WRONG_LEDGER: {
    types: ['validation-error'],
    meaning: '`ledger_id` names another ledger, or is missing where it is required.',
  },
  ERR_INVALID_QUERY: {
    types: ['invalid-request'],
    meaning: 'A query parameter is unknown, repeated or malformed, or is the page token of another query.',
  },
  ERR_INVALID_FIELD: {
    types: ['invalid-request', 'validation-error'],
    meaning: 'A field has no code of its own and is missing or wrong, or the body cannot be read as JSON.',
  },
  ERR_UNKNOWN_FIELD: {
    types: ['validation-error'],
    meaning: 'A signed body has a field that is not known: in a money order a misspelt field must not be ignored.',
  },
  ERR_METHOD_NOT_ALLOWED: { types: ['method-not-allowed'], meaning: 'The resource has no such method.' },
  ERR_RATE_LIMITED: {
    types: ['rate-limited'],
    meaning: 'The client has sent more requests, or the account more orders, than the operator allows.',
  },
  ERR_OVERLOADED: {
    types: ['shard-unavailable', 'downstream-failure'],
    meaning: 'There is more to do than is taken at this moment.',
  },
} as const satisfies Record<string, { readonly types: readonly string[]; readonly meaning: string }>
