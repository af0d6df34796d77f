/** Pausing: an administrator stops one account's outgoing transactions; pending ones end as usual. */
import type { Change } from '../define-actor.ts'
import type { PauseCommand, ShowActorCommand } from './commands.ts'
import type { Evidence } from './evidence.ts'
import { refusal } from './outcome.ts'
import { enterFact } from './record.ts'
import type { AccountData, AccountStatus } from './state.ts'
import { Turn } from './turn.ts'

interface Context {
  readonly status: AccountStatus
  readonly evidence: Evidence
}

export function pause(account: AccountData, command: PauseCommand, context: Context): Change<AccountData> {
  const turn = new Turn(account, command)
  enterFact(turn, { kind: 'pause', reason: command.reason })
  const { data, effects } = turn.done({ paused: true })
  return { effects, ...showActor(data, command, context) }
}

export function resume(account: AccountData, command: PauseCommand, context: Context): Change<AccountData> {
  const turn = new Turn(account, command)
  enterFact(turn, { kind: 'resumption', reason: command.reason })
  const { data: resumed, effects } = turn.done()
  const { paused: _paused, ...data } = resumed
  return { effects, ...showActor(data, command, context) }
}

export function refusePaused(data: AccountData): Change<AccountData> {
  return {
    data,
    answer: refusal('account_paused', 'An administrator has paused the account. Retry once it is resumed.'),
  }
}

export function showActor(
  data: AccountData,
  _command: PauseCommand | ShowActorCommand,
  { status, evidence: { residence } }: Context,
): Change<AccountData> {
  const { accountId, shardId, version, holds, paused = false } = data
  let pending = 0
  for (const { kind } of holds.values()) if (kind === 'pending') pending += 1
  return {
    data,
    answer: {
      kind: 'actor_shown',
      actor: { accountId, shardId, state: status, paused, version, holds: holds.size, pending, ...residence },
    },
  }
}
