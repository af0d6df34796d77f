/**
 * NFTs at an account. The NFT's home decides its ownership; an account writes only its own entries and counts.
 *   F1. Order of a transfer: the home holds the NFT, the receiver accepts and writes its entry, the NFT changes hands,
 *       the sender's transaction completes. After a refusal the home releases the NFT before it replies.
 *   F2. The receiver accepts once and for good: it counts the NFT from then on.
 *   F3. An exchange is offered only once its NFT is held: nothing refuses its completion.
 */
import { instanceAddress } from '../address.ts'
import { parseQuantity } from '../money.ts'
import { NFT_AMOUNT } from '../nft-id.ts'
import { invariant } from '../result.ts'
import type { AccountCommandOf } from './commands.ts'
import { holdLeg, releaseLeg } from './legs.ts'
import { end, isOverdue, offer, pendingHoldOf } from './pending.ts'
import { carriedOut } from './record.ts'
import { type Failure, failure, type FailureCode } from './transaction.ts'
import type { Turn } from './turn.ts'

/** F2. */
export function receiveNft(turn: Turn, command: AccountCommandOf<'receive_nft'>): void {
  const { txnId, nftId, fromAccountId, groupId, metadata, compensates } = command
  const answer = (refused: Failure | null, counterTxnId: string | null): void =>
    turn.send(instanceAddress(nftId), { type: 'nft_received', txnId, failure: refused, counterTxnId })
  const refused = refusesNft(turn, command)
  if (refused !== undefined) return answer(failure(refused), null)
  turn.changeNfts({ owned: 1 })
  // An issuer that mints to itself has the mint's own entry.
  if (fromAccountId === null) return answer(null, null)
  const credit = carriedOut(turn, {
    type: 'credit',
    amount: NFT_AMOUNT,
    tokenId: nftId,
    groupId,
    cause: `nft ${txnId}`,
    metadata,
    fromAccountId,
    compensates,
    counterTxnId: txnId,
  })
  answer(null, credit.txnId)
}

export function refuseClosedNft(turn: Turn, command: AccountCommandOf<'receive_nft'>): void {
  const { nftId, txnId } = command
  const refused = failure(isOverdue(command) ? 'expired' : 'account_closed')
  turn.send(instanceAddress(nftId), { type: 'nft_received', txnId, failure: refused, counterTxnId: null })
}

/** The receiver cannot refuse a returned NFT by its incoming policy. */
function refusesNft(turn: Turn, command: AccountCommandOf<'receive_nft'>): FailureCode | undefined {
  const { incoming } = turn.before
  if (isOverdue(command)) return 'expired'
  if (incoming === 'refuse' && command.compensates === null) return 'incoming_refused'
  return turn.lacksRoom(command.nftId, parseQuantity(NFT_AMOUNT))
}

/** F3, and the legs of registered groups. */
export function nftHeld(turn: Turn, command: AccountCommandOf<'nft_held'>): void {
  const { txnId, leg, failure: refused } = command
  if (leg !== null) return holdLeg(turn, { ...command, leg })
  const hold = pendingHoldOf(turn, txnId)
  invariant(hold.nft?.state === 'holding', `F3: the NFT of ${txnId} is held without a request`)
  if (refused !== null) return end(turn, hold, refused, null)
  turn.keep({ ...hold, nft: { ...hold.nft, state: 'held' } })
  offer(turn, hold.transaction, hold.nft.expiresAtMs)
}

/** F1: the exchange has failed, and its NFT is free. Likewise a leg of a registered group. */
export function nftReleased(turn: Turn, command: AccountCommandOf<'nft_released'>): void {
  const { leg } = command
  if (leg !== null) return releaseLeg(turn, { ...command, leg })
  const hold = pendingHoldOf(turn, command.txnId)
  invariant(hold.nft?.state === 'releasing', `F1: the NFT of ${command.txnId} was released without a request`)
  end(turn, hold, hold.nft.failure ?? failure('exchange_expired'), null)
}
