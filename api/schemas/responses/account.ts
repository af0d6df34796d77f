/** Responses about accounts (D2, D4, D9). */
import * as v from 'valibot'
import { accountIdField, tokenIdField } from '../fields.ts'
import {
  count,
  countRelation,
  keyId,
  minimalDecimal,
  pageToken,
  publicJwk,
  sha256,
  shardId,
  timestamp,
  transactionId,
} from './values.ts'

export const accountResponse = v.object({
  account_id: accountIdField,
  status: v.picklist(['active', 'frozen', 'closed']),
  erased: v.exactOptional(v.literal(true)),
  incoming: v.picklist(['accept', 'refuse']),
  public_key: v.nullable(publicJwk),
  key_id: v.nullable(keyId),
  shard_id: shardId,
  sequence: count,
  audit_hash: sha256,
  created_at: timestamp,
  updated_at: timestamp,
})

export const accountActorResponse = v.object({
  account_id: accountIdField,
  state: v.picklist(['active', 'frozen', 'closed', 'erased']),
  paused: v.boolean(),
  shard_id: shardId,
  owner: v.nullable(v.string()),
  version: count,
  holds: count,
  pending_count: count,
  resident: v.boolean(),
  mailbox_length: count,
})

export const accountListResponse = v.object({
  accounts: v.array(accountResponse),
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
})

export const accountStateResponse = v.object({ account_id: accountIdField, audit_hash: sha256, updated_at: timestamp })

const balanceEntries = {
  token_id: tokenIdField,
  token_class: v.literal('fungible'),
  balance: minimalDecimal,
  available: minimalDecimal,
  incoming: minimalDecimal,
  decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(18)),
  updated_at: timestamp,
}

export const tokenBalanceResponse = v.object(balanceEntries)
export const balanceResponse = v.object({ account_id: accountIdField, ...balanceEntries })

export const balanceListResponse = v.object({
  account_id: accountIdField,
  balances: v.array(tokenBalanceResponse),
  next_page_token: pageToken,
})

export const auditEntryResponse = v.object({
  sequence: count,
  txn_id: v.nullable(transactionId),
  previous_hash: sha256,
  audit_hash: sha256,
  payload: v.nullable(v.string()),
  erased: v.exactOptional(v.literal(true)),
})

export const auditChainResponse = v.object({
  account_id: accountIdField,
  entries: v.array(auditEntryResponse),
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
})
