/** Responses about accounts (D2, D4, D9). */
import * as v from 'valibot'
import { TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { accountIdField, tokenIdField } from '../fields.ts'
import {
  count,
  countedPage,
  decimals,
  keyId,
  minimalDecimal,
  pageToken,
  publicJwk,
  sha256,
  shardId,
  timestamp,
  transactionId,
} from '../values.ts'
import { define } from '../named-schema.ts'

export const accountResponse = define('Account', 'An account.', {
  account_id: accountIdField,
  status: [v.picklist(['active', 'frozen', 'closed']), '`active`; `frozen`: it may only receive; `closed`: for good.'],
  erased: [v.exactOptional(v.literal(true)), 'True if the account was erased; absent otherwise.'],
  incoming: [v.picklist(['accept', 'refuse']), 'Whether it takes value in.'],
  public_key: [v.nullable(publicJwk), 'The key in force; null for an account that came into being without one.'],
  key_id: [v.nullable(keyId), 'Its RFC 7638 thumbprint.'],
  shard_id: shardId,
  sequence: [count, 'The number of the last entry of its audit chain.'],
  audit_hash: [sha256, 'The hash of the last entry of its audit chain.'],
  created_at: timestamp,
  updated_at: timestamp,
})

export const accountActorResponse = define('AccountActor', 'How the actor of an account is, and where.', {
  account_id: accountIdField,
  state: [
    v.picklist(['active', 'frozen', 'closed', 'erased']),
    'The state of its machine; `erased` is `closed` elsewhere.',
  ],
  paused: [v.boolean(), 'Whether an administrator has stopped what the account sends.'],
  shard_id: shardId,
  owner: [v.nullable(v.string()), 'The node that owns its shard; null while none does.'],
  version: [count, 'How often the account was written.'],
  holds: [count, 'The number of its unfinished operations: pending transactions, legs of groups, mints.'],
  pending_count: [count, 'Transactions among them that others decide on.'],
  resident: [v.boolean(), 'Whether the node had it in memory when it was asked.'],
  mailbox_length: [count, 'Commands that waited for it, this one included: 1 where nothing else waited.'],
})

export const accountListResponse = define('AccountList', 'One page of accounts.', {
  accounts: [v.array(accountResponse), 'The accounts of this page.'],
  ...countedPage,
})

export const accountLogKeyResponse = define('AccountLogKey', 'The log key of an account.', {
  account_id: accountIdField,
  log_key: [v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{43}=$/)), '32 bytes in base64.'],
})

export const accountStateResponse = define('AccountState', 'The end of an account’s audit chain.', {
  account_id: accountIdField,
  audit_hash: [sha256, 'The hash of the last entry.'],
  updated_at: timestamp,
})

const balanceFields = {
  token_id: tokenIdField,
  token_class: [v.literal('fungible'), 'Always `fungible`.'],
  balance: [minimalDecimal, 'All that is the account’s.'],
  available: [minimalDecimal, 'The part of `balance` that is not on hold and can be spent.'],
  incoming: [minimalDecimal, 'Value on its way to the account; part of neither `balance` nor `available`.'],
  decimals: [decimals, 'How many fractional digits amounts of the token have at most.'],
  updated_at: timestamp,
  as_of: [v.exactOptional(timestamp), 'The time that was asked for; absent without `as_of`.'],
  sequence: [v.exactOptional(count), 'The entry of the chain that states the balance; absent without `as_of`.'],
} as const

export const tokenBalanceResponse = define('TokenBalance', 'The balance of an account in a token.', balanceFields)
export const balanceResponse = define('Balance', 'The balance of the account in the token.', {
  account_id: accountIdField,
  ...balanceFields,
})

export const balanceListResponse = define('BalanceList', 'One page of what an account holds.', {
  account_id: accountIdField,
  balances: [v.array(tokenBalanceResponse), 'The balances of this page.'],
  next_page_token: pageToken,
})

export const auditEntryResponse = define('AuditEntry', 'An entry of an audit chain.', {
  sequence: count,
  txn_id: [
    v.nullable(transactionId),
    'The transaction; null for registrations, key rotations, changes of status and erasures.',
  ],
  previous_hash: sha256,
  audit_hash: sha256,
  payload: [
    v.nullable(v.string()),
    'Canonical JSON: exactly what was hashed, a random salt included; null of an account that was erased.',
  ],
  erased: [v.exactOptional(v.literal(true)), 'The account was erased; left out of others.'],
})

export const auditChainResponse = define('AuditChain', 'One page of an audit chain.', {
  account_id: accountIdField,
  entries: [v.array(auditEntryResponse), 'The entries of this page.'],
  ...countedPage,
})

/** Computed, with its sign. */
const signedAmount = v.pipe(v.string(), v.regex(/^[+-](0|[1-9][0-9]{0,17})(\.[0-9]{0,17}[1-9])?$/))

export const movementResponse = define('Movement', 'A change of a balance.', {
  sequence: [count, 'The entry of the account’s chain that states it.'],
  txn_id: [v.nullable(transactionId), 'The transaction; null for the balance that an imported account brought.'],
  type: [v.picklist([...TRANSACTION_TYPES, 'import']), 'The type of the transaction, or `import`.'],
  amount: [signedAmount, 'The change, with `+` or `-`.'],
  balance_after: [minimalDecimal, 'The balance after it.'],
  timestamp,
})

export const statementResponse = define(
  'Statement',
  'One page of the movements of a balance, signed by the service. `opening` and the amounts add up to `closing`.',
  {
    account_id: accountIdField,
    token_id: tokenIdField,
    from: [v.nullable(timestamp), 'The beginning, included; null: that of the account.'],
    to: [timestamp, 'The end, excluded.'],
    opening: [minimalDecimal, 'The balance before the first movement of the page.'],
    opening_sequence: [v.nullable(count), 'The entry that states it; null: there is none.'],
    movements: [v.array(movementResponse), 'The movements of this page, oldest first.'],
    closing: [minimalDecimal, 'The balance after the last movement of the page.'],
    closing_sequence: [v.nullable(count), 'The last entry that the page covers; null: there is none.'],
    first_page: [v.boolean(), 'Whether the statement begins with this page.'],
    last_page: [v.boolean(), 'Whether the statement ends with this page.'],
    ledger_id: [v.string(), 'The ledger.'],
    generated_at: timestamp,
    key_id: [keyId, 'The assertion key that signed it, in `/.well-known/jwks.json`.'],
    signature: [
      v.string(),
      'DER in base64, over the canonical JSON (RFC 8785) of the page without `signature` and `next_page_token`.',
    ],
    next_page_token: pageToken,
  },
)
