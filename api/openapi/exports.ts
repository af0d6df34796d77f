/** Exports: accounts for another ledger (D20). */
import { ADMINS } from '../endpoint/route.ts'
import { EXPORT_TYPE } from '../routes/portability/create-export.ts'
import { exportRequestSchema } from '../schemas/export.ts'
import type { Operation, Tag } from './model/operation.ts'
import { IDEMPOTENCY_KEY_HEADER } from './parameters.ts'

export const createExport: Operation = {
  id: 'createExport',
  method: 'POST',
  path: '/v1/exports',
  summary: 'Export accounts for another ledger',
  description: `One record a line, canonical JSON (RFC 8785), all of one moment: the ledger, tokens, NFT classes, NFTs with their history, attestations, accounts, and last the proof, which the service signs over all lines before it. Each line carries its number and the hash of the line before. An answer without the proof was cut off, and is none.

- With \`account_ids\`: these accounts, the tokens that they hold, and the NFTs that they own with their classes and attestations.
- With \`all: true\`: everything that there is, or that the client may see; accounts that were erased are left out.

Balances are encrypted to \`recipient_public_key\`, the key of the ledger that it is for; used idempotency keys go along as hashes. What is in transit at that moment, in settlement groups that are open, is in no balance and is not exported.

With \`mode: move\` the accounts' holdings leave this ledger, and the accounts close for good. Each account must be frozen, without NFTs and without pending operations; otherwise the request has no effect (409). The request is idempotent: a retry returns the same file, also if the first response was lost. Under an \`Idempotency-Key\` a completely sent file of up to 64 MiB is stored for 24 hours and replayed unchanged; a retry for a longer one is a 409.

One export at a time: another one is told to try again (503). It takes a minute at most.`,
  roles: ADMINS,
  changes: 'shard',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: exportRequestSchema,
  answers: [
    {
      status: 200,
      description: 'The records, one a line.',
      content: EXPORT_TYPE,
      headers: ['Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_INVALID_ACCOUNT_ID: '',
    ERR_INVALID_PUBLIC_KEY: '',
    ERR_WRONG_LEDGER: '`audience` is this ledger.',
    ERR_NOT_FOUND: 'There is no such account, or not for this client.',
    ERR_CONFLICT:
      'An account was erased, or cannot be moved; or the history of an NFT names an account that was erased, or is too long.',
  },
}

export const EXPORTS: Tag = {
  name: 'Exports',
  description: 'Accounts on their way to another ledger.',
  schemas: {
    ExportRequest: {
      schema: exportRequestSchema,
      description: 'What is exported, for whom. Either `account_ids` or `all`.',
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
  operations: [createExport],
}
