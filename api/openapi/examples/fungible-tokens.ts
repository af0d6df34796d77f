/** Examples of fungible tokens. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const CREATE_FUNGIBLE_TOKEN_EXAMPLES: Examples = {
  eurx: {
    summary: 'A token whose whole supply is its issuer’s',
    as: 'transactor',
    headers: { 'Idempotency-Key': 'register-eurx' },
    body: { symbol: 'EURX', decimals: 2, issuer: 'alice@example', total_supply: '1000.00' },
    answer: {
      status: 201,
      body: {
        token_id: 'EURX',
        symbol: 'EURX',
        decimals: 2,
        issuer: 'alice@example',
        total_supply: '1000',
        created_at: '2026-11-22T01:31:05.980Z',
      },
    },
  },
  duplicate: {
    summary: 'The symbol is taken, in any case of its letters',
    as: 'transactor',
    body: { symbol: 'eurx', decimals: 2, issuer: 'alice@example', total_supply: '5' },
    answer: {
      kind: 'problem',
      type: 'conflict',
      detail: 'The symbol is taken.',
      codes: ['ERR_CONFLICT'],
      errors: [{ field: 'symbol', message: 'The symbol is taken.' }],
      outcome: null,
      headers: {},
    },
  },
  gold: {
    summary: 'A token that its issuer signs for',
    as: 'transactor',
    body: {
      symbol: 'GOLD',
      decimals: 0,
      issuer: 'bob@example',
      total_supply: '10',
      signature: '_zgssgoQQJL2wCjG3gejJQHsV1IXP0R17P94XjZpuNG62IFxL3QyEpxIP1De7K_m8PUVdxYd1J1GY0fZsEsIaw',
    },
    answer: {
      status: 201,
      body: {
        token_id: 'GOLD',
        symbol: 'GOLD',
        decimals: 0,
        issuer: 'bob@example',
        total_supply: '10',
        created_at: '2026-11-22T01:31:06.185Z',
      },
    },
  },
}

export const LIST_FUNGIBLE_TOKENS_EXAMPLES: Examples = {
  all: {
    summary: 'All tokens',
    as: 'viewer',
    answer: {
      status: 200,
      body: {
        tokens: [
          {
            token_id: 'EURX',
            symbol: 'EURX',
            decimals: 2,
            issuer: 'alice@example',
            total_supply: '1000',
            created_at: '2026-11-22T01:31:05.980Z',
          },
        ],
        next_page_token: '',
        total_count: 1,
        total_count_relation: 'eq',
      },
    },
  },
}

export const GET_FUNGIBLE_TOKEN_EXAMPLES: Examples = {
  eurx: {
    summary: 'One token',
    as: 'viewer',
    path: { tokenId: 'EURX' },
    answer: {
      status: 200,
      body: {
        token_id: 'EURX',
        symbol: 'EURX',
        decimals: 2,
        issuer: 'alice@example',
        total_supply: '1000',
        created_at: '2026-11-22T01:31:05.980Z',
      },
    },
  },
}
