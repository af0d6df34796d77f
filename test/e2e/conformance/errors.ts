/** The fields of a problem, and what none of them may show. */
import { expect } from 'vitest'
import { membersOf } from '../../support/client.ts'
import { keyed } from '../../support/client-moves.ts'
import { BODY_LIMIT_BYTES, NO_TXN } from './forms.ts'
import { once } from './once.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

/** What is wrong -> the last part of `type`, and `title`. */
const TYPES: Readonly<Record<string, readonly [string, string]>> = {
  'unreadable body': ['invalid-request', 'Bad Request'],
  'wrong body': ['validation-error', 'Validation Error'],
  'no token': ['unauthorized', 'Unauthorized'],
  'wrong role': ['forbidden', 'Forbidden'],
  'nothing there': ['not-found', 'Not Found'],
  'wrong method': ['method-not-allowed', 'Method Not Allowed'],
  'there already': ['conflict', 'Conflict'],
  'too large': ['payload-too-large', 'Payload Too Large'],
  'no JSON': ['unsupported-media-type', 'Unsupported Media Type'],
}

/** What no problem may show: a stack, a statement, a place in files, a server, a secret. */
const INSIDE = /\bat \S+:\d+|node_modules|\bSELECT\b|\bINSERT\b|\.ts\b|\.js\b|postgres|nats|secret/i

export function problemChapter(suite: Suite): void {
  const row = suite.chapter('Problem')

  row('type', '{error_base}/<slug>, which is a page', async (stage) => {
    for (const [what, reply] of Object.entries(await problems(stage))) {
      const type = String(membersOf(reply)['type'])
      expect([what, type]).toEqual([what, `${stage.cluster.origin}/errors/${TYPES[what]?.[0] ?? ''}`])
      const page = await stage.ask({ method: 'GET', path: new URL(type).pathname })
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    }
  })

  row('title', 'string, of the type', async (stage) => {
    for (const [what, reply] of Object.entries(await problems(stage))) {
      expect([what, membersOf(reply)['title']]).toEqual([what, TYPES[what]?.[1]])
    }
  })

  row('status', 'integer, the HTTP status', async (stage) => {
    for (const [what, reply] of Object.entries(await problems(stage))) {
      expect([what, membersOf(reply)['status'], reply.headers['content-type']]).toEqual([
        what,
        reply.status,
        'application/problem+json',
      ])
    }
  })

  row('detail', 'string that says what is wrong here', async (stage) => {
    const details = Object.values(await problems(stage)).map((reply) => String(membersOf(reply)['detail']))
    for (const detail of details) expect(detail.length).toBeGreaterThan(10)
    expect(new Set(details).size).toBe(details.length)
  })

  row('instance', 'string, the path of the request', async (stage) => {
    for (const [what, reply] of Object.entries(await problems(stage))) {
      const [path] = stage.requestOf(reply).path.split('?')
      expect([what, membersOf(reply)['instance']]).toEqual([what, path])
    }
  })

  row('errors', 'array of field and message, on every 400', async (stage) => {
    for (const [what, reply] of Object.entries(await problems(stage))) {
      const { errors } = membersOf(reply)
      const form = { field: expect.stringMatching(/./), message: expect.stringMatching(/./) }
      if (reply.status === 400) expect([what, errors]).toEqual([what, expect.arrayContaining([form])])
    }
    const { 'wrong body': wrong } = await problems(stage)
    expect((membersOf(wrong)['errors'] as readonly { readonly field: string }[]).map(({ field }) => field)).toEqual([
      'amount',
    ])
  })

  row('error_codes', 'array of codes, on every problem; several where several apply', async (stage) => {
    for (const [what, reply] of Object.entries(await problems(stage))) {
      const codes = membersOf(reply)['error_codes'] as readonly string[]
      expect([what, codes.length > 0, codes.every((code) => /^ERR_[A-Z_]+$/.test(code))]).toEqual([what, true, true])
      expect(new Set(codes).size).toBe(codes.length)
    }
    const several = await stage.transactor.post('/v1/transactions', {})
    expect((membersOf(several)['error_codes'] as readonly string[]).length).toBeGreaterThan(3)
  })

  row('nothing of the inside', 'is in any problem; each has the ID of its request', async (stage) => {
    for (const [what, reply] of Object.entries(await problems(stage))) {
      expect([what, reply.body]).toEqual([what, expect.not.stringMatching(INSIDE)])
      expect(reply.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
    }
    const named = await stage.viewer.get('/v1/nothing', { 'x-request-id': 'mine.1' })
    expect(named.headers['x-request-id']).toBe('mine.1')
    const unfit = await stage.viewer.get('/v1/nothing', { 'x-request-id': 'not fit!' })
    expect(unfit.headers['x-request-id']).not.toBe('not fit!')
  })
}

/** One of each type that can be had without breaking anything. */
const problems = once(async (stage: Stage) => {
  const { ask, viewer, transactor, cast } = stage
  const { accountId } = cast.alice
  const path = '/v1/transactions'
  const key = { account_id: accountId, public_key: cast.bob.keys.jwk }
  return {
    'unreadable body': await transactor.post(path, '{'),
    'wrong body': await transactor.submit(cast.alice, keyed({ type: 'credit', amount: 'much' })),
    'no token': await ask({ method: 'GET', path }),
    'wrong role': await viewer.get('/v1/accounts'),
    'nothing there': await viewer.get(`${path}/${NO_TXN}?`),
    'wrong method': await ask({ method: 'DELETE', path, headers: viewer.authorization() }),
    'there already': await transactor.post('/v1/accounts', key),
    'too large': await transactor.post(path, ' '.repeat(BODY_LIMIT_BYTES + 1)),
    'no JSON': await transactor.post(path, '{}', { 'content-type': 'text/plain' }),
  }
})
