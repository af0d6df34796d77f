/** Examples of imports. Sent and answered as they stand: see the walk-through. What is taken in another ledger has signed. */
import type { Examples } from '../model/operation.ts'

export const GET_IMPORT_KEY_EXAMPLES: Examples = {
  key: {
    summary: 'What another ledger is told',
    as: 'viewer',
    answer: {
      status: 200,
      body: {
        ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
        public_key: {
          kty: 'EC',
          crv: 'P-256',
          x: 'vGhnOTDSWWCGDXpjvYMlDv6pvlwVTYKQu8pNSpwVfkE',
          y: '1GJ2yBmYNzoVrbZzcWa5DB4v6XHPl4ZEbA9wYFUtZ9s',
        },
        key_id: 'Wk2nVtl1xvI2gZk5gR8oVn4iSJFO0SxqLKjJkRJqV3o',
      },
    },
  },
}

export const CREATE_IMPORT_EXAMPLES: Examples = {
  damaged: {
    summary: 'A part that is damaged',
    as: 'admin',
    body: {
      import_id: '6b1c2f0a-3d47-4e58-8a69-0b1c2d3e4f50',
      part: 0,
      records: [
        {
          record: 'token',
          line: 0,
          previous_hash: 'sha256:0000000000000000000000000000000000000000000000000000000000000000',
          symbol: 'GOLD',
          decimals: 2,
          issuer: 'mint@example',
          initial_supply: '10.125',
          total_supply: '15',
          created_at: '2026-11-22T01:31:07.109Z',
        },
      ],
      last: false,
    },
    answer: {
      kind: 'problem',
      type: 'validation-error',
      detail: '2 parts of the request are not valid; see errors.',
      codes: ['ERR_INVALID_INITIAL_SUPPLY', 'ERR_INVALID_FIELD'],
      errors: [
        { field: 'records[0].initial_supply', message: 'has more fractional digits than decimals' },
        { field: 'records[0].record', message: 'line 0: the first record must be the ledger' },
      ],
      outcome: null,
      headers: {},
    },
  },
}

export const GET_IMPORT_EXAMPLES: Examples = {
  unknown: {
    summary: 'An import that has not begun',
    as: 'admin',
    path: { importId: '6b1c2f0a-3d47-4e58-8a69-0b1c2d3e4f50' },
    answer: {
      kind: 'problem',
      type: 'not-found',
      detail: 'There is no such import.',
      codes: ['ERR_NOT_FOUND'],
      errors: null,
      outcome: null,
      headers: {},
    },
  },
}
