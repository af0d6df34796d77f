/** A request to the ledger, and the reply to each of its outcomes. */
import type { Answer } from '../../actors/account/outcome.ts'
import type { GatewayRequest } from '../../runtime/edge/ledger-gateway.ts'
import { refusalProblem, signedRefusal, type SignedRequest, unavailableProblem } from './refusals.ts'
import type { EdgeContext, EndpointOutcome, GuardedCall } from './route.ts'

type AnswerOf<Kind extends Answer['kind']> = Extract<Answer, { readonly kind: Kind }>

export interface LedgerRequest extends Pick<GatewayRequest, 'actor' | 'operation'> {
  /** Of an operation that is, or may be, signed. */
  readonly signed?: SignedRequest
}

/** `kind`: of the answer to the operation, for which `reply` makes the response. */
export async function askLedger<Kind extends Answer['kind']>(
  { gateway, isSignature }: Pick<EdgeContext, 'gateway' | 'isSignature'>,
  { caller, endpoint, trail }: Pick<GuardedCall, 'caller' | 'endpoint' | 'trail'>,
  { actor, operation, signed }: LedgerRequest,
  kind: Kind,
  reply: (answer: AnswerOf<Kind>) => EndpointOutcome | Promise<EndpointOutcome>,
): Promise<EndpointOutcome> {
  const outcome = await gateway.ask({ actor, caller, trail, operation })
  if (outcome.kind === 'unavailable') {
    // A request that changes nothing has no outcome to be in doubt of.
    return unavailableProblem(outcome.reason, endpoint.changes === undefined ? null : outcome.outcome)
  }
  const { answer } = outcome
  if (answer.kind === 'refused') {
    return signed === undefined ? refusalProblem(answer) : signedRefusal(answer, signed, isSignature)
  }
  return answer.kind === kind ? reply(answer as AnswerOf<Kind>) : unexpectedAnswer(answer)
}

/** A shard owner answered another question: the outcome of the request is unknown. */
export function unexpectedAnswer(answer: Answer): never {
  throw new Error(`an owner gave an answer of the kind ${answer.kind} to another question`)
}
