/** A body with everything wrong is told everything that is wrong: each field, and each code, in one answer. */
import { expect } from 'vitest'
import { type HttpReply, membersOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { fieldsOf } from '../../support/client-moves.ts'
import { sorted } from './sorted.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { ACCOUNT, FIELD, WRONG_BODIES, type WrongBodies } from './validation-bodies.ts'

export function validationChapter(suite: Suite): void {
  const row = suite.chapter('Everything wrong at once')
  row('POST /v1/auth/token', 'every field and every code', async ({ ask }) => {
    const headers = { 'content-type': 'application/json' }
    for (const [body, fields] of [
      [{}, ['client_id', 'client_secret']],
      [{ client_id: '', client_secret: 7 }, ['client_id', 'client_secret']],
      [{ grant_type: 'refresh_token', refresh_token: '' }, ['refresh_token']],
    ] as const) {
      const reply = await ask({ method: 'POST', path: '/v1/auth/token', headers, body: JSON.stringify(body) })
      expectAll(reply, Object.fromEntries(fields.map((field) => [field, FIELD])))
    }
  })
  for (const endpoint of WRONG_BODIES) {
    row(endpoint.row, 'every field and every code', async (stage) => {
      for (const { body, expected } of endpoint.cases) expectAll(await sent(stage, endpoint, body), expected)
    })
  }
  row('GET /v1/transactions', 'every parameter and every code', async ({ viewer }) => {
    const query = 'account_id=/&date_from=x&date_to=x&type=x&token_id=-&group_id=x&amount_min=x&amount_max=x&status=x'
    const reply = await viewer.get(`/v1/transactions?${query}&idempotency_key=%C3%A4&order=x&page_size=0&page_token=x`)
    expectAll(
      reply,
      {
        account_id: ACCOUNT,
        date_from: 'ERR_INVALID_TIMESTAMP',
        date_to: 'ERR_INVALID_TIMESTAMP',
        type: 'ERR_INVALID_TYPE',
        token_id: 'ERR_INVALID_TOKEN_ID',
        group_id: 'ERR_INVALID_GROUP_ID',
        amount_min: 'ERR_INVALID_AMOUNT',
        amount_max: 'ERR_INVALID_AMOUNT',
        status: 'ERR_INVALID_QUERY',
        idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
        order: 'ERR_INVALID_QUERY',
        page_size: 'ERR_INVALID_QUERY',
        page_token: 'ERR_INVALID_QUERY',
      },
      'invalid-request',
    )
  })
}

function sent({ admin, ...stage }: Stage, { row, path }: WrongBodies, body: Members): Promise<HttpReply> {
  const [method = ''] = row.split(' ')
  const headers = { ...admin.authorization(), 'content-type': 'application/json' }
  return admin.ask({ method, path: path({ admin, ...stage }), headers, body: JSON.stringify(body) })
}

/** Exactly these fields, in whatever order and with whatever said of each, and exactly their codes. */
function expectAll(
  reply: HttpReply,
  expected: Readonly<Record<string, string>>,
  type: 'validation-error' | 'invalid-request' = 'validation-error',
): void {
  const codes = membersOf(reply)['error_codes'] as readonly string[]
  expect({
    status: reply.status,
    type: String(membersOf(reply)['type']).split('/').at(-1),
    fields: sorted(new Set(fieldsOf(reply))),
    codes: sorted(codes),
  }).toEqual({
    status: 400,
    type,
    fields: sorted(Object.keys(expected)),
    codes: sorted(new Set(Object.values(expected))),
  })
}
