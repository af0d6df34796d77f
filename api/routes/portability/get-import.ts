/** GET /v1/imports/{id}: how far an import is. */
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { importMembers } from '../../views/import-views.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { ADMINS, type GuardedRoute, pathValue } from '../../endpoint/route.ts'

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
