/** Responses about the administrative chain. */
import * as v from 'valibot'
import { define } from '../named-schema.ts'
import { count, keyId, pageToken, sha256, timestamp } from '../values.ts'

export const administrativeEntryResponse = define('AdministrativeEntry', 'An entry of the administrative chain.', {
  sequence: count,
  previous_hash: sha256,
  audit_hash: sha256,
  payload: [
    v.nullable(v.string()),
    'Canonical JSON: exactly what was hashed, a random salt included. `act` is an operation ID or a command, `client_id` null for a command, and `of` null for an act; for an outcome it is the sequence of its act. null: the stored text was changed, or cannot be read.',
  ],
})

export const administrativeHeadResponse = define(
  'AdministrativeHead',
  'The last entry of a page, and how many the chain has, signed.',
  {
    type: v.literal('administrative_chain'),
    ledger_id: [v.string(), 'The ledger.'],
    sequence: count,
    audit_hash: sha256,
    total_count: [count, 'Entries of the whole chain when the page was read.'],
    at: [timestamp, 'When it was signed.'],
    key_id: [keyId, 'The assertion key that signed it, in `/.well-known/jwks.json`.'],
    signature: [v.string(), 'DER in base64, over the canonical JSON (RFC 8785) of the head without `signature`.'],
  },
)

export const administrativeChainResponse = define('AdministrativeChain', 'One page of the administrative chain.', {
  ledger_id: [v.string(), 'The ledger.'],
  entries: [v.array(administrativeEntryResponse), 'The entries of this page.'],
  head: [v.exactOptional(administrativeHeadResponse), 'Absent from an empty page, and with `account_id`.'],
  next_page_token: pageToken,
  total_count: [v.exactOptional(count), 'Entries of the whole chain; absent with `account_id`.'],
  total_count_relation: [v.exactOptional(v.literal('eq')), 'The count is exact.'],
})
