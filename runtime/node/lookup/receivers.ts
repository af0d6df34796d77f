/** Receivers of the messages that a client's request will cause, as far as known before its step. */
import {
  accountAddress,
  type ActorAddress,
  exchangeAddress,
  groupAddress,
  holdAddress,
  instanceAddress,
  tokenAddress,
} from '../../../actors/address.ts'
import { holdIdOf } from '../../../actors/identifiers.ts'
import { isNft, nftId } from '../../../actors/nft-id.ts'
import type { AnyCommand } from '../../../actors/step-actor.ts'

export function receiversOf(command: AnyCommand): readonly ActorAddress[] {
  switch (command.type) {
    case 'submit': {
      const { type, groupId, termsHash, toAccountId, receive, tokenId, capture } = command.submission
      if (capture !== undefined) return [holdAddress(capture.holdId)]
      const nft = isNft(tokenId) ? [instanceAddress(tokenId)] : []
      if (termsHash !== null) return groupId === null ? [] : [groupAddress(groupId), ...nft]
      if (nft.length > 0) return nft
      if (type === 'mint' || type === 'burn') return [tokenAddress(tokenId)]
      if (receive !== null) return groupId === null ? [] : [exchangeAddress(groupId)]
      return toAccountId === null ? [] : [accountAddress(toAccountId)]
    }
    case 'create_hold':
      return [holdAddress(holdIdOf(command.newTxnId))]
    case 'release_hold':
      return [holdAddress(command.holdId)]
    case 'mint':
      return [instanceAddress(nftId(command))]
    case 'register_token':
    case 'register_class':
      return [accountAddress(command.issuer)]
    case 'register_group':
      return command.terms.legs.flatMap(({ accountId, toAccountId, type, tokenId }) => [
        accountAddress(accountId),
        ...(toAccountId === null ? [] : [accountAddress(toAccountId)]),
        ...(isNft(tokenId) ? [instanceAddress(tokenId)] : []),
        ...((type === 'mint' || type === 'burn') && !isNft(tokenId) ? [tokenAddress(tokenId)] : []),
      ])
    case 'revert_group':
      return command.transactions.map(({ accountId }) => accountAddress(accountId))
    default:
      return []
  }
}
