/** Examples of signed receipts. Sent and answered as they stand: see the walk-through. */
import type { Examples } from '../model/operation.ts'

export const GET_RECEIPT_EXAMPLES: Examples = {
  completed: {
    summary: 'The signed receipt',
    as: 'viewer',
    path: { txnId: 'txn_01M80E1PQB000010SNKHFAT8F1' },
    answer: {
      status: 200,
      body: {
        receipt: {
          account_id: 'alice@example',
          amount: '100.50',
          audit_hash: 'sha256:21a0deb292abc9b1da671a15ece1517525d546d9971987154fca003c2cbfaaf5',
          created_at: '2026-11-22T01:31:05.835Z',
          format: 1,
          key_id: 'kjaaBazQ67GDEtKyO3sznSIKOrjS0VV9i6b834BsCRw',
          ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
          metadata: { note: 'first funding' },
          origin: 'client',
          previous_hash: 'sha256:a11f0b6935172793bf19a1df6f64939ad41db71c67e854b1032a368ea237869d',
          processed_at: '2026-11-22T01:31:05.835Z',
          sequence: 1,
          shard_id: 131,
          status: 'completed',
          submission_hash: 'sha256:927972b3cee7ff89719f328007bb780bbc3b61d1ea812c072258c185f506d17b',
          token_id: 'BASE',
          txn_id: 'txn_01M80E1PQB000010SNKHFAT8F1',
          type: 'credit',
        },
        signature: 'MEQCIHJH0Eo6z6nsKZ3xBmFkhwXesF7VIxqh9x1a8BjDNoqWAiBE1uXy5kmYMHH0mkakK56czuJYly385APgEKyzrSO17Q==',
      },
    },
  },
  failed: {
    summary: 'The receipt of a failed transaction',
    as: 'viewer',
    path: { txnId: 'txn_01M80E1PV6000010W1DNTF3NMN' },
    answer: {
      status: 200,
      body: {
        receipt: {
          account_id: 'alice@example',
          amount: '1000',
          audit_hash: null,
          created_at: '2026-11-22T01:31:05.958Z',
          failure: {
            code: 'insufficient_funds',
            detail: 'The amount is larger than the available balance.',
          },
          format: 1,
          key_id: 'kjaaBazQ67GDEtKyO3sznSIKOrjS0VV9i6b834BsCRw',
          ledger_id: '508d5f62-c695-42a6-8448-5549a35bad34',
          origin: 'client',
          previous_hash: null,
          processed_at: '2026-11-22T01:31:05.958Z',
          sequence: null,
          shard_id: 131,
          status: 'failed',
          submission_hash: 'sha256:ee4b2f3b2fe576a015ec2abc200136d45b3fc394e3daa4e0f223c966db082cf3',
          token_id: 'BASE',
          txn_id: 'txn_01M80E1PV6000010W1DNTF3NMN',
          type: 'debit',
        },
        signature: 'MEUCIQDV+VVSqLj7G4TskC1VAxmiuiIvrJhWFE5E28JCio3mGgIgKvCp42KXZzFitv1XpR5g5HlcS97C+OAjj/dT9NKeDkA=',
      },
    },
  },
}
