/** Checks that an answer about a group or token was true at some moment of the request (I10). */
import type { ActorState } from '../../../actors/actor-state.ts'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { GatewayRequest } from '../../../runtime/edge/ledger-gateway.ts'
import { actorKey, canonicalText, sha256Hex } from '../../support/reference-encoding.ts'
import type { ActorChecker } from './actors.ts'
import { HOSTILE_CLIENT } from '../workload/hostile.ts'
import type { ModelFacts, Window } from '../reference/model.ts'
import { isTrueOfActor, objectionToPortage } from './arrived.ts'
import { objectionToRelease } from '../reference/payment-holds.ts'
import { isPortage } from '../reference/portage.ts'

export type RegisterOperation = Extract<
  GatewayRequest['operation'],
  { kind: 'register_token' | 'register_group' | 'register_class' }
>

/** An issuer's possible refusals of a token or class that names it. */
const OF_ISSUERS = ['account_closed', 'account_refuses', 'balance_limit', 'issuer_consent_missing']
/** The refusals of unsigned legs: none depends on an account's balance or activity (D10). */
const OF_LEGS = ['account_not_found', 'account_closed', 'account_refuses', 'group_expired']

export function objectionToActor(
  actors: ActorChecker,
  facts: Pick<ModelFacts, 'token'>,
  { actor, caller, operation }: GatewayRequest,
  answer: Answer,
  window: Window,
): string | undefined {
  const key = actorKey(actor)
  const states = actors.statesBetween(key, window.fromMs, window.toMs)
  const latest = states.at(-1) ?? null
  switch (answer.kind) {
    case 'token_registered': {
      const registered = latest?.kind === 'token' && latest.status === 'active' && latest.clientId === caller.clientId
      const same = registered && latest.tokenId === answer.token.tokenId && latest.issuer === answer.token.issuer
      if (!same) return `registered, and the token is ${show(latest)}`
      return objectionToMark(answer, operation, {
        symbol: latest.tokenId,
        decimals: latest.decimals,
        issuer: latest.issuer,
        total_supply: latest.initialSupply,
      })
    }
    case 'class_registered': {
      const registered = latest?.kind === 'class' && latest.status === 'active' && latest.clientId === caller.clientId
      const same = registered && latest.classId === answer.nftClass.classId && latest.issuer === answer.nftClass.issuer
      if (!same) return `registered, and the class is ${show(latest)}`
      return objectionToMark(answer, operation, {
        name: latest.name,
        description: latest.description,
        issuer: latest.issuer,
        metadata_schema: latest.metadataSchema,
      })
    }
    case 'group_registered': {
      const agreed = operation.kind === 'register_group' ? sha256Hex(operation.payload) : ''
      const registered = latest?.kind === 'group' && latest.status !== 'registering' && latest.status !== 'refusing'
      const same = registered && latest.clientId === caller.clientId && latest.termsHash === agreed
      const shown = answer.group.termsHash === agreed
      if (!same || !shown) return `registered, and the group is ${show(latest)}`
      return answer.mismatch ? 'a mismatch, and the terms are the same' : undefined
    }
    case 'group_reverting': {
      const reverts = latest?.kind === 'group' && ['reverting', 'reverted', 'linked'].includes(latest.status)
      return reverts ? undefined : `reverting, and the group is ${show(latest)}`
    }
    case 'hold_released': {
      const ended = latest?.kind === 'hold' && latest.status !== 'active' ? latest : undefined
      return objectionToRelease(answer, actor.id, ended)
    }
    case 'arrival':
      return states.some((state) => isTrueOfActor(state, operation, answer.state))
        ? undefined
        : `${answer.state}, and the ${actor.kind} was only ${states.map(show).join(', ')}`
    case 'refused':
      if (isPortage(operation)) return objectionToPortage(answer.code, operation, states, caller)
      return objectionToRefusal(answer.code, operation, states, facts, window, caller)
    default:
      return `no ${actor.kind} says ${answer.kind}`
  }
}

/**
 * A replay is marked as a mismatch if it differs from `registered`. A request that waits with the first gets the first
 * one's answer.
 */
function objectionToMark(
  { replayed, mismatch }: { readonly replayed: boolean; readonly mismatch: boolean },
  operation: GatewayRequest['operation'],
  registered: JsonObject,
): string | undefined {
  if (!('payload' in operation)) return undefined
  const asked = JSON.parse(operation.payload) as JsonObject
  const differs = Object.entries(registered).some(
    ([field, value]) => canonicalText(asked[field] ?? null) !== canonicalText(value),
  )
  return mismatch === (replayed && differs) ? undefined : `the mark of a mismatch is ${mismatch}`
}

function objectionToRefusal(
  code: string,
  operation: GatewayRequest['operation'],
  states: readonly (ActorState | null)[],
  facts: Pick<ModelFacts, 'token'>,
  { fromMs }: Window,
  caller: GatewayRequest['caller'],
): string | undefined {
  const some = (isIt: (state: ActorState | null) => boolean): string | undefined =>
    states.some(isIt) ? undefined : `${code}, and it was only ${states.map(show).join(', ')}`
  const statusIn = (...statuses: readonly string[]): string | undefined =>
    some((state) => state?.kind === 'group' && statuses.includes(state.status))
  switch (code) {
    case 'token_exists':
    case 'class_exists':
    case 'group_exists':
      return some((state) => state !== null && 'clientId' in state && !isItsOwn(state, operation, caller))
    case 'group_settled':
      return statusIn('settling', 'settled')
    case 'group_not_found':
      return some((state) => state?.kind !== 'group' || state.status === 'registering' || state.status === 'refusing')
    case 'transaction_not_found':
      return statusIn('linked')
    case 'hold_not_found':
      return some((state) => state === null)
    case 'not_allowed':
      return caller.role === 'admin' ? 'an administrator is not allowed' : undefined
    case 'boundary_not_granted':
      return caller.boundary === true ? 'the caller has the boundary grant, and is refused for lack of it' : undefined
    case 'token_not_found': {
      const known = tokensIn(operation).map((tokenId) => facts.token(tokenId))
      const missing = known.some((token) => token === undefined || token.fromMs >= fromMs)
      return missing ? undefined : 'a token is not found that was there'
    }
    case 'amount_precision':
    case 'not_issuer':
    // Legs name classes and NFTs, which may be created at any moment.
    case 'class_not_found':
    case 'instance_not_found':
      return undefined
    default: {
      const isBound = code === 'expectation_limit' && caller.clientId === HOSTILE_CLIENT.clientId
      const known = operation.kind === 'register_group' ? OF_LEGS : OF_ISSUERS
      if (!isBound && !known.includes(code)) return `refused with ${code}`
      // A refused registration leaves no state.
      return some((state) => state === null)
    }
  }
}

/** Whether exactly this request created the state. */
function isItsOwn(
  state: Exclude<ActorState, { kind: 'exchange' | 'instance' | 'hold' }>,
  operation: GatewayRequest['operation'],
  caller: GatewayRequest['caller'],
): boolean {
  if (state.clientId !== caller.clientId || !('registrationKey' in operation)) return false
  return operation.registrationKey !== null && state.registrationKey === `key ${operation.registrationKey}`
}

function tokensIn(operation: GatewayRequest['operation']): readonly string[] {
  if (operation.kind !== 'register_group') return []
  const { legs } = JSON.parse(operation.payload) as { readonly legs: readonly { readonly token_id?: string }[] }
  return legs.map(({ token_id: tokenId }) => tokenId).filter((tokenId) => tokenId !== undefined)
}

/** The time at which this request, or an equal one, created the group or token for good. */
export function registeredAt(
  actors: ActorChecker,
  { actor, caller }: GatewayRequest,
  operation: RegisterOperation,
): number | undefined {
  const first = actors
    .momentsOf(actorKey(actor))
    .find(({ state }) => state !== null && !['preparing', 'registering', 'refusing'].includes(statusOf(state)))
  const state = first?.state
  if (first === undefined || state === null || state === undefined || !('clientId' in state)) return undefined
  // The actor came from another ledger and was not registered here.
  if ('arrived' in state) return undefined
  if (state.clientId !== caller.clientId) return undefined
  if (state.kind === 'group') {
    return state.termsHash === sha256Hex(operation.payload) ? first.fromMs : undefined
  }
  if (state.kind === 'class') {
    const { name, issuer } = JSON.parse(operation.payload) as Record<string, Json>
    return state.name === name && state.issuer === issuer ? first.fromMs : undefined
  }
  const { symbol, decimals, issuer, total_supply: supply } = JSON.parse(operation.payload) as Record<string, Json>
  const terms = canonicalText([symbol ?? null, decimals ?? null, issuer ?? null, supply ?? null])
  const made = canonicalText([state.tokenId, state.decimals, state.issuer, state.initialSupply])
  return terms === made ? first.fromMs : undefined
}

function statusOf(state: ActorState): string {
  return 'status' in state ? state.status : ''
}

function show(state: ActorState | null): string {
  return state === null ? 'absent' : `${statusOf(state)} in version ${state.version}`
}
