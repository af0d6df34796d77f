/** GET /v1/imports/{id}: how far an import is. */
import { ADMINS, type Endpoint, pathValue } from '../../endpoint/route.ts'
import { importMembers } from '../../views/import-views.ts'
import { notFound } from '../../http/problem.ts'
import { jsonReply } from '../../http/reply.ts'
import { importResponse } from '../../schemas/responses/import.ts'

export const getImport: Endpoint = {
  id: 'getImport',
  method: 'GET',
  path: '/v1/imports/:importId',
  summary: 'See how far an import is',
  description: 'Which part comes next, how much is done once all parts are there, and what became of it.',
  roles: ADMINS,
  answers: [{ status: 200, description: 'The import.', content: importResponse }],
  async handle({ imports }, call) {
    const importId = pathValue(call, 'importId').toLowerCase()
    const status = importId.includes('\0') ? undefined : await imports.status(importId)
    if (status === undefined) return notFound('There is no such import.')
    return jsonReply(200, importMembers(importId, status))
  },
}
