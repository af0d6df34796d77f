/** POST /v1/exports: accounts and what belongs to them, for another ledger, signed (D20). */
import type { BegunExport } from '../../runtime/ports/ledger-exports.ts'
import { admittedStream } from '../admitted-stream.ts'
import { readJsonBody } from '../body.ts'
import type { EdgeDependencies } from '../dependencies.ts'
import { invalidProblem, notFound, type Problem, problem } from '../problem.ts'
import { unavailableProblem } from '../refusals.ts'
import { readRegistrationKey } from '../registration-key.ts'
import { streamReply } from '../reply.ts'
import { ADMINS, type EndpointOutcome, type GuardedCall, type GuardedRoute } from '../route.ts'
import { readExportRequest } from '../schemas/export.ts'

export const EXPORT_TYPE = 'application/x-ndjson'

export function createExport({ exports, readPublicKey, settings }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/exports',
    roles: ADMINS,
    asksLedger: true,
    async handle(call) {
      const { http, caller, scope, trail } = call
      const body = await readJsonBody(http.req.raw)
      if (!body.ok) return body.error
      // Not needed: what an export changes it changes once, whoever asks again. Whoever sends one sends a good one.
      const { keyErrors } = readRegistrationKey(http)
      const requested = readExportRequest(body.value, settings.ledgerId, readPublicKey)
      const invalid = [...keyErrors, ...(requested.ok ? [] : requested.error)]
      if (!requested.ok || invalid.length > 0) return invalidProblem('validation-error', invalid)
      return answerOf(call, await exports.begin({ ...requested.value, caller, scope, trail }))
    },
  }
}

function answerOf({ admitAgain, scope }: GuardedCall, begun: BegunExport): EndpointOutcome {
  // What it holds was selected under this scope.
  const isAdmitted = async (): Promise<boolean> => {
    const grant = await admitAgain()
    return grant.ok && grant.value.scope.text === scope.text
  }
  switch (begun.kind) {
    case 'begun':
      return streamReply(200, EXPORT_TYPE, admittedStream(begun.content, isAdmitted))
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
