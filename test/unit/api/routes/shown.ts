/** Written by hand: the JSON for the resources of written-requests.ts and edge-fixture.ts. */
import { GROUP_ID, TXN_ID } from '../fakes/edge-fixture.ts'
import { HOLD_ID } from '../fakes/fake-holds.ts'
import { CLASS_ID, JWK, KEY } from './written-requests.ts'

export const AT = '2025-10-09T08:53:20.000Z'
export const METADATA = { weight: 1.5, color: 'red' }

export const ACCOUNT_SHOWN = {
  account_id: 'alice',
  status: 'active',
  incoming: 'accept',
  public_key: JWK,
  key_id: KEY.keyId,
  shard_id: 7,
  sequence: 3,
  audit_hash: `sha256:${'ab'.repeat(32)}`,
  created_at: AT,
  updated_at: '2025-10-09T08:53:21.500Z',
}
export const KEYLESS = { public_key: null, key_id: null }
export const ERASED_SHOWN = { ...ACCOUNT_SHOWN, ...KEYLESS, status: 'closed', erased: true }
export const ACTOR_SHOWN = {
  account_id: 'alice',
  state: 'active',
  paused: false,
  shard_id: 7,
  owner: 'node-1',
  version: 3,
  holds: 2,
  pending_count: 1,
  resident: true,
  mailbox_length: 4,
}
export const TOKEN_SHOWN = {
  token_id: 'EUR.x',
  symbol: 'EUR.x',
  decimals: 2,
  issuer: 'issuer@bank',
  total_supply: '1000.5',
  created_at: AT,
}
export const CLASS_SHOWN = {
  class_id: CLASS_ID,
  name: 'Gems',
  description: 'Stones',
  issuer: 'alice',
  metadata_schema: { type: 'object' },
  created_at: AT,
}
export const INSTANCE_SHOWN = {
  instance_id: 'ruby:1@x',
  owner: 'alice',
  status: 'active',
  metadata: METADATA,
  minted_at: AT,
}
export const GROUP_SHOWN = {
  group_id: GROUP_ID,
  status: 'open',
  terms_hash: `sha256:${'ef'.repeat(32)}`,
  expected_legs: 2,
  legs: [
    {
      account_id: 'alice',
      type: 'debit',
      amount: '10.50',
      token_id: 'BASE',
      boundary: true,
      leg_status: 'completed',
      txn_id: TXN_ID,
    },
    {
      account_id: 'bob',
      type: 'transfer',
      amount: '2',
      token_id: 'EUR.x',
      to_account_id: 'carol',
      leg_status: 'expected',
    },
  ],
  compensations: [],
  partial_failures: [],
  created_at: AT,
  due_at: '2025-10-09T09:08:20.000Z',
  finished_at: null,
}
export const HOLD_SHOWN = {
  hold_id: HOLD_ID,
  status: 'active',
  account_id: 'alice',
  to_account_id: 'bob',
  token_id: 'EUR.x',
  amount: '10.5',
  captured: '4',
  remaining: '6.5',
  expires_at: '2025-10-09T09:08:20.000Z',
  created_at: AT,
}
export const LISTED_TRANSACTION = {
  txn_id: TXN_ID,
  account_id: 'alice',
  amount: '10.50',
  type: 'credit',
  token_id: 'BASE',
  status: 'completed',
}
export const TRANSACTION_SHOWN = {
  ...LISTED_TRANSACTION,
  shard_id: 7,
  created_at: AT,
  audit_hash: `sha256:${'cd'.repeat(32)}`,
  balance_after: '20.5',
  available_after: '12',
  origin: 'client',
  processed_at: '2025-10-09T08:53:20.004Z',
}
