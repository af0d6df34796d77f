/**
 * An account that goes to another ledger: what it has leaves, token by token, and then it closes for good.
 *   U1. It is frozen, and nothing of it is under way: what leaves is all that it has.
 *   U2. It goes to one ledger. What has left is kept with it, so that it can be said again.
 */
import { formatQuantity, parseQuantity, ZERO } from '../money.ts'
import type { DepartCommand } from './commands.ts'
import { declineLegs } from './legs.ts'
import { type Answer, refusal, viewOf } from './outcome.ts'
import { enterFact } from './postings.ts'
import { completed, entered, ordered } from './record.ts'
import { type AccountState, balanceOf, bindsAccount, isClosed } from './state.ts'
import { type Posted, Turn } from './turn.ts'

/** What is answered without a step; undefined where something is to be done. */
export function judgeDeparture(account: AccountState | null, command: DepartCommand): Answer | undefined {
  const { audience, tokenId } = command
  if (account === null) return refusal('account_not_found', 'There is no such account.', 'account_ids')
  const { moved, status } = account
  if (moved !== undefined && moved.audience !== audience) {
    return refusal('account_departing', 'The account has gone, or is going, to another ledger.', 'account_ids')
  }
  if (isClosed(account) && moved !== undefined) return { kind: 'departed', account: viewOf(account) }
  if (status !== 'frozen') return refusal('account_not_frozen', `The account is ${status}.`, 'account_ids')
  if (isBusy(account)) {
    return refusal('account_not_empty', 'Something of the account is under way, or it has NFTs.', 'account_ids')
  }
  if (tokenId === null) {
    const isEmpty = [...account.balances.values()].every(({ balance }) => balance.isZero())
    return isEmpty ? undefined : refusal('account_not_empty', 'The account still holds something.', 'account_ids')
  }
  return balanceOf(account, tokenId).balance.isZero() ? { kind: 'departed', account: viewOf(account) } : undefined
}

/** U1. */
function isBusy(account: AccountState): boolean {
  const { holds, nftCount, nftRoom, balances } = account
  if (nftCount > 0 || nftRoom > 0) return true
  if ([...holds.values()].some((hold) => bindsAccount(account, hold))) return true
  return [...balances.values()].some(
    ({ reserved, incoming, room }) => !reserved.isZero() || !incoming.isZero() || !room.isZero(),
  )
}

export function depart(account: AccountState, command: DepartCommand): Posted {
  const { audience, tokenId } = command
  const turn = new Turn(account, command)
  const moved = account.moved ?? { audience, balances: {} }
  if (tokenId === null) {
    const reason = `moved to ${audience}`
    declineLegs(turn, null)
    enterFact(turn, { kind: 'status_change', status: 'closed', incoming: account.incoming, reason })
    return turn.done({ status: 'closed', moved })
  }
  const { balance } = turn.balance(tokenId)
  turn.change(tokenId, { balance: balance.negated() })
  turn.note({ kind: 'boundary_crossed', tokenId, quantity: balance.negated() })
  const order = {
    type: 'debit',
    amount: formatQuantity(balance),
    tokenId,
    groupId: null,
    // The version makes it unique: value may come in before it closes.
    cause: `moved ${audience} ${tokenId} ${account.version}`,
    metadata: { ledger_id: audience, reason: 'moved' },
  } as const
  entered(turn, completed(turn, ordered(turn, order)))
  // Tokens may be called as what every object has.
  const before = Object.hasOwn(moved.balances, tokenId) ? moved.balances[tokenId] : undefined
  const sum = (before === undefined ? ZERO : parseQuantity(before)).plus(balance)
  return turn.done({ moved: { audience, balances: { ...moved.balances, [tokenId]: formatQuantity(sum) } } })
}
