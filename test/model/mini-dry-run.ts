/** D24: before each submission the model asks for its dry run, and compares the reply with the submission's effect. */
import { availableOf, NOTHING_HELD } from '../../actors/account/state.ts'
import type { ActorAddress } from '../../actors/address.ts'
import type { ActorAnswer } from '../../actors/define-actor.ts'
import { formatQuantity, type Quantity } from '../../actors/money.ts'
import { isNft } from '../../actors/nft-id.ts'
import { type AnyCommand, type AnyState, stepActor } from '../../actors/step-actor.ts'

type Outcome = ReturnType<typeof stepActor>
type Evidence = Parameters<typeof stepActor>[3]

/** undefined: the command is no new submission. */
export function dryRunOf(
  actor: ActorAddress,
  before: AnyState | null,
  command: AnyCommand,
  evidence: Evidence,
): ActorAnswer | undefined {
  if (command.type !== 'submit' || evidence.earlier !== undefined) return undefined
  const outcome = stepActor(actor, before, { ...command, type: 'dry_run' }, evidence)
  if (outcome.kind !== 'answered' || outcome.answer === null) throw new Error('A dry run changed its account.')
  return outcome.answer
}

export function checkDryRun(rehearsed: ActorAnswer, command: AnyCommand, outcome: Outcome): void {
  const expected = expectedAnswer(command, outcome)
  if (JSON.stringify(rehearsed) !== JSON.stringify(expected)) {
    throw new Error(`A dry run promised ${JSON.stringify(rehearsed)}, and the order got ${JSON.stringify(expected)}.`)
  }
}

function expectedAnswer(command: AnyCommand, outcome: Outcome): ActorAnswer | null {
  if (outcome.kind === 'answered') return outcome.answer
  if (outcome.kind !== 'stepped' || outcome.state?.kind !== 'account' || !('submission' in command)) return null
  const { effects, state } = outcome
  const { tokenId } = command.submission
  const [entered] = effects.flatMap((effect) => (effect.kind === 'transaction_entered' ? [effect.transaction] : []))
  if (entered === undefined) return null
  const { status, failure } = entered
  const sentTo = effects.flatMap((effect) => (effect.kind === 'message_sent' ? [effect.envelope.to] : []))
  const held = state.balances.get(tokenId) ?? NOTHING_HELD
  const shown = (quantity: Quantity): string | null => (isNft(tokenId) ? null : formatQuantity(quantity))
  return {
    kind: 'dry_run',
    result: {
      outcome: status,
      failure,
      balanceAfter: shown(held.balance),
      availableAfter: shown(availableOf(held)),
      decidedBy: status === 'failed' ? [] : sentTo,
    },
  }
}
