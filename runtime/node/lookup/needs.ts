/** What must be looked up before a command can be stepped, beside its actor and its key. */
import { isSelfTransfer, TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import { instanceAddress, tokenAddress } from '../../../actors/address.ts'
import { BASE_UNIT } from '../../../actors/money.ts'
import { nftNameOf } from '../../../actors/nft-id.ts'
import {
  type AccountAddress,
  addressOf,
  type GroupUse,
  type GroupUseAddress,
  groupUseAddressOf,
  type HomedActor,
  type LookUpAnswer,
  type TransactionName,
} from '../../ports/ledger-store.ts'
import type { Facts } from './facts.ts'
import { type Findings, NOTHING_FOUND, type Pending } from '../pending-command.ts'
import { usedElsewhere } from './used-elsewhere.ts'

export interface Needs {
  readonly tokens: Map<string, HomedActor>
  readonly existing: Map<string, AccountAddress>
  readonly classes: Set<string>
  readonly instances: Map<string, HomedActor>
  readonly groupUses: Map<string, GroupUseAddress & GroupUse>
  readonly transactions: Map<string, TransactionName>
}

export function noNeeds(): Needs {
  return {
    tokens: new Map(),
    existing: new Map(),
    classes: new Set(),
    instances: new Map(),
    groupUses: new Map(),
    transactions: new Map(),
  }
}

type HomeOf = (actor: ActorAddress) => number

/** Adds what this command needs and is not known yet. */
export function addNeeds(needs: Needs, { command, incarnation }: Pending, facts: Facts, homeOf: HomeOf): void {
  const { shardId } = incarnation.token
  if (command.type === 'submit') {
    const { tokenId, receive, toAccountId, groupId, termsHash, type, accountId } = command.submission
    needAsset(needs, tokenId, facts, homeOf)
    if (receive !== null) needAsset(needs, receive.tokenId, facts, homeOf)
    if (toAccountId !== null) needAccount(needs, toAccountId, facts, homeOf)
    if (groupId !== null && termsHash === null) {
      for (const other of TRANSACTION_TYPES.filter((known) => isSelfTransfer(known, type))) {
        const use = { shardId, accountId, groupId, tokenId, type: other }
        needs.groupUses.set(`${groupUseAddressOf(use)} ${use.type} ${tokenId}`, use)
      }
    }
  } else if (command.type === 'register_group') {
    for (const { tokenId } of command.terms.legs) needAsset(needs, tokenId, facts, homeOf)
  } else if (command.type === 'mint') {
    needClass(needs, command.classId, facts)
    if (command.owner !== command.accountId) needAccount(needs, command.owner, facts, homeOf)
  } else if (command.type === 'compensate') {
    needs.transactions.set(command.compensates, { shardId, txnId: command.compensates })
  }
}

function needAccount(needs: Needs, accountId: string, facts: Facts, homeOf: HomeOf): void {
  const account = { shardId: homeOf({ kind: 'account', id: accountId }), accountId }
  if (!facts.exists(account)) needs.existing.set(addressOf(account), account)
}

function needAsset(needs: Needs, assetId: string, facts: Facts, homeOf: HomeOf): void {
  const nft = nftNameOf(assetId)
  if (nft !== undefined) {
    needClass(needs, nft.classId, facts)
    const address = instanceAddress(assetId)
    if (!facts.minted(assetId)) needs.instances.set(assetId, { shardId: homeOf(address), address })
  } else if (assetId !== BASE_UNIT && facts.token(assetId) === undefined) {
    const address = tokenAddress(assetId)
    needs.tokens.set(address.id, { shardId: homeOf(address), address })
  }
}

function needClass(needs: Needs, classId: string, facts: Facts): void {
  if (facts.nftClass(classId) === undefined) needs.classes.add(classId)
}

/** What was found of what it needed. */
export function findingsFor(pending: Pending, answer: LookUpAnswer, facts: Facts): Findings {
  const { command, incarnation, resident } = pending
  const found = { ...NOTHING_FOUND, facts, usedElsewhere: usedElsewhere(pending, resident?.state, answer) }
  if (command.type === 'compensate') {
    return { ...found, transaction: answer.transactions.get(command.compensates) }
  }
  if (command.type !== 'submit' || command.submission.groupId === null) return found
  const { accountId, groupId } = command.submission
  const address = groupUseAddressOf({ shardId: incarnation.token.shardId, accountId, groupId })
  const groupUses = answer.groupUses.get(address)
  return { ...found, groupUses: groupUses ?? [] }
}
