/** Examples of the states of a group, and of an account that declines one. The walk-through sends and receives them as given. */
import type { Examples } from '../model/operation.ts'

export const GET_SETTLEMENT_GROUP_EXAMPLES: Examples = {
  open: {
    summary: 'A group that waits for its legs',
    as: 'viewer',
    path: { groupId: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f' },
    answer: {
      status: 200,
      body: {
        group_id: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f',
        status: 'open',
        terms_hash: 'sha256:082aa70766d5de71711090b00323bc279d18f1f2c3724ed1988205cb98396162',
        expected_legs: 2,
        legs: [
          {
            account_id: 'alice@example',
            type: 'debit',
            amount: '5',
            token_id: 'EURX',
            leg_status: 'expected',
          },
          {
            account_id: 'bob@example',
            type: 'credit',
            amount: '5',
            token_id: 'EURX',
            leg_status: 'expected',
          },
        ],
        compensations: [],
        partial_failures: [],
        created_at: '2026-11-22T01:31:06.293Z',
        due_at: '2026-11-22T01:41:06.293Z',
        finished_at: null,
      },
    },
  },
  settled: {
    summary: 'All legs are in: the group is settled',
    as: 'viewer',
    path: { groupId: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f' },
    headers: { Prefer: 'wait=10' },
    answer: {
      status: 200,
      body: {
        group_id: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f',
        status: 'settled',
        terms_hash: 'sha256:082aa70766d5de71711090b00323bc279d18f1f2c3724ed1988205cb98396162',
        expected_legs: 2,
        legs: [
          {
            account_id: 'alice@example',
            type: 'debit',
            amount: '5',
            token_id: 'EURX',
            leg_status: 'completed',
            txn_id: 'txn_01M80E1Q75000010SSZ7CM1EMM',
          },
          {
            account_id: 'bob@example',
            type: 'credit',
            amount: '5',
            token_id: 'EURX',
            leg_status: 'completed',
            txn_id: 'txn_01M80E1Q7M00000CR3CAQGDREM',
          },
        ],
        compensations: [],
        partial_failures: [],
        created_at: '2026-11-22T01:31:06.293Z',
        due_at: '2026-11-22T01:41:06.293Z',
        finished_at: '2026-11-22T01:31:06.389Z',
      },
    },
  },
  declined: {
    summary: 'A party has declined the group',
    as: 'viewer',
    path: { groupId: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30' },
    headers: { Prefer: 'wait=10' },
    answer: {
      status: 200,
      body: {
        group_id: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30',
        status: 'reverted',
        terms_hash: 'sha256:ac83f784975b32b085ec0db95036ddfd6b4df902580a9cfb8384244c6a4c433a',
        expected_legs: 2,
        legs: [
          {
            account_id: 'alice@example',
            type: 'debit',
            amount: '2',
            token_id: 'EURX',
            leg_status: 'expected',
          },
          {
            account_id: 'bob@example',
            type: 'credit',
            amount: '2',
            token_id: 'EURX',
            leg_status: 'failed',
          },
        ],
        compensations: [],
        partial_failures: [],
        failure: { code: 'declined', detail: 'An account declined its leg.' },
        created_at: '2026-11-22T01:31:07.293Z',
        due_at: '2026-11-22T01:46:07.293Z',
        finished_at: '2026-11-22T01:31:07.466Z',
      },
    },
  },
  reverted: {
    summary: 'The group is reverted',
    as: 'viewer',
    path: { groupId: '57b310b7-fb9e-8ff2-914a-997dba877515' },
    headers: { Prefer: 'wait=10' },
    answer: {
      status: 200,
      body: {
        group_id: '57b310b7-fb9e-8ff2-914a-997dba877515',
        status: 'reverted',
        terms_hash: 'sha256:9968665ebb87964f8547751db0446b2e4c3657a35ae63fd506aa3ecc4270522d',
        expected_legs: 2,
        legs: [
          {
            account_id: 'bob@example',
            type: 'transfer',
            amount: '1',
            token_id: 'EURX',
            to_account_id: 'alice@example',
            leg_status: 'expected',
          },
          {
            account_id: 'alice@example',
            type: 'transfer',
            amount: '1',
            token_id: 'GOLD',
            to_account_id: 'bob@example',
            leg_status: 'expected',
          },
        ],
        compensations: [],
        partial_failures: [],
        failure: { code: 'revert_requested', detail: 'The revert of the settlement group was requested.' },
        created_at: '2026-11-22T01:31:06.430Z',
        due_at: '2026-11-22T01:46:06.430Z',
        finished_at: '2026-11-22T01:31:06.466Z',
      },
    },
  },
}

export const DECLINE_SETTLEMENT_GROUP_EXAMPLES: Examples = {
  bob: {
    summary: 'Bob declines the group',
    as: 'transactor',
    path: { groupId: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30' },
    body: {
      group_id: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30',
      account_id: 'bob@example',
      terms_hash: 'sha256:ac83f784975b32b085ec0db95036ddfd6b4df902580a9cfb8384244c6a4c433a',
      signature: 'KB-y-uQAbAaDha3hcqSj6_5ZVAp9yHy_wOPrUn-7bB9e043nw1cg-Ckut8v7e0RvDOBtFFtUtzFsV2YbrNk6Jg',
    },
    answer: {
      status: 202,
      body: { group_id: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30', account_id: 'bob@example', declined: true },
    },
  },
}

export const LIST_EXPECTATIONS_EXAMPLES: Examples = {
  bob: {
    summary: 'Legs that groups expect of Bob',
    as: 'viewer',
    path: { accountId: 'bob@example' },
    answer: {
      status: 200,
      body: {
        account_id: 'bob@example',
        expectations: [
          {
            group_id: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30',
            terms_hash: 'sha256:ac83f784975b32b085ec0db95036ddfd6b4df902580a9cfb8384244c6a4c433a',
            leg: 1,
            role: 'own',
            terms: { account_id: 'bob@example', type: 'credit', amount: '2', token_id: 'EURX' },
            registered_by: 'payments-backend',
            due_at: '2026-11-22T01:46:07.293Z',
          },
        ],
        next_page_token: '',
      },
    },
  },
}
