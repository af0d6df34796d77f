/** Clients of a ledger of pure steps. */
import type { Caller, ChangeStatusCommand, MintCommand, Submission } from '../../actors/account/commands.ts'
import type { Answer } from '../../actors/account/outcome.ts'
import { availableOf, balanceOf } from '../../actors/account/state.ts'
import { accountAddress, classAddress, groupAddress, tokenAddress } from '../../actors/address.ts'
import type { Json } from '../../actors/canonical-json.ts'
import { type GroupView, groupViewOf } from '../../actors/group/state.ts'
import { readTerms, type Terms } from '../../actors/group/terms.ts'
import { formatQuantity } from '../../actors/money.ts'
import type { RegisterClassCommand } from '../../actors/nft-class/state.ts'
import { nftId } from '../../actors/nft-id.ts'
import { type InstanceView, instanceViewOf, type NftEvent } from '../../actors/nft-instance/state.ts'
import type { RefusalCode } from '../../actors/refusal.ts'
import type { RegisterTokenCommand } from '../../actors/token/state.ts'
import {
  CALLER,
  mintCommand,
  registerClassCommand,
  registerCommand,
  registerGroupCommand,
  registerTokenCommand,
  revertGroupCommand,
  statusCommand,
  submitCommand,
} from '../support/accounts.ts'
import { type KeptTransaction, MiniLedger } from './mini-ledger.ts'

export const ADMIN: Caller = { ...CALLER, clientId: 'admin-1', role: 'admin' }
export const STRANGER: Caller = { ...CALLER, clientId: 'stranger-1' }

export interface Sent {
  readonly signature?: string
  readonly caller?: Caller
}

export function codeOf(answer: Answer): RefusalCode | undefined {
  return answer.kind === 'refused' ? answer.code : undefined
}

export const GROUP = '0f8fad5b-d9cb-469f-a165-70867728950e'

export interface LegFields {
  readonly [field: string]: Json
}

export function termsOf(legs: readonly LegFields[], { groupId = GROUP, timeoutSeconds = 900 } = {}): Terms {
  const read = readTerms({ group_id: groupId, legs, timeout_seconds: timeoutSeconds })
  if (!read.ok) throw new Error(`No terms: ${JSON.stringify(read.error)}`)
  return read.value
}

/** Fields of the submission that takes a leg. */
export function legOf(terms: Terms, leg: number): Partial<Submission> & Pick<Submission, 'accountId'> {
  const agreed = terms.legs[leg]
  if (agreed === undefined) throw new Error(`There is no leg ${leg}.`)
  const { accountId, type, amount, tokenId, toAccountId } = agreed
  const { groupId, termsHash } = terms
  return { accountId, type, amount, tokenId, toAccountId, groupId, termsHash }
}

/** The whole balance is available. */
export function free(amount: string) {
  return { balance: amount, available: amount, incoming: '0' }
}

export type Mint = Partial<MintCommand> & Pick<MintCommand, 'accountId' | 'classId' | 'instanceId'>

/** Fields of a submission that transfers an NFT. */
export function handing(
  id: string,
  accountId: string,
  toAccountId: string,
): Partial<Submission> & Pick<Submission, 'accountId'> {
  return { accountId, toAccountId, type: 'transfer', amount: '1', tokenId: id }
}

/** A ledger of pure steps, with its clients. */
export class World extends MiniLedger {
  open(...accountIds: readonly string[]): void {
    for (const accountId of accountIds) this.ask(accountAddress(accountId), registerCommand({ accountId }))
  }

  /** The reply to a submission; its messages stay undelivered. */
  submission(fields: Partial<Submission> & Pick<Submission, 'accountId'>, sent: Sent = {}): Answer {
    const answer = this.ask(accountAddress(fields.accountId), submitCommand(fields, sent))
    if (answer === null || answer === 'deferred') throw new Error('A submission is answered at once.')
    return answer
  }

  /** The ID of the accepted transaction. */
  submit(fields: Partial<Submission> & Pick<Submission, 'accountId'>, sent: Sent = {}): string {
    const answer = this.submission(fields, sent)
    if (answer.kind !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(answer)}`)
    return answer.receipt.txnId
  }

  /** The transaction, after all messages are delivered. */
  settled(fields: Partial<Submission> & Pick<Submission, 'accountId'>, sent: Sent = {}): KeptTransaction {
    const txnId = this.submit(fields, sent)
    this.drain()
    return this.transaction(txnId)
  }

  /** Credits value from an external account. */
  fund(accountId: string, amount: string, tokenId = 'BASE'): string {
    return this.submit({ accountId, amount, tokenId, type: 'credit' })
  }

  change(accountId: string, changes: Pick<Partial<ChangeStatusCommand>, 'status' | 'incoming'>): Answer {
    const answer = this.ask(accountAddress(accountId), statusCommand({ accountId, ...changes }))
    if (answer === null || answer === 'deferred') throw new Error('A change of status is answered at once.')
    return answer
  }

  /** Registers a token and delivers everything. */
  issue(changes: Partial<RegisterTokenCommand> = {}): Answer {
    const command = registerTokenCommand(changes)
    return this.asked(tokenAddress(command.tokenId), command)
  }

  /** Registers a group and delivers everything. */
  agree(terms: Terms, caller: Caller = CALLER): Answer {
    return this.asked(groupAddress(terms.groupId), registerGroupCommand(terms, { caller }))
  }

  revert(
    groupId: string,
    { caller = CALLER, txnIds = [] }: { readonly caller?: Caller; readonly txnIds?: readonly string[] } = {},
  ): Answer {
    const transactions = txnIds.map((txnId) => ({ txnId, accountId: this.transaction(txnId).accountId }))
    return this.asked(groupAddress(groupId), revertGroupCommand(groupId, { caller, transactions }))
  }

  /** As the interface shows a group; undefined while it is not registered. */
  groupSeen(groupId: string): GroupView | undefined {
    const group = this.group(groupId)
    return group === undefined ? undefined : groupViewOf(group)
  }

  /** As the interface shows a balance. */
  balance(accountId: string, tokenId = 'BASE') {
    const held = balanceOf(this.account(accountId), tokenId)
    return {
      balance: formatQuantity(held.balance),
      available: formatQuantity(availableOf(held)),
      incoming: formatQuantity(held.incoming),
    }
  }

  supply(tokenId: string): string | undefined {
    return this.token(tokenId)?.totalSupply
  }

  /** The ledger's own transactions on an account, oldest first. */
  orderedOn(accountId: string): readonly KeptTransaction[] {
    return [...this.transactions.values()].filter(
      (transaction) => transaction.accountId === accountId && transaction.origin === 'ledger',
    )
  }

  /** Registers a class and delivers everything. */
  classify(changes: Partial<RegisterClassCommand> = {}): Answer {
    const command = registerClassCommand(changes)
    return this.asked(classAddress(command.name), command)
  }

  /** The ID of a class that this account has issued. */
  classOf(issuer: string, changes: Partial<RegisterClassCommand> = {}): string {
    const answer = this.classify({ issuer, ...changes })
    if (answer.kind !== 'class_registered') throw new Error(`No class: ${JSON.stringify(answer)}`)
    return answer.nftClass.classId
  }

  /** Mints and delivers everything. */
  mint(fields: Mint): Answer {
    return this.asked(accountAddress(fields.accountId), mintCommand(fields))
  }

  /** The ID of the minted NFT. */
  minted(fields: Mint): string {
    const answer = this.mint(fields)
    if (answer.kind !== 'minted') throw new Error(`Not minted: ${JSON.stringify(answer)}`)
    return nftId(fields)
  }

  /** As the interface shows an NFT; undefined until it is minted. */
  nftSeen(id: string): InstanceView | undefined {
    const instance = this.instance(id)
    return instance === undefined ? undefined : instanceViewOf(instance)
  }

  /** The owners of an NFT, oldest first. */
  ownersOf(id: string): readonly (readonly [NftEvent['type'], string])[] {
    return (this.nftEvents.get(id) ?? []).map(({ type, to }) => [type, to])
  }

  /** The NFTs of an account, and its reserved places. */
  counts(accountId: string): { readonly owned: number; readonly promised: number } {
    const { nftCount, nftRoom } = this.account(accountId)
    return { owned: nftCount, promised: nftRoom }
  }

  /** The payload of the last entry in an account's chain. */
  lastEntry(accountId: string): unknown {
    return JSON.parse(this.entries.get(accountId)?.at(-1)?.payload ?? 'null')
  }
}
