/** Accounts: their keys, their status, what they hold, and their audit chains (D2, D4, D9). */
import { ADMINS, EVERYONE, SUBMITTERS } from '../endpoint/route.ts'
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
import type { Operation, Tag } from './model/operation.ts'
import { IDEMPOTENCY_KEY_HEADER, PAGING } from './parameters.ts'

export const createAccount: Operation = {
  id: 'createAccount',
  method: 'POST',
  path: '/v1/accounts',
  summary: 'Register an account with its public key',
  description: `The private key never leaves the holder; every order of the account is signed with it.

The public key is a JWK, a PEM (SPKI), or base64url of a SEC1 point or of DER SPKI. The same account with the same key again is a 200, with another key a 409. An account that came into being without a key, as the issuer of a token, gets its key here, from the client that named it or from an administrator.`,
  roles: SUBMITTERS,
  changes: 'shard',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: registrationSchema,
  answers: [
    {
      status: 201,
      description: 'The account is registered, or has its key now.',
      content: accountResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
    { status: 200, description: 'It was registered with this key before.', content: accountResponse },
  ],
  refusals: {
    ERR_CONFLICT: 'The ID is registered with another key, or is another client’s to claim.',
    ERR_NOT_FOUND: 'The client is scoped to accounts, and this is none of them.',
  },
}

export const listAccounts: Operation = {
  id: 'listAccounts',
  method: 'GET',
  path: '/v1/accounts',
  summary: 'List all accounts',
  description: 'In an order of the ledger’s own, which stays as it is.',
  roles: ADMINS,
  parameters: PAGING,
  answers: [
    { status: 200, description: 'One page.', content: accountListResponse, headers: ['X-Total-Count-Relation'] },
  ],
}

export const getAccount: Operation = {
  id: 'getAccount',
  method: 'GET',
  path: '/v1/accounts/:accountId',
  summary: 'Get an account',
  description: 'Its status, its key, and where its audit chain stands.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The account.', content: accountResponse }],
}

export const rotateKey: Operation = {
  id: 'rotateKey',
  method: 'POST',
  path: '/v1/accounts/:accountId/keys',
  summary: 'Give an account another key',
  description: `Signed by the key in force now; \`proof\` is the new key’s signature over the same payload (the body without \`signature\` and \`proof\`), and is required in production. From the 201 on orders are signed with the new key.

The same \`idempotency_key\` again gets the first answer again. A repeat of an older order may still carry the signature of the key that was in force then.`,
  roles: SUBMITTERS,
  changes: 'shard',
  body: rotationSchema,
  answers: [
    {
      status: 201,
      description: 'The new key is in force.',
      content: accountResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_INVALID_ACCOUNT_ID: 'An account ID is missing, ill-formed, or not the one of the path.',
    ERR_CONFLICT: 'The account is frozen or closed.',
    ERR_FORBIDDEN: 'The role does not permit this, or the account has no key.',
    ERR_SIGNATURE_MISMATCH: '`signature` does not verify under the key in force, or `proof` under the new one.',
  },
}

export const changeStatus: Operation = {
  id: 'changeStatus',
  method: 'POST',
  path: '/v1/accounts/:accountId/status',
  summary: 'Freeze, close or reopen an account',
  description: `At least one of \`status\` and \`incoming\`; what is left out stays. The same values again change nothing and are a 200.

- \`frozen\`: it may only receive; its own orders fail. What it entered before settles or reverts as usual.
- \`closed\`: final. The account must have no balances, NFTs, pending transactions or reserved value, and no legs that its own client expects. Legs that other clients expect are declined.
- \`incoming: refuse\`: transfers to it fail.`,
  roles: ADMINS,
  changes: 'shard',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: statusSchema,
  answers: [
    {
      status: 200,
      description: 'The current account.',
      content: accountResponse,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: { ERR_CONFLICT: 'The account is closed, or is to be closed and is not empty.' },
}

export const eraseAccount: Operation = {
  id: 'eraseAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/erase',
  summary: 'Erase a closed account',
  description: `Destroys the key that everything the ledger holds of the account is encrypted under. There is no way back. Done again it says the same.

- The account stays \`closed\`, with \`erased: true\` and without a key; its ID is never given again.
- Its audit chain keeps sequences and hashes; \`payload\` is null.
- Its transactions, receipts and liability proofs are 404, and lists leave them out.
- Where others name it, in settlement groups, NFTs, tokens and attestations, it reads \`erased:\` and 12 hexadecimal digits. What counterparties hold of their own transactions stays theirs.`,
  roles: ADMINS,
  changes: 'shard',
  body: erasureSchema,
  answers: [{ status: 200, description: 'The account as it is now.', content: accountResponse }],
  refusals: { ERR_CONFLICT: 'The account is not closed.' },
}

export const getAccountActor: Operation = {
  id: 'getAccountActor',
  method: 'GET',
  path: '/v1/accounts/:accountId/actor',
  summary: 'See how an account’s actor is, and where',
  description: 'Asked of the node that owns the shard of the account, behind the orders that wait for it.',
  roles: ADMINS,
  answers: [{ status: 200, description: 'The actor.', content: accountActorResponse }],
  refusals: {
    ERR_SHARD_UNAVAILABLE: 'The shard of the account has no owner at this moment.',
    ERR_NO_HEALTHY_SHARDS: 'No shard of the ledger has an owner at this moment.',
    ERR_OVERLOADED: 'Too many orders wait for the account.',
  },
}

export const pauseAccount: Operation = {
  id: 'pauseAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/actor/pause',
  summary: 'Pause what an account sends',
  description: `Until it is resumed, orders of the account other than credits are refused with a 409 and use no idempotency key. What it ordered before ends as usual; what others send arrives. The audit chain has an entry with the reason. Done again it says the same.`,
  roles: ADMINS,
  changes: 'shard',
  body: pauseSchema,
  answers: [{ status: 200, description: 'The actor, paused.', content: accountActorResponse }],
  refusals: { ERR_CONFLICT: 'The account is closed.' },
}

export const resumeAccount: Operation = {
  id: 'resumeAccount',
  method: 'POST',
  path: '/v1/accounts/:accountId/actor/resume',
  summary: 'Let a paused account go on',
  description: 'The audit chain has an entry with the reason. Done again it says the same.',
  roles: ADMINS,
  changes: 'shard',
  body: pauseSchema,
  answers: [{ status: 200, description: 'The actor as it goes on.', content: accountActorResponse }],
  refusals: { ERR_CONFLICT: 'The account is closed.' },
}

export const listAuditChain: Operation = {
  id: 'listAuditChain',
  method: 'GET',
  path: '/v1/accounts/:accountId/audit-chain',
  summary: 'Read an account’s audit chain',
  description: `Oldest first, with the exact strings that were hashed: \`audit_hash\` = SHA-256 of the 32 bytes of \`previous_hash\` followed by the 32 bytes of SHA-256(\`payload\`). Entry 0 is the registration, on a previous hash of 32 zero bytes; failed transactions have no entry. \`ledger verify\` checks a chain offline.`,
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: auditChainResponse }],
}

export const getAccountState: Operation = {
  id: 'getAccountState',
  method: 'GET',
  path: '/v1/accounts/:accountId/state',
  summary: 'Get where an account’s audit chain stands',
  description: 'A 503 says that the shard of the account has no owner at this moment; balances are still served then.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The state.', content: accountStateResponse }],
  refusals: {
    ERR_SHARD_UNAVAILABLE: 'The shard of the account has no owner at this moment.',
    ERR_NO_HEALTHY_SHARDS: 'No shard of the ledger has an owner at this moment.',
  },
}

export const listBalances: Operation = {
  id: 'listBalances',
  method: 'GET',
  path: '/v1/accounts/:accountId/balances',
  summary: 'List what an account holds',
  description: 'By token ID. A balance is listed from its first movement on, and stays, at `0` too.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [{ status: 200, description: 'One page.', content: balanceListResponse }],
}

export const getBalance: Operation = {
  id: 'getBalance',
  method: 'GET',
  path: '/v1/accounts/:accountId/balances/:tokenId',
  summary: 'Get one balance',
  description: 'A read that begins after a transaction was seen final shows all its effects.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The balance.', content: balanceResponse }],
  refusals: { ERR_NOT_FOUND: 'There is no such account, or it never held this token.' },
}

const BALANCE_FIELDS = {
  token_class: 'Always `fungible`.',
  balance: 'All that is the account’s.',
  available: 'What can be spent: `balance` without what is reserved.',
  incoming: 'What is on its way to the account, in neither `balance` nor `available`.',
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
        status: 'What the account may do from now on.',
        incoming: 'Whether it takes value in.',
        reason: 'Why; it stands in the audit chain.',
      },
    },
    Erasure: {
      schema: erasureSchema,
      description: 'What is asked when an account is to be erased.',
      fields: { reason: 'Why; it is destroyed with the rest.' },
    },
    Pause: {
      schema: pauseSchema,
      description: 'Why an account is paused, or resumed.',
      fields: { reason: 'It stands in the audit chain.' },
    },
    AccountActor: {
      schema: accountActorResponse,
      description: 'How the actor of an account is, and where.',
      fields: {
        state: 'The state of its machine; `erased` is `closed` elsewhere.',
        paused: 'Whether an administrator has stopped what the account sends.',
        owner: 'The node that owns its shard; null while none does.',
        version: 'How often the account was written.',
        holds: 'What is unfinished at it: pending transactions, legs of groups, mints.',
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
        erased: 'What the ledger held of it was destroyed; left out of others.',
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
      description: 'Where an account’s audit chain stands.',
      fields: { audit_hash: 'The hash of the last entry.' },
    },
    TokenBalance: {
      schema: tokenBalanceResponse,
      description: 'What an account holds of a token.',
      fields: BALANCE_FIELDS,
    },
    Balance: { schema: balanceResponse, description: 'What the account holds of the token.', fields: BALANCE_FIELDS },
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
    createAccount,
    listAccounts,
    getAccount,
    rotateKey,
    changeStatus,
    eraseAccount,
    getAccountActor,
    pauseAccount,
    resumeAccount,
    listAuditChain,
    getAccountState,
    listBalances,
    getBalance,
  ],
}
