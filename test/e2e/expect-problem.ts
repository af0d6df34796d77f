import { expect } from 'vitest'
import { type HttpReply, membersOf } from '../support/client.ts'

export interface ExpectedProblem {
  readonly status: number
  /** The last part of `type`. */
  readonly slug: string
  readonly code: string
}

/** What the interface promises of every 'no' (D14). `what` names the case. */
export function expectProblem(what: string, reply: HttpReply, expected: ExpectedProblem): void {
  const { status, slug, code } = expected
  expect([what, reply.status, reply.body], what).toEqual([what, status, reply.body])
  expect(reply.headers['content-type'], what).toMatch(/^application\/problem\+json/)
  expect(reply.headers['x-request-id'], what).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  const problem = membersOf(reply)
  expect(problem, what).toMatchObject({ status, error_codes: expect.arrayContaining([code]) })
  expect(String(problem['type']).split('/').at(-1), what).toBe(slug)
  expect(problem['title'], what).toEqual(expect.any(String))
  expect(problem['detail'], what).toEqual(expect.any(String))
  if (status === 400) expect(problem['errors'], what).toEqual(expect.arrayContaining([expect.anything()]))
  if (status === 401) expect(reply.headers['www-authenticate'], what).toMatch(/^Bearer/)
  if (status === 405) expect(reply.headers.allow, what).toEqual(expect.any(String))
  // No stack, no statement, no place in our files.
  expect(reply.body, what).not.toMatch(/\bat \S+:\d+|node_modules|SELECT|\.ts\b|\.js\b/)
}
