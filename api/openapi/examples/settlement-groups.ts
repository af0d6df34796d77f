/** Examples of settlement groups. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const CREATE_SETTLEMENT_GROUP_EXAMPLES: Examples = {
  payment: {
    summary: 'A debit and a credit that happen together',
    as: 'transactor',
    body: {
      group_id: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f',
      legs: [
        { account_id: 'alice@example', type: 'debit', token_id: 'EURX', amount: '5' },
        { account_id: 'bob@example', type: 'credit', token_id: 'EURX', amount: '5' },
      ],
      timeout_seconds: 600,
    },
    answer: {
      status: 201,
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
  again: {
    summary: 'The same terms again',
    as: 'transactor',
    body: {
      group_id: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f',
      legs: [
        { account_id: 'alice@example', type: 'debit', token_id: 'EURX', amount: '5' },
        { account_id: 'bob@example', type: 'credit', token_id: 'EURX', amount: '5' },
      ],
      timeout_seconds: 600,
    },
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
  unwanted: {
    summary: 'A group that one party will decline',
    as: 'transactor',
    body: {
      group_id: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30',
      legs: [
        { account_id: 'alice@example', type: 'debit', token_id: 'EURX', amount: '2' },
        { account_id: 'bob@example', type: 'credit', token_id: 'EURX', amount: '2' },
      ],
    },
    answer: {
      status: 201,
      body: {
        group_id: '8a3f6c1d-0b52-4e7a-9c14-6d2e8f7a5b30',
        status: 'open',
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
            leg_status: 'expected',
          },
        ],
        compensations: [],
        partial_failures: [],
        created_at: '2026-11-22T01:31:07.293Z',
        due_at: '2026-11-22T01:46:07.293Z',
        finished_at: null,
      },
    },
  },
  unbalanced: {
    summary: 'Legs that do not net to zero',
    as: 'transactor',
    body: {
      legs: [
        { account_id: 'alice@example', type: 'debit', token_id: 'EURX', amount: '5' },
        { account_id: 'bob@example', type: 'credit', token_id: 'EURX', amount: '4' },
      ],
    },
    answer: {
      kind: 'problem',
      type: 'validation-error',
      detail: 'legs: do not net to zero in EURX: -1 is left',
      codes: ['ERR_INVALID_FIELD'],
      errors: [{ field: 'legs', message: 'do not net to zero in EURX: -1 is left' }],
      outcome: null,
      headers: {},
    },
  },
  chosenByService: {
    summary: 'The service chooses the ID',
    as: 'transactor',
    headers: { 'Idempotency-Key': 'agreement-77' },
    body: {
      legs: [
        {
          account_id: 'bob@example',
          type: 'transfer',
          to_account_id: 'alice@example',
          token_id: 'EURX',
          amount: '1',
        },
        {
          account_id: 'alice@example',
          type: 'transfer',
          to_account_id: 'bob@example',
          token_id: 'GOLD',
          amount: '1',
        },
      ],
    },
    answer: {
      status: 201,
      body: {
        group_id: '57b310b7-fb9e-8ff2-914a-997dba877515',
        status: 'open',
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
        created_at: '2026-11-22T01:31:06.430Z',
        due_at: '2026-11-22T01:46:06.430Z',
        finished_at: null,
      },
    },
  },
}

export const REVERT_SETTLEMENT_GROUP_EXAMPLES: Examples = {
  settled: {
    summary: 'A settled group stays settled',
    as: 'transactor',
    path: { groupId: '5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f' },
    body: { reason: 'paid twice' },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'The group is settled.',
      codes: ['ERR_CONFLICT'],
      errors: null,
      outcome: null,
      headers: {},
    },
  },
  open: {
    summary: 'The client that registered a group gives it up',
    as: 'transactor',
    path: { groupId: '57b310b7-fb9e-8ff2-914a-997dba877515' },
    body: { reason: 'the parties called it off' },
    answer: {
      status: 202,
      body: {
        group_id: '57b310b7-fb9e-8ff2-914a-997dba877515',
        status: 'reverting',
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
        finished_at: null,
      },
    },
  },
}
