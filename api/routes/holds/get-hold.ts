/** GET /v1/holds/{id} (D25). */
import { type Endpoint, EVERYONE, pathValue } from '../../endpoint/route.ts'
import { seenHold } from '../../endpoint/scoped-reads.ts'
import { jsonReply } from '../../http/reply.ts'
import { holdResponse } from '../../schemas/responses/hold.ts'
import { holdMembers, noSuchHold } from '../../views/hold-views.ts'

export const getHold: Endpoint = {
  id: 'getHold',
  method: 'GET',
  path: '/v1/holds/:holdId',
  summary: 'Get a hold',
  description: 'A hold that has ended stays readable, without its metadata.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The hold.', content: holdResponse }],
  async handle({ reads }, call) {
    const hold = await seenHold(reads, call.scope, pathValue(call, 'holdId'))
    return hold === undefined ? noSuchHold() : jsonReply(200, holdMembers(hold))
  },
}
