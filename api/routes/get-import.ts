/** GET /v1/imports/{id}: how far an import is. */
import type { EdgeDependencies } from '../dependencies.ts'
import { importMembers } from '../import-views.ts'
import { notFound } from '../problem.ts'
import { jsonReply } from '../reply.ts'
import { ADMINS, type GuardedRoute, pathValue } from '../route.ts'

export function getImport({ imports }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'GET',
    path: '/v1/imports/:importId',
    roles: ADMINS,
    asksLedger: false,
    async handle(call) {
      const importId = pathValue(call, 'importId').toLowerCase()
      const status = importId.includes('\0') ? undefined : await imports.status(importId)
      if (status === undefined) return notFound('There is no such import.')
      return jsonReply(200, importMembers(importId, status))
    },
  }
}
