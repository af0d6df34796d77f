/** Requests, answers and messages in the words of a story. */
import type { Answer } from '../../actors/account/outcome.ts'
import { actorKey, type ActorAddress } from '../../actors/address.ts'
import type { Envelope, LegTerms } from '../../actors/message.ts'
import type { Operation } from '../../runtime/messages.ts'
import type { GatewayOutcome } from '../../runtime/ports/ledger-gateway.ts'

/** What clients write in the bodies that they sign, as far as a story tells it. */
interface Body {
  readonly type?: string
  readonly amount?: string
  readonly token_id?: string
  readonly class_id?: string
  readonly instance_id?: string
  readonly to_account_id?: string
  readonly receive?: Body
  readonly settlement_group_id?: string
  readonly group_id?: string
  readonly idempotency_key?: string
  readonly legs?: readonly Body[]
  readonly account_id?: string
  readonly symbol?: string
  readonly name?: string
  readonly issuer?: string
  readonly owner_account_id?: string
}

/** `isNew`: it is asked for the first time, and told whole. */
export function requestWords(actor: ActorAddress, operation: Operation, isNew: boolean): string {
  const whose = actorKey(actor)
  switch (operation.kind) {
    case 'submit': {
      const body = bodyOf(operation.payload)
      const receive = body.receive === undefined ? '' : ` for ${assetWords(body.receive)}`
      const to = body.to_account_id === undefined ? '' : ` -> ${body.to_account_id}`
      const group = body.settlement_group_id ?? body.group_id
      const under = group === undefined ? '' : ` under group ${group}`
      return `${body.type} ${assetWords(body)} ${whose}${to}${receive}${under} (${keyWords(body)})`
    }
    case 'mint': {
      const body = bodyOf(operation.payload)
      return `mint ${assetWords(body)} of ${whose}${body.owner_account_id === undefined ? '' : ` for ${body.owner_account_id}`} (${keyWords(body)})`
    }
    case 'decline_legs':
      return `decline legs of group ${bodyOf(operation.payload).group_id}`
    case 'rotate_key':
      return `rotate the key of ${whose} (${keyWords(bodyOf(operation.payload))})`
    case 'register':
      return `register ${whose}`
    case 'change_status':
      return `make ${whose} ${[operation.status, operation.incoming].filter((one) => one !== null).join(', ')} (${operation.reason})`
    case 'erase':
      return `erase ${whose} (${operation.reason})`
    case 'hold_arrival':
    case 'take_arrival':
    case 'drop_arrival':
    case 'note_used_keys':
      return `${operation.kind} of ${whose}`
    case 'depart':
      return `take ${operation.tokenId ?? 'leave'} of ${whose} to ${operation.audience}`
    case 'register_token':
    case 'register_class': {
      const { issuer } = bodyOf(operation.payload)
      return `register ${whose} of ${issuer}`
    }
    case 'register_group':
      return `register ${whose}${isNew ? `: ${legsWords(bodyOf(operation.payload))}` : ' again'}`
    case 'revert_group':
      return `revert ${whose} (${operation.reason})`
  }
}

export function outcomeWords(outcome: GatewayOutcome): string {
  if (outcome.kind === 'answered') return answerWords(outcome.answer)
  return `${outcome.outcome === 'unknown' ? 'nobody knows what became of it' : 'not applied'} (${outcome.reason})`
}

export function answerWords(answer: Answer): string {
  const again = 'replayed' in answer && answer.replayed ? ', as it was the first time' : ''
  switch (answer.kind) {
    case 'accepted':
      return `accepted ${answer.receipt.txnId}${again}`
    case 'registered':
    case 'rotated':
    case 'status_changed': {
      const { accountId, status, sequence, key } = answer.account
      return `${answer.kind} ${accountId}: ${status}, entry ${sequence}, ${key?.keyId ?? 'no key'}${again}`
    }
    case 'token_registered':
      return `token_registered ${answer.token.tokenId}${again}`
    case 'class_registered':
      return `class_registered ${answer.nftClass.classId}${again}`
    case 'group_registered':
    case 'group_reverting':
      return `${answer.kind} group ${answer.group.groupId}: ${answer.group.status}${again}`
    case 'legs_declined':
      return `legs_declined of group ${answer.groupId}`
    case 'minted':
      return `minted ${answer.instance.classId}/${answer.instance.instanceId} by ${answer.txnId}${again}`
    case 'arrival':
      return answer.state
    case 'departed':
      return `departed ${answer.account.accountId}: ${answer.account.status}`
    case 'refused':
      return `refused, ${answer.code}`
  }
}

/** `receive_transfer txn_… to account-3: 5 BASE from account-0`. */
export function envelopeWords({ to, message, carries }: Envelope): string {
  const named = 'txnId' in message ? ` ${message.txnId}` : 'groupId' in message ? ` of group ${message.groupId}` : ''
  const leg = 'role' in message ? ` leg ${message.leg} ${message.role}` : ''
  const failed = 'failure' in message && message.failure !== null ? `, ${message.failure.code}` : ''
  const refused = 'refused' in message && message.refused !== null ? `, ${message.refused.code}` : ''
  const terms = 'terms' in message ? `, ${termsWords(message.terms)}` : ''
  const value = carries.map(({ tokenId, quantity }) => `${quantity} ${tokenId}`).join(' and ')
  return `${message.type}${named}${leg} to ${actorKey(to)}${terms}${failed}${refused}${value === '' ? '' : `, carrying ${value}`}`
}

function termsWords({ type, amount, tokenId, accountId, toAccountId }: LegTerms): string {
  return `${type} ${amount} ${tokenId} ${accountId}${toAccountId === null ? '' : ` -> ${toAccountId}`}`
}

function legsWords({ legs = [] }: Body): string {
  return legs
    .map(
      (leg) => `${leg.type} ${assetWords(leg)} ${leg.account_id}${leg.to_account_id ? ` -> ${leg.to_account_id}` : ''}`,
    )
    .join(', ')
}

function keyWords({ idempotency_key: key }: Body): string {
  return key ?? 'no key'
}

function assetWords({ amount, token_id: token, class_id: classId, instance_id: instance }: Body): string {
  return classId === undefined ? `${amount ?? '?'} ${token ?? 'BASE'}` : `NFT ${classId}/${instance}`
}

function bodyOf(payload: string): Body {
  return JSON.parse(payload) as Body
}
