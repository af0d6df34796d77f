/**
 * Acts of administrators.
 *   A1. An act is recorded in the administrative chain before it is done, or it is not done.
 *   A2. Its outcome is recorded after it. An act without an outcome may have been done: the edge ended, or lost the store.
 */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { AdministrativeChainUnavailable, type AdministrativeRecord } from '../../runtime/ports/administrative-chain.ts'
import { fieldsOf } from '../../runtime/ports/trail.ts'
import { downstreamFailure, PROBLEM_TYPES } from '../http/problem.ts'
import type { EdgeContext, EndpointOutcome, GuardedCall } from './route.ts'

type Dependencies = Pick<EdgeContext, 'administrativeChain' | 'log'>

/** Does the work of a request, and records it if it is an act of an administrator. */
export async function administer(
  dependencies: Dependencies,
  call: GuardedCall,
  body: JsonObject,
  work: () => EndpointOutcome | Promise<EndpointOutcome>,
): Promise<EndpointOutcome> {
  const { caller, endpoint, http, trail } = call
  if (endpoint.administrative === undefined || caller.role !== 'admin') return work()
  const accountId = http.req.param('accountId') ?? null
  const details = { ...pathDetails(call), ...bodyDetails(body, endpoint.administrative) }
  const act = { clientId: caller.clientId, act: endpoint.id, accountId }
  let sequence: number
  try {
    sequence = await dependencies.administrativeChain.record({ ...act, details, of: null })
  } catch (error) {
    if (!(error instanceof AdministrativeChainUnavailable)) throw error
    dependencies.log.warn('administrative_act_not_recorded', { ...fieldsOf(trail), act: endpoint.id })
    return { ...downstreamFailure(), outcome: 'not_applied' }
  }
  const recordOutcome = (reached: JsonObject) => recordLast(dependencies, { ...act, details: reached, of: sequence })
  try {
    const outcome = await work()
    await recordOutcome(reachedBy(outcome))
    return outcome
  } catch (error) {
    await recordOutcome({ outcome: 'unknown' })
    throw error
  }
}

const PATH_VALUE = /\/:(\w+)/g

/** Without the account, which an entry has only as a keyed hash. */
function pathDetails({ endpoint, http }: GuardedCall): JsonObject {
  const names = [...endpoint.path.matchAll(PATH_VALUE)].map(([, name = '']) => name)
  const shown = names.filter((name) => name !== 'accountId')
  return Object.fromEntries(shown.map((name) => [snakeCase(name), http.req.param(name) ?? null]))
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function bodyDetails(body: JsonObject, names: readonly string[]): JsonObject {
  const given = names.filter((name) => body[name] !== undefined)
  return Object.fromEntries(
    given.map((name) => {
      const value = body[name] ?? null
      return [name, Array.isArray(value) ? value.length : value]
    }),
  )
}

function reachedBy(outcome: EndpointOutcome): JsonObject {
  if (outcome.kind !== 'problem') return { status: outcome.status }
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
