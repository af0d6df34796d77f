/** Replies to other actors for an account that does not exist. */
import { accountAddress, groupAddress, instanceAddress } from '../address.ts'
import type { Change } from '../define-actor.ts'
import type { Envelope } from '../message.ts'
import type { AccountCommandOf } from './commands.ts'
import { sent } from './outcome.ts'
import { failure } from './transaction.ts'

function replied(to: Envelope['to'], message: Envelope['message']): Change<never> {
  return { data: null, effects: [sent(to, message)] }
}

export function refuseAbsentTransfer({ txnId, fromAccountId }: AccountCommandOf<'receive_transfer'>): Change<never> {
  const closed = failure('account_closed')
  const message = { type: 'conclude_transfer', txnId, failure: closed, counterTxnId: null } as const
  return replied(accountAddress(fromAccountId), message)
}

export function refuseAbsentNft({ txnId, nftId }: AccountCommandOf<'receive_nft'>): Change<never> {
  const closed = failure('account_closed')
  return replied(instanceAddress(nftId), { type: 'nft_received', txnId, failure: closed, counterTxnId: null })
}

export function refuseAbsentLeg({ groupId, leg, role, accountId }: AccountCommandOf<'expect_leg'>): Change<never> {
  const refused = { code: 'account_not_found', detail: `There is no account ${accountId}.` } as const
  return replied(groupAddress(groupId), { type: 'leg_expected', groupId, leg, role, refused })
}

export function refuseAbsentCompensation({ groupId, asked }: AccountCommandOf<'compensate'>): Change<never> {
  const outcome = { kind: 'failed', failure: failure('not_compensable') } as const
  return replied(groupAddress(groupId), { type: 'compensation_ended', asked, outcome })
}
