/**
 * Acts of administrators.
 *   A1. An act is recorded in the administrative chain before it is done, or it is not done.
 *   A2. Its outcome is recorded after it, and of a streamed reply at the end of the body. An act without an outcome may have
 *       been done: the edge ended, or lost the store.
 *   A3. A replayed reply is no act: nothing is done again. The key belongs to the client of the first request.
 */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { CLIENT_ID_FORM } from '../../runtime/ports/access-store.ts'
import { AdministrativeChainUnavailable, type AdministrativeRecord } from '../../runtime/ports/administrative-chain.ts'
import { fieldsOf } from '../../runtime/ports/trail.ts'
import { downstreamFailure, PROBLEM_TYPES } from '../http/problem.ts'
import type { StreamReply } from '../http/reply.ts'
import { recordedStream } from '../http/recorded-stream.ts'
import type { EdgeContext, EndpointOutcome, GuardedCall } from './route.ts'

type Dependencies = Pick<EdgeContext, 'administrativeChain' | 'log' | 'readPublicKey'>

/** Does the work of a request, and records it if it is an act of an administrator. */
export async function administer(
  dependencies: Dependencies,
  call: GuardedCall,
  body: JsonObject,
  work: () => EndpointOutcome | Promise<EndpointOutcome>,
): Promise<EndpointOutcome> {
  const { caller, endpoint, http, trail } = call
  if (endpoint.administrative === undefined || caller.role !== 'admin') return work()
  const accountId = accountOf(call, body)
  const details = { ...pathDetails(call), ...bodyDetails(body, endpoint.administrative, dependencies.readPublicKey) }
  const act = { clientId: caller.clientId, act: endpoint.id, accountId }
  let sequence: number
  try {
    sequence = await dependencies.administrativeChain.record({ ...act, details, of: null })
  } catch (error) {
    if (!(error instanceof AdministrativeChainUnavailable)) throw error
    dependencies.log.warn('administrative_act_not_recorded', { ...fieldsOf(trail), act: endpoint.id })
    return { ...downstreamFailure(), outcome: 'not_applied' }
  }
  const signal = http.req.raw.signal
  const recordOutcome = (reached: JsonObject) => recordLast(dependencies, { ...act, details: reached, of: sequence })
  // The client has gone, and may have done the opposite elsewhere.
  if (signal.aborted) {
    await recordOutcome({ outcome: 'not_applied' })
    return { ...downstreamFailure(), outcome: 'not_applied' }
  }
  try {
    const outcome = await work()
    if (outcome.kind === 'stream') {
      const { status, body: source } = outcome
      return { ...outcome, body: recordedStream(source, (end) => recordOutcome({ status, ...end })) }
    }
    await recordOutcome(reachedBy(outcome))
    return outcome
  } catch (error) {
    await recordOutcome({ outcome: 'unknown' })
    throw error
  }
}

const PATH_VALUE = /\/:(\w+)/g

/** Those of a known form. The account is not among them: an entry has it only as a keyed hash. */
function pathDetails({ endpoint, http }: GuardedCall): JsonObject {
  const names = [...endpoint.path.matchAll(PATH_VALUE)].map(([, name = '']) => name)
  return Object.fromEntries(
    names.flatMap((name) => {
      const [form, value = ''] = [FORMS[name], http.req.param(name)]
      return form === undefined ? [] : [[snakeCase(name), form.test(value) ? value : null]]
    }),
  )
}

const MADE_ID = /^(whk|hld|att)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/
/** Of the values of paths that an entry repeats: a path may have any text, and an entry is there for ever. */
const FORMS: Readonly<Record<string, RegExp>> = {
  webhookId: MADE_ID,
  holdId: MADE_ID,
  attestationId: MADE_ID,
  groupId: /^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/,
  shardId: /^[0-9]{1,5}$/,
  clientId: CLIENT_ID_FORM,
}

/** The account of the path, or else that the body names. */
function accountOf({ http }: GuardedCall, body: JsonObject): string | null {
  const named = http.req.param('accountId') ?? body['account_id'] ?? body['issuer']
  return typeof named === 'string' ? named : null
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Of a key its ID: a client may have sent more than the public part. */
function bodyDetails(
  body: JsonObject,
  names: readonly string[],
  readPublicKey: EdgeContext['readPublicKey'],
): JsonObject {
  const given = names.filter((name) => body[name] !== undefined)
  return Object.fromEntries(
    given.map((name) => {
      const value = body[name] ?? null
      if (name.endsWith('public_key'))
        return [name.replace('public_key', 'key_id'), readPublicKey(value)?.keyId ?? null]
      if (name === 'url' && typeof value === 'string') return [name, new URL(value).origin]
      // Token IDs: the list names no account.
      if (name === 'boundary') return [name, value]
      return [name, Array.isArray(value) ? value.length : value]
    }),
  )
}

function reachedBy(outcome: Exclude<EndpointOutcome, StreamReply>): JsonObject {
  if (outcome.kind === 'reply') {
    const made = outcome.headers['location']?.split('/').at(-1) ?? ''
    return { status: outcome.status, ...(MADE_ID.test(made) ? { made } : {}) }
  }
  const unanswered = outcome.outcome ?? null
  return { status: PROBLEM_TYPES[outcome.type].status, ...(unanswered === null ? {} : { outcome: unanswered }) }
}

/** A2. */
async function recordLast({ administrativeChain, log }: Dependencies, outcome: AdministrativeRecord): Promise<void> {
  try {
    await administrativeChain.record(outcome)
  } catch (error) {
    if (!(error instanceof AdministrativeChainUnavailable)) throw error
    log.warn('administrative_outcome_not_recorded', { act: outcome.act, of: outcome.of })
  }
}
