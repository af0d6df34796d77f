/** A dry run: a submission is stepped, and its changes are thrown away (D24). */
import type { ActorAddress } from '../address.ts'
import { formatQuantity } from '../money.ts'
import { isNft } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { SubmitCommand } from './commands.ts'
import type { Evidence } from './evidence.ts'
import type { Answer, Effect } from './outcome.ts'
import { type AccountData, availableOf, NOTHING_HELD } from './state.ts'
import { type AccountChange, Turn } from './turn.ts'

type Posting = (turn: Turn, command: SubmitCommand, evidence: Evidence) => void

/** The reply to a submission that `run` would step. */
export function dryRun(run: Posting) {
  return (account: AccountData, command: SubmitCommand, { evidence }: { readonly evidence: Evidence }): Answer => {
    const turn = new Turn(account, command)
    run(turn, command, evidence)
    return answerOf(turn.done(), command.submission.tokenId)
  }
}

function answerOf({ data, effects }: AccountChange, tokenId: string): Answer {
  const entered = effects.find((effect) => effect.kind === 'transaction_entered')
  invariant(entered !== undefined, 'a submission entered no transaction')
  const { status, failure } = entered.transaction
  const balance = data.balances.get(tokenId) ?? NOTHING_HELD
  return {
    kind: 'dry_run',
    result: {
      outcome: status,
      failure,
      balanceAfter: isNft(tokenId) ? null : formatQuantity(balance.balance),
      availableAfter: isNft(tokenId) ? null : formatQuantity(availableOf(balance)),
      decidedBy: status === 'failed' ? [] : receiversOf(effects),
    },
  }
}

function receiversOf(effects: readonly Effect[]): readonly ActorAddress[] {
  return effects.flatMap((effect) => (effect.kind === 'message_sent' ? [effect.envelope.to] : []))
}
