/** What the values of the interface look like, by its specification and nothing of ours. */
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
export const TXN_ID = /^txn_[0-9A-HJKMNP-TV-Z]{26}$/
export const ATTESTATION_ID = /^att_[0-9A-HJKMNP-TV-Z]{26}$/
export const CLASS_ID = /^cls_[0-9A-HJKMNP-TV-Z]{26}$/
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const SHA_256 = /^sha256:[0-9a-f]{64}$/
/** Of computed quantities. */
export const MINIMAL_DECIMAL = /^(0|[1-9][0-9]{0,37})(\.[0-9]{0,17}[1-9])?$/

/** Of the chain before its first entry. */
export const NO_HASH = `sha256:${'0'.repeat(64)}`

/** IDs that are well formed and name nothing. */
export const NO_CLASS = `cls_${'0'.repeat(26)}`
export const NO_TXN = `txn_${'0'.repeat(26)}`
export const NO_ATTESTATION = `att_${'0'.repeat(26)}`

/** What one byte more is 413. */
export const BODY_LIMIT_BYTES = 1_048_576
