/** Exports: accounts for another ledger (D20). */
import { CREATE_EXPORT } from '../routes/portability/create-export.ts'
import { exportRequestSchema } from '../schemas/export.ts'
import type { Tag } from '../endpoint/operation.ts'

export const EXPORTS: Tag = {
  name: 'Exports',
  description: 'Accounts on their way to another ledger.',
  schemas: {
    ExportRequest: {
      schema: exportRequestSchema,
      description: 'The accounts to export and the receiving ledger. Either `account_ids` or `all`.',
      fields: {
        requester: 'The identifier of who asks; it is signed.',
        account_ids: 'The accounts, 1 to 1,000.',
        all: 'All of them. Not with `move`.',
        mode: '`copy`, unless said: nothing changes here. `move`: the accounts are emptied and closed.',
        audience: 'The `ledger_id` of the ledger that it is for.',
        recipient_public_key:
          'The `public_key` of `GET /v1/imports/key` of that ledger: a P-256 key, in any form that is taken for accounts.',
      },
    },
  },
  operations: [CREATE_EXPORT],
}
