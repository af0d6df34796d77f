/** Checks the guarantees of every problem (D14), for many replies at once. */
import { type HttpReply, membersOf } from './client/client.ts'
import type { Members } from './client/client-keys.ts'

export interface ExpectedProblem {
  readonly status: number
  /** The last part of `type`. */
  readonly slug: string
  readonly code: string
}

/** Internals that no problem may show: a stack, a statement, a place in our files. */
const LEAK = /\bat \S+:\d+|node_modules|SELECT|\.ts\b|\.js\b/

/** RFC 3986, 3.3. */
const URI_PATH = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/

export class ProblemCheck {
  /** One line for each thing that is not as it should be; empty is good. */
  readonly faults: string[] = []

  /** `what` names the case. */
  check(what: string, reply: HttpReply, expected: ExpectedProblem): void {
    for (const fault of faultsOf(reply, expected)) {
      this.faults.push(`${what}: ${fault} in ${reply.status} ${reply.body.slice(0, 400)}`)
    }
  }
}

function faultsOf(reply: HttpReply, { status, slug, code }: ExpectedProblem): readonly string[] {
  if (reply.status !== status) return [`not ${status}`]
  const faults: string[] = []
  const demand = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(fault)
  }
  const { headers } = reply
  demand(headers['content-type'] === 'application/problem+json', `content type ${String(headers['content-type'])}`)
  demand(/^[A-Za-z0-9._-]{1,64}$/.test(textIn(headers['x-request-id'])), 'no request ID')
  demand(!LEAK.test(reply.body), 'something of the inside')
  if (status === 401) demand(textIn(headers['www-authenticate']).startsWith('Bearer'), 'no WWW-Authenticate')
  if (status === 405) demand(textIn(headers.allow) !== '', 'no Allow')
  let problem: Members
  try {
    problem = membersOf(reply)
  } catch {
    return [...faults, 'no JSON']
  }
  const { type, title, detail, errors, error_codes: codes } = problem
  demand(problem['request_id'] === headers['x-request-id'], 'another request ID in the body')
  demand(URI_PATH.test(textIn(problem['instance'])), 'an instance that is not a path')
  demand(problem['status'] === status, 'another status in the body')
  demand(textIn(type).endsWith(`/${slug}`), `not the type ${slug}`)
  demand(textIn(title) !== '' && textIn(detail) !== '', 'no title or detail')
  demand(Array.isArray(codes) && codes.includes(code), `no code ${code}`)
  if (status === 400) demand(Array.isArray(errors) && errors.length > 0, 'no errors')
  return faults
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
