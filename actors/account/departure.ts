/**
 * Export of an account to another ledger: its balances leave token by token, then it closes for good.
 *   U1. The account is frozen and has nothing pending: its balances are all that it has.
 *   U2. It moves to one ledger. The account keeps the moved amounts, so that the reply can be repeated.
 */
import { formatQuantity, parseQuantity, ZERO } from '../money.ts'
import { invariant } from '../result.ts'
import type { DepartCommand } from './commands.ts'
import { declineLegs } from './legs.ts'
import { type Answer, refusal, viewAs } from './outcome.ts'
import { enterFact } from './record.ts'
import { carriedOut } from './record.ts'
import { type AccountData, type AccountState, type AccountStatus, balanceOf, holdsNothing } from './state.ts'
import { type AccountChange, Turn } from './turn.ts'

export const DEPARTING = {
  code: 'account_departing',
  detail: 'The account has moved, or is moving, to another ledger.',
  field: 'account_ids',
} as const

/** U2. */
export function departsElsewhere({ moved }: AccountData, { audience }: DepartCommand): boolean {
  return moved !== undefined && moved.audience !== audience
}

/** The reply of a frozen account that changes nothing; undefined lets the transitions decide. */
export function judgeDeparture(account: AccountState, command: DepartCommand): Answer | undefined {
  const { tokenId } = command
  if (departsElsewhere(account, command)) {
    return refusal(DEPARTING.code, DEPARTING.detail, DEPARTING.field)
  }
  // U1.
  if (!holdsNothing(account, { balances: true })) {
    return refusal('account_not_empty', 'The account has pending operations, active holds or NFTs.', 'account_ids')
  }
  if (tokenId === null) {
    return holdsNothing(account)
      ? undefined
      : refusal('account_not_empty', 'The account still holds something.', 'account_ids')
  }
  return balanceOf(account, tokenId).balance === 0n ? departed(account, account.status) : undefined
}

export function departed(account: AccountData, status: AccountStatus): Answer {
  return { kind: 'departed', account: viewAs(account, status) }
}

export function departWhole(
  account: AccountData,
  command: DepartCommand,
  { status }: { readonly status: AccountStatus },
): AccountChange {
  const { audience } = command
  const turn = new Turn(account, command)
  declineLegs(turn, null)
  enterFact(turn, { kind: 'status_change', status, incoming: account.incoming, reason: `moved to ${audience}` })
  const { data, effects } = turn.done({ moved: account.moved ?? { audience, balances: {} } })
  return { data, effects, answer: departed(data, status) }
}

/** Moves out the whole balance of one token. */
export function departToken(
  account: AccountData,
  { tokenId, ...command }: DepartCommand,
  { status }: { readonly status: AccountStatus },
): AccountChange {
  const { audience } = command
  invariant(tokenId !== null, 'U1: an account departs token by token')
  const turn = new Turn(account, command)
  const moved = account.moved ?? { audience, balances: {} }
  const { balance } = turn.balance(tokenId)
  turn.change(tokenId, { balance: -balance })
  turn.note({ kind: 'boundary_crossed', tokenId, quantity: -balance })
  const order = {
    type: 'debit',
    amount: formatQuantity(balance),
    tokenId,
    groupId: null,
    // The version makes it unique: value may still come in before the account closes.
    cause: `moved ${audience} ${tokenId} ${account.version}`,
    metadata: { ledger_id: audience, reason: 'moved' },
  } as const
  carriedOut(turn, order)
  // A token may have the name of a member that every object has.
  const before = Object.hasOwn(moved.balances, tokenId) ? moved.balances[tokenId] : undefined
  const sum = (before === undefined ? ZERO : parseQuantity(before)) + balance
  const balances = { ...moved.balances, [tokenId]: formatQuantity(sum) }
  const { data, effects } = turn.done({ moved: { audience, balances } })
  return { data, effects, answer: departed(data, status) }
}
