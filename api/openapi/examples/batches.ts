/** Examples of batches. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const SUBMIT_BATCH_EXAMPLES: Examples = {
  repeats: {
    summary: 'Two orders that were sent before: each gets its first receipt again',
    as: 'transactor',
    body: {
      submissions: [
        {
          account_id: 'alice@example',
          type: 'credit',
          amount: '100.50',
          idempotency_key: 'order-1001',
          metadata: { note: 'first funding' },
          signature: 'Jor44umKA_H6isi8bUAFk5NjX_8Wc8r-32RSkF8eujAuEhGJSUSkGJox79vTDIKCezdxkKvN7oTakiNE8OoeVA',
        },
        {
          account_id: 'alice@example',
          type: 'debit',
          amount: '1000',
          idempotency_key: 'order-1003',
          signature: 's1quVd1b2w-vxHb1FegrTzRpQ0UNf5DNIYw7wpsuUBjDF3Mm-izN0BakhEwxP6jyPlB_zXIXg1RDTuCiaH7dlw',
        },
      ],
    },
    answer: {
      status: 200,
      body: {
        results: [
          {
            status: 202,
            receipt: {
              txn_id: 'txn_01M80E1PQB000010SNKHFAT8F1',
              account_id: 'alice@example',
              status: 'pending',
              shard_id: 131,
              enqueued_at: '2026-11-22T01:31:05.835Z',
            },
            replayed: true,
          },
          {
            status: 202,
            receipt: {
              txn_id: 'txn_01M80E1PV6000010W1DNTF3NMN',
              account_id: 'alice@example',
              status: 'pending',
              shard_id: 131,
              enqueued_at: '2026-11-22T01:31:05.958Z',
            },
            replayed: true,
          },
        ],
      },
    },
  },
}
