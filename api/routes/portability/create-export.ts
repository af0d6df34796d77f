/** POST /v1/exports: accounts and what belongs to them, for another ledger, signed (D20). */
import type { BegunExport } from '../../../runtime/ports/ledger-exports.ts'
import { ADMINS, type Endpoint, type EndpointOutcome, type GuardedCall } from '../../endpoint/route.ts'
import { admittedStream, sameAdmission } from '../../endpoint/admitted-stream.ts'
import { notFound, type Problem, problem } from '../../http/problem.ts'
import { unavailableProblem } from '../../endpoint/refusals.ts'
import { streamReply } from '../../http/reply.ts'
import { exportRequestSchema, readExportRequest } from '../../schemas/requests/export.ts'
import { IDEMPOTENCY_KEY_HEADER } from '../../endpoint/parameters.ts'
import { bodyEndpoint } from '../../endpoint/body-endpoint.ts'

const EXPORT_TYPE = 'application/x-ndjson'

export const createExport: Endpoint = {
  id: 'createExport',
  method: 'POST',
  path: '/v1/exports',
  summary: 'Export accounts for another ledger',
  description: `One record a line, canonical JSON (RFC 8785), all of one moment: the ledger, tokens, NFT classes, NFTs with their history, attestations, accounts, and last the proof, which the service signs over all lines before it. Each line carries its number and the hash of the line before. An answer without the proof was cut off, and is none.

- With \`account_ids\`: these accounts, the tokens that they hold, and the NFTs that they own with their classes and attestations.
- With \`all: true\`: everything that there is, or that the client may see; accounts that were erased are left out.

\`log_head\` of the ledger record is the head of the log that was published at that moment. With up to 1,000 accounts, \`log_proof\` of an account proves that this log has its last entry; it is left out while the published log does not have the entry yet.

Balances are encrypted to \`recipient_public_key\`, the key of the receiving ledger; used idempotency keys are exported as hashes. Value in transit in open settlement groups is in no balance and is not exported.

With \`mode: move\` the accounts' holdings leave this ledger, and the accounts close for good. Each account must be frozen, without NFTs and without pending operations; otherwise the request has no effect (409). The request is idempotent: a retry returns the same file, also if the first response was lost. Under an \`Idempotency-Key\` a completely sent file of up to 64 MiB is stored for 24 hours and replayed unchanged; a retry for a longer one is a 409.

One export at a time: another request is a 503 with \`Retry-After\`. An export takes a minute at most.`,
  roles: ADMINS,
  changes: 'shard',
  administrative: ['mode', 'audience', 'all', 'account_ids', 'recipient_public_key'],
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
  handle: bodyEndpoint({
    read: (body, { readPublicKey, settings }) => readExportRequest(body, settings.ledgerId, readPublicKey),
    completed: ({ mode }) => ({ mode }),
    async run(request, { exports }, call) {
      const { caller, scope, trail } = call
      return answerOf(call, await exports.begin({ ...request, caller, scope, trail }))
    },
  }),
}

function answerOf(call: GuardedCall, begun: BegunExport): EndpointOutcome {
  switch (begun.kind) {
    case 'begun':
      return streamReply(200, EXPORT_TYPE, admittedStream(begun.content, sameAdmission(call)))
    case 'refused':
      return refusedExport(begun)
    case 'unavailable':
      return unavailableProblem(begun.reason, begun.outcome)
    case 'busy':
      return {
        ...problem('downstream-failure', 'ERR_OVERLOADED', 'Another export is under way here. Try again.'),
        outcome: 'not_applied',
      }
  }
}

function refusedExport({ code, detail, field }: Extract<BegunExport, { readonly kind: 'refused' }>): Problem {
  if (code === 'not_found') return notFound(detail, field)
  return problem('conflict', 'ERR_CONFLICT', detail, field === null ? null : [{ field, message: detail }])
}
