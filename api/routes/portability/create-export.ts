/** POST /v1/exports: accounts and what belongs to them, for another ledger, signed (D20). */
import type { BegunExport } from '../../../runtime/ports/ledger-exports.ts'
import { admittedStream, sameAdmission } from '../../endpoint/admitted-stream.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { idempotent } from '../../endpoint/idempotent-endpoint.ts'
import { notFound, type Problem, problem } from '../../http/problem.ts'
import { unavailableProblem } from '../../endpoint/refusals.ts'
import { streamReply } from '../../http/reply.ts'
import { ADMINS, type EndpointOutcome, type GuardedCall, type GuardedRoute } from '../../endpoint/route.ts'
import { readExportRequest } from '../../schemas/export.ts'

export const EXPORT_TYPE = 'application/x-ndjson'

export function createExport(dependencies: EdgeDependencies): GuardedRoute {
  const { exports, readPublicKey, settings } = dependencies
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/exports',
    roles: ADMINS,
    asksLedger: true,
    handle: idempotent(dependencies, {
      read: (body) => readExportRequest(body, settings.ledgerId, readPublicKey),
      run: async (request, call) => {
        const { caller, scope, trail } = call
        return answerOf(call, await exports.begin({ ...request, caller, scope, trail }))
      },
    }),
  }
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
