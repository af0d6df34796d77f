/** Refusals of an account that do not depend on its status. */
import { judgeArrival } from './arrival.ts'
import type { AccountCommand, DeclineCommand, RotateKeyCommand } from './commands.ts'
import { judgeDeparture } from './departure.ts'
import type { Evidence } from './evidence.ts'
import { type Answer, refusal } from './outcome.ts'
import { type AccountState, isUnsigned } from './state.ts'
import { judgeHold, judgeMint, judgeSubmission, wrongLedger } from './submission.ts'

/** undefined: no objection; the transitions decide. */
export function judgeCommand(
  account: AccountState | null,
  command: AccountCommand,
  evidence: Evidence,
): Answer | undefined {
  if (command.type === 'hold_arrival') return judgeArrival(account, command)
  if (account === null) return undefined
  switch (command.type) {
    case 'submit':
    case 'dry_run':
      return judgeSubmission(account, command, evidence)
    case 'mint':
      return judgeMint(account, command, evidence)
    case 'create_hold':
      return judgeHold(account, command, evidence)
    case 'release_hold':
      return wrongLedgerOf(account, command.ledgerId, evidence)
    case 'rotate_key':
      return judgeRotation(command, evidence)
    case 'decline_legs':
      return judgeDecline(account, command, evidence)
    case 'erase':
      return judgeErasure(account)
    case 'take_arrival':
    case 'drop_arrival':
    case 'note_used_keys':
      return judgeArrival(account, command)
    case 'depart':
      return judgeDeparture(account, command)
    default:
      return undefined
  }
}

function judgeRotation(
  { ledgerId, newKey, proof }: RotateKeyCommand,
  { ledgerId: own, production, verdict }: Evidence,
): Answer | undefined {
  if (ledgerId !== null && ledgerId !== own) {
    return refusal('wrong_ledger', 'The request was signed for another ledger.', 'ledger_id')
  }
  if (proof === null) {
    return production ? refusal('proof_missing', 'A signature by the new key is required.', 'proof') : undefined
  }
  if (verdict(newKey.keyId, proof) === true) return undefined
  return refusal('proof_mismatch', 'The new key did not sign this request.', 'proof', newKey.keyId)
}

/** An imported account names the ledger: the same request may have been signed for the source ledger. */
function wrongLedgerOf(account: AccountState, ledgerId: string | null, evidence: Evidence): Answer | undefined {
  const production = evidence.production || account.arrived !== undefined
  return wrongLedger(ledgerId, { ...evidence, production })
}

/** Idempotent: a group reverts once, and a declined leg stays declined. */
function judgeDecline(account: AccountState, command: DeclineCommand, evidence: Evidence): Answer | undefined {
  const { groupId, termsHash, ledgerId } = command
  const foreign = wrongLedgerOf(account, ledgerId, evidence)
  if (foreign !== undefined) return foreign
  const legs = [...account.holds.legsOf(groupId)].filter((hold) => hold.termsHash === termsHash)
  if (legs.length === 0) {
    return refusal('group_not_found', 'No open group of this ID and terms expects a leg of the account.')
  }
  const unsigned = legs.filter(isUnsigned)
  if (unsigned.length === 0) {
    return refusal('leg_signed', 'The account has signed its leg, or has received the value of its leg.')
  }
  const isNew = unsigned.some(({ state }) => state === 'expected')
  return isNew ? undefined : { kind: 'legs_declined', groupId }
}

function judgeErasure(account: AccountState): Answer | undefined {
  if (account.holds.size === 0) return undefined
  const detail = 'Settlement groups are still ending legs of the account. Retry shortly.'
  return refusal('account_not_empty', detail, 'account_id')
}
