/** Examples of what accounts hold, and of their chains. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const LIST_AUDIT_CHAIN_EXAMPLES: Examples = {
  alice: {
    summary: 'Its audit chain: the registration and the credit',
    as: 'viewer',
    path: { accountId: 'alice@example' },
    answer: {
      status: 200,
      body: {
        account_id: 'alice@example',
        entries: [
          {
            sequence: 0,
            txn_id: null,
            previous_hash: 'sha256:0000000000000000000000000000000000000000000000000000000000000000',
            audit_hash: 'sha256:a11f0b6935172793bf19a1df6f64939ad41db71c67e854b1032a368ea237869d',
            payload:
              '{"account_id":"alice@example","created_at":"2026-11-22T01:31:05.682Z","format":1,"key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","kind":"registration","public_key":"A2D-1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p-2","salt":"4602cdc2413f85232f47d19806666ede","sequence":0,"txn_id":null}',
          },
          {
            sequence: 1,
            txn_id: 'txn_01M80E1PQB000010SNKHFAT8F1',
            previous_hash: 'sha256:a11f0b6935172793bf19a1df6f64939ad41db71c67e854b1032a368ea237869d',
            audit_hash: 'sha256:21a0deb292abc9b1da671a15ece1517525d546d9971987154fca003c2cbfaaf5',
            payload:
              '{"account_id":"alice@example","amount":"100.50","balance":"100.5","created_at":"2026-11-22T01:31:05.835Z","format":1,"group_id":null,"key_id":"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0","kind":"transaction","metadata":{"note":"first funding"},"origin":"client","processed_at":"2026-11-22T01:31:05.835Z","salt":"7cac1d08143cb8306bbddeea9d112230","sequence":1,"shard_id":131,"submission_hash":"927972b3cee7ff89719f328007bb780bbc3b61d1ea812c072258c185f506d17b","token_id":"BASE","txn_id":"txn_01M80E1PQB000010SNKHFAT8F1","type":"credit"}',
          },
        ],
        next_page_token: '',
        total_count: 2,
        total_count_relation: 'eq',
      },
    },
  },
}

export const LIST_BALANCES_EXAMPLES: Examples = {
  bob: {
    summary: 'What an account holds',
    as: 'viewer',
    path: { accountId: 'bob@example' },
    answer: {
      status: 200,
      body: {
        account_id: 'bob@example',
        balances: [
          {
            token_id: 'EURX',
            token_class: 'fungible',
            balance: '25',
            available: '25',
            incoming: '0',
            decimals: 2,
            updated_at: '2026-11-22T01:31:06.081Z',
          },
        ],
        next_page_token: '',
      },
    },
  },
}

export const GET_BALANCE_EXAMPLES: Examples = {
  base: {
    summary: 'What it holds of the ledger’s own unit',
    as: 'viewer',
    path: { accountId: 'alice@example', tokenId: 'BASE' },
    answer: {
      status: 200,
      body: {
        account_id: 'alice@example',
        token_id: 'BASE',
        token_class: 'fungible',
        balance: '100.5',
        available: '100.5',
        incoming: '0',
        decimals: 18,
        updated_at: '2026-11-22T01:31:05.835Z',
      },
    },
  },
  never: {
    summary: 'A token that the account never held',
    as: 'viewer',
    path: { accountId: 'bob@example', tokenId: 'BASE' },
    answer: {
      kind: 'problem',
      type: 'not-found',
      detail: 'The account holds no such token.',
      codes: ['ERR_NOT_FOUND'],
      errors: null,
      outcome: null,
      headers: {},
    },
  },
}

export const GET_ACCOUNT_STATE_EXAMPLES: Examples = {
  alice: {
    summary: 'The tip of its audit chain',
    as: 'viewer',
    path: { accountId: 'alice@example' },
    answer: {
      status: 200,
      body: {
        account_id: 'alice@example',
        audit_hash: 'sha256:21a0deb292abc9b1da671a15ece1517525d546d9971987154fca003c2cbfaaf5',
        updated_at: '2026-11-22T01:31:05.835Z',
      },
    },
  },
}
