/**
 * NFTs at an account. Whose an NFT is, its own home decides; an account writes its own entries and counts, and nobody
 * else's.
 *   F1. To send: the NFT's home holds it -> the receiver accepts and has its entry -> it changes hands -> the sender's
 *       transaction is completed; whatever was refused on the way, the NFT is free again before that is said.
 *   F2. The receiver accepts once and for good: the NFT is counted from then on.
 *   F3. An exchange is offered only once its NFT is held: nothing refuses its completion.
 */
import { instanceAddress } from '../address.ts'
import { parseQuantity } from '../money.ts'
import { NFT_AMOUNT } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { AccountMessageCommand } from './commands.ts'
import { holdLeg, releaseLeg } from './legs.ts'
import { end, isOverdue, offer, pendingHoldOf } from './pending.ts'
import { completed, entered, ordered } from './record.ts'
import type { AccountData } from './state.ts'
import { type Failure, failure, type FailureCode } from './transaction.ts'
import { type AccountChange, Turn } from './turn.ts'

type Heard<Type extends AccountMessageCommand['type']> = Extract<AccountMessageCommand, { readonly type: Type }>

/** F2. */
export function receiveNft(account: AccountData, command: Heard<'receive_nft'>): AccountChange {
  const { txnId, nftId, fromAccountId, groupId, metadata, compensates } = command
  const turn = new Turn(account, command)
  const answer = (refused: Failure | null, counterTxnId: string | null): AccountChange => {
    turn.send(instanceAddress(nftId), { type: 'nft_received', txnId, failure: refused, counterTxnId })
    return turn.done()
  }
  const refused = refusesNft(turn, command)
  if (refused !== undefined) return answer(failure(refused), null)
  turn.changeNfts({ owned: 1 })
  // What an issuer mints for itself has its entry there: the mint's own.
  if (fromAccountId === null) return answer(null, null)
  const cause = `nft ${txnId}`
  const credit = completed(
    turn,
    ordered(turn, {
      type: 'credit',
      amount: NFT_AMOUNT,
      tokenId: nftId,
      groupId,
      cause,
      metadata,
      fromAccountId,
      compensates,
      counterTxnId: txnId,
    }),
  )
  entered(turn, credit)
  if (compensates !== null) turn.note({ kind: 'transaction_compensated', txnId: compensates, by: credit.txnId })
  return answer(null, credit.txnId)
}

export function refuseClosedNft(account: AccountData, command: Heard<'receive_nft'>): AccountChange {
  const turn = new Turn(account, command)
  const { nftId, txnId } = command
  const refused = failure(isOverdue(command) ? 'expired' : 'account_closed')
  turn.send(instanceAddress(nftId), { type: 'nft_received', txnId, failure: refused, counterTxnId: null })
  return turn.done()
}

/** A give-back is not refused for the account's wishes. */
function refusesNft(turn: Turn, command: Heard<'receive_nft'>): FailureCode | undefined {
  const { incoming } = turn.before
  if (isOverdue(command)) return 'expired'
  if (incoming === 'refuse' && command.compensates === null) return 'incoming_refused'
  return turn.lacksRoom(command.nftId, parseQuantity(NFT_AMOUNT))
}

/** F3, and the legs of registered groups. */
export function nftHeld(account: AccountData, command: Heard<'nft_held'>): AccountChange {
  const { txnId, leg, failure: refused } = command
  if (leg !== null) return holdLeg(account, { ...command, leg })
  const turn = new Turn(account, command)
  const hold = pendingHoldOf(turn, txnId)
  invariant(hold.nft?.state === 'holding', `F3: the NFT of ${txnId} is held, and nobody asked for it`)
  if (refused !== null) {
    end(turn, hold, refused, null)
    return turn.done()
  }
  turn.keep({ ...hold, nft: { ...hold.nft, state: 'held' } })
  offer(turn, hold.transaction, hold.nft.expiresAtMs)
  return turn.done()
}

/** F1: the exchange has failed, and its NFT is free. Likewise a leg of a registered group. */
export function nftReleased(account: AccountData, command: Heard<'nft_released'>): AccountChange {
  const { leg } = command
  if (leg !== null) return releaseLeg(account, { ...command, leg })
  const turn = new Turn(account, command)
  const hold = pendingHoldOf(turn, command.txnId)
  invariant(hold.nft?.state === 'releasing', `F1: the NFT of ${command.txnId} is free, and nobody let it go`)
  end(turn, hold, hold.nft.failure ?? failure('exchange_expired'), null)
  return turn.done()
}
