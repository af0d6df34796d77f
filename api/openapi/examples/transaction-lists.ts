/** Examples of lists of transactions. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const LIST_TRANSACTIONS_EXAMPLES: Examples = {
  byAccount: {
    summary: 'The newest two of an account',
    as: 'viewer',
    query: { account_id: 'alice@example', page_size: '2' },
    answer: {
      status: 200,
      body: {
        transactions: [
          {
            txn_id: 'txn_01M80E1Q75000010SSZ7CM1EMM',
            account_id: 'alice@example',
            amount: '5',
            type: 'debit',
            token_id: 'EURX',
            status: 'completed',
            shard_id: 131,
            created_at: '2026-11-22T01:31:06.341Z',
          },
          {
            txn_id: 'txn_01M80E1Q3E000010ZRBEBEYXPN',
            account_id: 'alice@example',
            amount: '10',
            type: 'exchange',
            token_id: 'EURX',
            status: 'completed',
            shard_id: 131,
            created_at: '2026-11-22T01:31:06.222Z',
          },
        ],
        next_page_token: 'AQEAAAAAAAd0eG5fMDFNODBFMVEzRTAwMDAxMFpSQkVCRVlYUE7gNQ4v3le9g_nm7ul8C2ER',
        total_count: 7,
        total_count_relation: 'eq',
      },
    },
  },
  nextPage: {
    summary: 'The two before them',
    as: 'viewer',
    query: {
      account_id: 'alice@example',
      page_size: '2',
      page_token: 'AQEAAAAAAAd0eG5fMDFNODBFMVEzRTAwMDAxMFpSQkVCRVlYUE7gNQ4v3le9g_nm7ul8C2ER',
    },
    answer: {
      status: 200,
      body: {
        transactions: [
          {
            txn_id: 'txn_01M80E1Q0C000010V1V41CVQA0',
            account_id: 'alice@example',
            amount: '500',
            type: 'mint',
            token_id: 'EURX',
            status: 'completed',
            shard_id: 131,
            created_at: '2026-11-22T01:31:06.124Z',
          },
          {
            txn_id: 'txn_01M80E1PYK000010SDVFCTVSQW',
            account_id: 'alice@example',
            amount: '25.00',
            type: 'transfer',
            token_id: 'EURX',
            status: 'completed',
            shard_id: 131,
            created_at: '2026-11-22T01:31:06.067Z',
          },
        ],
        next_page_token: 'AQEAAAAAAAd0eG5fMDFNODBFMVBZSzAwMDAxMFNEVkZDVFZTUVeIxl-Iccui0QbxyBHW_WnY',
        total_count: 7,
        total_count_relation: 'eq',
      },
    },
  },
  byKey: {
    summary: 'What an idempotency key did',
    as: 'viewer',
    query: { account_id: 'alice@example', idempotency_key: 'order-1004' },
    answer: {
      status: 200,
      body: {
        transactions: [
          {
            txn_id: 'txn_01M80E1PYK000010SDVFCTVSQW',
            account_id: 'alice@example',
            amount: '25.00',
            type: 'transfer',
            token_id: 'EURX',
            status: 'completed',
            shard_id: 131,
            created_at: '2026-11-22T01:31:06.067Z',
          },
        ],
        next_page_token: '',
        total_count: 1,
        total_count_relation: 'eq',
      },
    },
  },
  feed: {
    summary: 'The feed from its beginning',
    as: 'viewer',
    query: { order: 'asc', status: 'completed', page_size: '2' },
    answer: {
      status: 200,
      body: {
        transactions: [
          {
            txn_id: 'txn_01M80E1PQB000010SNKHFAT8F1',
            account_id: 'alice@example',
            amount: '100.50',
            type: 'credit',
            token_id: 'BASE',
            status: 'completed',
            shard_id: 131,
            created_at: '2026-11-22T01:31:05.835Z',
          },
          {
            txn_id: 'txn_01M80E1PX5000010X6ZKF4FQCW',
            account_id: 'alice@example',
            amount: '1000.00',
            type: 'mint',
            token_id: 'EURX',
            status: 'completed',
            shard_id: 131,
            created_at: '2026-11-22T01:31:06.021Z',
          },
        ],
        next_page_token: 'AQEAAAAAAAp0eG5fMDFNODBFMVBYNTAwMDAxMFg2WktGNEZRQ1cgMTAzNPSq1DpzqdnzyLLUOPhvT-4',
        total_count: 10,
        total_count_relation: 'eq',
      },
    },
  },
  lines: {
    summary: 'All mints of an account, as lines',
    as: 'viewer',
    query: { account_id: 'alice@example', type: 'mint', page_size: '1' },
    answer: {
      status: 200,
      lines: [
        {
          txn_id: 'txn_01M80E1Q0C000010V1V41CVQA0',
          account_id: 'alice@example',
          amount: '500',
          type: 'mint',
          token_id: 'EURX',
          status: 'completed',
          shard_id: 131,
          created_at: '2026-11-22T01:31:06.124Z',
        },
        { next_page_token: 'AgK5cGk0Rkx0c1vUuVdKe3V2nJ3VbR9wq4N0m8Qk7yX2fWcYhE1sT6oZ_dLrP5gBaJiM-w8uA' },
        {
          txn_id: 'txn_01M80E1PX5000010X6ZKF4FQCW',
          account_id: 'alice@example',
          amount: '1000.00',
          type: 'mint',
          token_id: 'EURX',
          status: 'completed',
          shard_id: 131,
          created_at: '2026-11-22T01:31:06.021Z',
        },
        { end: true, count: 2, next_page_token: '' },
      ],
    },
  },
}

export const LIST_GROUP_TRANSACTIONS_EXAMPLES: Examples = {
  transfer: {
    summary: 'Both sides of a transfer',
    as: 'viewer',
    path: { groupId: 'ded877de-3d43-8ae1-a19c-7d7026c332cf' },
    answer: {
      status: 200,
      body: {
        group_id: 'ded877de-3d43-8ae1-a19c-7d7026c332cf',
        transactions: [
          {
            txn_id: 'txn_01M80E1PZ100000CSWPQKC0GHX',
            account_id: 'bob@example',
            amount: '25.00',
            type: 'credit',
            token_id: 'EURX',
            status: 'completed',
          },
          {
            txn_id: 'txn_01M80E1PYK000010SDVFCTVSQW',
            account_id: 'alice@example',
            amount: '25.00',
            type: 'transfer',
            token_id: 'EURX',
            status: 'completed',
          },
        ],
        next_page_token: '',
      },
    },
  },
  exchange: {
    summary: 'Both sides are completed by one decision',
    as: 'viewer',
    path: { groupId: '0b7a3f1e-6c1d-4d8e-9f25-3a4b5c6d7e8f' },
    headers: { Prefer: 'wait=10' },
    answer: {
      status: 200,
      body: {
        group_id: '0b7a3f1e-6c1d-4d8e-9f25-3a4b5c6d7e8f',
        transactions: [
          {
            txn_id: 'txn_01M80E1Q3T00000CZM09XBXDWH',
            account_id: 'bob@example',
            amount: '1',
            type: 'exchange',
            token_id: 'GOLD',
            status: 'completed',
          },
          {
            txn_id: 'txn_01M80E1Q3E000010ZRBEBEYXPN',
            account_id: 'alice@example',
            amount: '10',
            type: 'exchange',
            token_id: 'EURX',
            status: 'completed',
          },
        ],
        next_page_token: '',
      },
    },
  },
}
