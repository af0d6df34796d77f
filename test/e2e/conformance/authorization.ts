/** What each role may do. */
import { expect } from 'vitest'
import { type HttpReply, type LedgerClient, membersOf } from '../../support/client.ts'
import { keyed, outcomeOf } from '../../support/client-moves.ts'
import { type Access, type Endpoint, endpoints } from './endpoints.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export function authorizationChapter(suite: Suite): void {
  const row = suite.chapter('Authorization')

  row('viewer', 'reads everything, may use assertions, and is refused the rest with 403', async (stage) => {
    await expectReach(stage, stage.viewer, ['everyone'])
    expect(outcomeOf(await stage.viewer.submit(stage.cast.alice, keyed({ type: 'credit', amount: '1' })))).toBe(
      '403 ERR_FORBIDDEN',
    )
  })

  row('transactor', 'submits transactions and registers; what is for administrators is 403', async (stage) => {
    await expectReach(stage, stage.transactor, ['everyone', 'submitters'])
    expect((await stage.transactor.submit(stage.cast.alice, keyed({ type: 'credit', amount: '1' }))).status).toBe(202)
  })

  row('admin', 'may do everything, submitting included', async (stage) => {
    await expectReach(stage, stage.admin, ['everyone', 'submitters', 'admins'])
    expect((await stage.admin.submit(stage.cast.alice, keyed({ type: 'credit', amount: '1' }))).status).toBe(202)
  })
}

/** Within reach are exactly the endpoints of these kinds of access. */
async function expectReach(stage: Stage, client: LedgerClient, reach: readonly Access[]): Promise<void> {
  for (const endpoint of endpoints(stage)) {
    if (endpoint.access === 'public') continue
    const reply = await sent(client, endpoint)
    const { method, path, access } = endpoint
    const isRefused = reply.status === 403 && isForRole(reply)
    expect([method, path, isRefused, reply.body]).toEqual([method, path, !reach.includes(access), reply.body])
    if (isRefused) expect(outcomeOf(reply)).toBe('403 ERR_FORBIDDEN')
  }
}

/** Nothing but the role is judged of a body that is none. */
function sent(client: LedgerClient, { method, path }: Endpoint): Promise<HttpReply> {
  const headers = { ...client.authorization(), 'content-type': 'application/json' }
  return client.ask({ method, path, headers, ...(method === 'GET' ? {} : { body: '[' }) })
}

function isForRole(reply: HttpReply): boolean {
  return String(membersOf(reply)['detail']).includes('role')
}
