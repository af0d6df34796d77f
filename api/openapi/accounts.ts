/** Accounts: their keys, their status, what they hold, and their audit chains (D2, D4, D9). */
import { erasureSchema, pauseSchema, registrationSchema, rotationSchema, statusSchema } from '../schemas/account.ts'
import {
  accountActorResponse,
  accountListResponse,
  accountResponse,
  accountStateResponse,
  auditChainResponse,
  auditEntryResponse,
  balanceListResponse,
  balanceResponse,
  tokenBalanceResponse,
} from '../schemas/responses/account.ts'
import type { Tag } from '../endpoint/operation.ts'
import { GET_ACCOUNT_ACTOR, PAUSE_ACCOUNT, RESUME_ACCOUNT } from '../routes/accounts/account-actor.ts'
import { CHANGE_STATUS } from '../routes/accounts/change-status.ts'
import { CREATE_ACCOUNT } from '../routes/accounts/create-account.ts'
import { ERASE_ACCOUNT } from '../routes/accounts/erase-account.ts'
import { GET_ACCOUNT_STATE } from '../routes/accounts/get-account-state.ts'
import { GET_ACCOUNT } from '../routes/accounts/get-account.ts'
import { GET_BALANCE } from '../routes/accounts/get-balance.ts'
import { LIST_ACCOUNTS } from '../routes/accounts/list-accounts.ts'
import { LIST_AUDIT_CHAIN } from '../routes/accounts/list-audit-chain.ts'
import { LIST_BALANCES } from '../routes/accounts/list-balances.ts'
import { ROTATE_KEY } from '../routes/accounts/rotate-key.ts'

const BALANCE_FIELDS = {
  token_class: 'Always `fungible`.',
  balance: 'All that is the account’s.',
  available: 'The part of `balance` that is not on hold and can be spent.',
  incoming: 'Value on its way to the account; part of neither `balance` nor `available`.',
  decimals: 'How many fractional digits amounts of the token have at most.',
}

export const ACCOUNTS: Tag = {
  name: 'Accounts',
  description: 'Accounts are owned by keys. Reads come from what is committed.',
  schemas: {
    AccountRegistration: { schema: registrationSchema, description: 'A new account.' },
    KeyRotation: {
      schema: rotationSchema,
      description: 'A new key for an account, signed by the one in force.',
      closed: true,
      fields: {
        account_id: 'The account of the path, so that it is signed.',
        signature: 'By the key in force, over the body without `signature` and `proof`.',
        proof: 'By the new key, over the same payload.',
      },
    },
    StatusChange: {
      schema: statusSchema,
      description: 'At least one of `status` and `incoming`.',
      relations: { minProperties: 2 },
      fields: {
        status: 'The new status.',
        incoming: 'Whether it takes value in.',
        reason: 'The reason, which the audit chain records.',
      },
    },
    Erasure: {
      schema: erasureSchema,
      description: 'A request to erase an account.',
      fields: { reason: 'Why; it is destroyed with the rest.' },
    },
    Pause: {
      schema: pauseSchema,
      description: 'Why an account is paused, or resumed.',
      fields: { reason: 'The reason, which the audit chain records.' },
    },
    AccountActor: {
      schema: accountActorResponse,
      description: 'How the actor of an account is, and where.',
      fields: {
        state: 'The state of its machine; `erased` is `closed` elsewhere.',
        paused: 'Whether an administrator has stopped what the account sends.',
        owner: 'The node that owns its shard; null while none does.',
        version: 'How often the account was written.',
        holds: 'The number of its unfinished operations: pending transactions, legs of groups, mints.',
        pending_count: 'Transactions among them that others decide on.',
        resident: 'Whether the node had it in memory when it was asked.',
        mailbox_length: 'Commands that waited for it, this one included: 1 where nothing else waited.',
      },
    },
    Account: {
      schema: accountResponse,
      description: 'An account.',
      fields: {
        status: '`active`; `frozen`: it may only receive; `closed`: for good.',
        erased: 'True if the account was erased; absent otherwise.',
        incoming: 'Whether it takes value in.',
        public_key: 'The key in force; null for an account that came into being without one.',
        key_id: 'Its RFC 7638 thumbprint.',
        sequence: 'The number of the last entry of its audit chain.',
        audit_hash: 'The hash of the last entry of its audit chain.',
      },
    },
    AccountList: {
      schema: accountListResponse,
      description: 'One page of accounts.',
      fields: { accounts: 'The accounts of this page.' },
    },
    AccountState: {
      schema: accountStateResponse,
      description: 'The end of an account’s audit chain.',
      fields: { audit_hash: 'The hash of the last entry.' },
    },
    TokenBalance: {
      schema: tokenBalanceResponse,
      description: 'The balance of an account in a token.',
      fields: BALANCE_FIELDS,
    },
    Balance: {
      schema: balanceResponse,
      description: 'The balance of the account in the token.',
      fields: BALANCE_FIELDS,
    },
    BalanceList: {
      schema: balanceListResponse,
      description: 'One page of what an account holds.',
      fields: { balances: 'The balances of this page.' },
    },
    AuditEntry: {
      schema: auditEntryResponse,
      description: 'An entry of an audit chain.',
      fields: {
        txn_id: 'The transaction; null for registrations, key rotations, changes of status and erasures.',
        payload: 'Canonical JSON: exactly what was hashed, a random salt included; null of an account that was erased.',
        erased: 'The account was erased; left out of others.',
      },
    },
    AuditChain: {
      schema: auditChainResponse,
      description: 'One page of an audit chain.',
      fields: { entries: 'The entries of this page.' },
    },
  },
  operations: [
    CREATE_ACCOUNT,
    LIST_ACCOUNTS,
    GET_ACCOUNT,
    ROTATE_KEY,
    CHANGE_STATUS,
    ERASE_ACCOUNT,
    GET_ACCOUNT_ACTOR,
    PAUSE_ACCOUNT,
    RESUME_ACCOUNT,
    LIST_AUDIT_CHAIN,
    GET_ACCOUNT_STATE,
    LIST_BALANCES,
    GET_BALANCE,
  ],
}
