/** Whom a client's request will be the cause of messages to, as far as it can be told before its step. */
import { accountAddress, type ActorAddress, exchangeAddress, groupAddress, tokenAddress } from '../../actors/address.ts'
import type { AnyCommand } from '../../actors/step-actor.ts'

export function receiversOf(command: AnyCommand): readonly ActorAddress[] {
  switch (command.type) {
    case 'submit': {
      const { type, groupId, termsHash, toAccountId, receive, tokenId } = command.submission
      if (termsHash !== null) return groupId === null ? [] : [groupAddress(groupId)]
      if (type === 'mint' || type === 'burn') return [tokenAddress(tokenId)]
      if (receive !== null) return groupId === null ? [] : [exchangeAddress(groupId)]
      return toAccountId === null ? [] : [accountAddress(toAccountId)]
    }
    case 'register_token':
      return [accountAddress(command.issuer)]
    case 'register_group':
      return command.terms.legs.flatMap(({ accountId, toAccountId, type, tokenId }) => [
        accountAddress(accountId),
        ...(toAccountId === null ? [] : [accountAddress(toAccountId)]),
        ...(type === 'mint' || type === 'burn' ? [tokenAddress(tokenId)] : []),
      ])
    case 'revert_group':
      return command.transactions.map(({ accountId }) => accountAddress(accountId))
    default:
      return []
  }
}
