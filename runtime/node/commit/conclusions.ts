/** What each of those who waited for a conclusion is told: it is one answer, and not all of them have begun what ended. */
import type { MintCommand } from '../../../actors/account/commands.ts'
import type { Answer } from '../../../actors/account/outcome.ts'
import type { Pending } from '../pending-command.ts'

/** `first`: of those who wait, the one that came first. */
export function answerFor(pending: Pending, first: Pending | undefined, answer: Answer): Answer {
  const { command } = pending
  if (answer.kind === 'minted' && command.type === 'mint') return mintedFor(command, answer)
  if (answer.kind === 'token_registered' || answer.kind === 'class_registered') {
    return { ...answer, replayed: answer.replayed || !isSameRequest(pending, first) }
  }
  if (answer.kind !== 'group_registered' || command.type !== 'register_group') return answer
  // Who asked for the same in another request, while the first was under way, has made nothing.
  const isFirst = first?.command.type === 'register_group' && first.command.registrationKey === command.registrationKey
  return { ...answer, created: isFirst }
}

/** All attempts of a request have its ID. */
function isSameRequest({ origin }: Pending, other: Pending | undefined): boolean {
  if (origin.kind !== 'request' || other?.origin.kind !== 'request') return false
  return origin.item.requestId === other.origin.item.requestId
}

/** The first that waits is not always the one that began it: an owner before may have heard that one. */
function mintedFor(command: MintCommand, minted: Extract<Answer, { readonly kind: 'minted' }>): Answer {
  return {
    ...minted,
    replayed: command.newTxnId !== minted.txnId,
    mismatch: command.payloadHash !== minted.payloadHash,
  }
}
