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
import type { KeptTransaction, MiniLedger } from './mini-ledger.ts'

export const ADMIN: Caller = { ...CALLER, clientId: 'admin-1', role: 'admin' }
export const STRANGER: Caller = { ...CALLER, clientId: 'stranger-1' }

export function open(ledger: MiniLedger, ...accountIds: readonly string[]): void {
  for (const accountId of accountIds) ledger.ask(accountAddress(accountId), registerCommand({ accountId }))
}

export interface Sent {
  readonly signature?: string
  readonly caller?: Caller
}

/** The reply to a submission; its messages stay undelivered. */
export function submission(
  ledger: MiniLedger,
  fields: Partial<Submission> & Pick<Submission, 'accountId'>,
  sent: Sent = {},
): Answer {
  const answer = ledger.ask(accountAddress(fields.accountId), submitCommand(fields, sent))
  if (answer === null || answer === 'deferred') throw new Error('A submission is answered at once.')
  return answer
}

/** The ID of the accepted transaction. */
export function submit(
  ledger: MiniLedger,
  fields: Partial<Submission> & Pick<Submission, 'accountId'>,
  sent: Sent = {},
): string {
  const answer = submission(ledger, fields, sent)
  if (answer.kind !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(answer)}`)
  return answer.receipt.txnId
}

/** The transaction, after all messages are delivered. */
export function settled(
  ledger: MiniLedger,
  fields: Partial<Submission> & Pick<Submission, 'accountId'>,
  sent: Sent = {},
): KeptTransaction {
  const txnId = submit(ledger, fields, sent)
  ledger.drain()
  return ledger.transaction(txnId)
}

export function codeOf(answer: Answer): RefusalCode | undefined {
  return answer.kind === 'refused' ? answer.code : undefined
}

/** Credits value from an external account. */
export function fund(ledger: MiniLedger, accountId: string, amount: string, tokenId = 'BASE'): string {
  return submit(ledger, { accountId, amount, tokenId, type: 'credit' })
}

export function change(
  ledger: MiniLedger,
  accountId: string,
  changes: Pick<Partial<ChangeStatusCommand>, 'status' | 'incoming'>,
): Answer {
  const answer = ledger.ask(accountAddress(accountId), statusCommand({ accountId, ...changes }))
  if (answer === null || answer === 'deferred') throw new Error('A change of status is answered at once.')
  return answer
}

/** Registers a token and delivers everything. */
export function issue(ledger: MiniLedger, changes: Partial<RegisterTokenCommand> = {}): Answer {
  const command = registerTokenCommand(changes)
  return ledger.asked(tokenAddress(command.tokenId), command)
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

/** Registers a group and delivers everything. */
export function agree(ledger: MiniLedger, terms: Terms, caller: Caller = CALLER): Answer {
  return ledger.asked(groupAddress(terms.groupId), registerGroupCommand(terms, { caller }))
}

/** Fields of the submission that takes a leg. */
export function legOf(terms: Terms, leg: number): Partial<Submission> & Pick<Submission, 'accountId'> {
  const agreed = terms.legs[leg]
  if (agreed === undefined) throw new Error(`There is no leg ${leg}.`)
  const { accountId, type, amount, tokenId, toAccountId } = agreed
  const { groupId, termsHash } = terms
  return { accountId, type, amount, tokenId, toAccountId, groupId, termsHash }
}

export function revert(
  ledger: MiniLedger,
  groupId: string,
  { caller = CALLER, txnIds = [] }: { readonly caller?: Caller; readonly txnIds?: readonly string[] } = {},
): Answer {
  const transactions = txnIds.map((txnId) => ({ txnId, accountId: ledger.transaction(txnId).accountId }))
  return ledger.asked(groupAddress(groupId), revertGroupCommand(groupId, { caller, transactions }))
}

/** As the interface shows a group; undefined while it is not registered. */
export function groupSeen(ledger: MiniLedger, groupId: string): GroupView | undefined {
  const group = ledger.group(groupId)
  return group === undefined ? undefined : groupViewOf(group)
}

/** As the interface shows a balance. */
export function balance(ledger: MiniLedger, accountId: string, tokenId = 'BASE') {
  const held = balanceOf(ledger.account(accountId), tokenId)
  return {
    balance: formatQuantity(held.balance),
    available: formatQuantity(availableOf(held)),
    incoming: formatQuantity(held.incoming),
  }
}

/** The whole balance is available. */
export function free(amount: string) {
  return { balance: amount, available: amount, incoming: '0' }
}

export function supply(ledger: MiniLedger, tokenId: string): string | undefined {
  return ledger.token(tokenId)?.totalSupply
}

/** The ledger's own transactions on an account, oldest first. */
export function orderedOn(ledger: MiniLedger, accountId: string): readonly KeptTransaction[] {
  return [...ledger.transactions.values()].filter(
    (transaction) => transaction.accountId === accountId && transaction.origin === 'ledger',
  )
}

/** Registers a class and delivers everything. */
export function classify(ledger: MiniLedger, changes: Partial<RegisterClassCommand> = {}): Answer {
  const command = registerClassCommand(changes)
  return ledger.asked(classAddress(command.name), command)
}

/** The ID of a class that this account has issued. */
export function classOf(ledger: MiniLedger, issuer: string, changes: Partial<RegisterClassCommand> = {}): string {
  const answer = classify(ledger, { issuer, ...changes })
  if (answer.kind !== 'class_registered') throw new Error(`No class: ${JSON.stringify(answer)}`)
  return answer.nftClass.classId
}

export type Mint = Partial<MintCommand> & Pick<MintCommand, 'accountId' | 'classId' | 'instanceId'>

/** Mints and delivers everything. */
export function mint(ledger: MiniLedger, fields: Mint): Answer {
  return ledger.asked(accountAddress(fields.accountId), mintCommand(fields))
}

/** The ID of the minted NFT. */
export function minted(ledger: MiniLedger, fields: Mint): string {
  const answer = mint(ledger, fields)
  if (answer.kind !== 'minted') throw new Error(`Not minted: ${JSON.stringify(answer)}`)
  return nftId(fields)
}

/** As the interface shows an NFT; undefined until it is minted. */
export function nftSeen(ledger: MiniLedger, id: string): InstanceView | undefined {
  const instance = ledger.instance(id)
  return instance === undefined ? undefined : instanceViewOf(instance)
}

/** The owners of an NFT, oldest first. */
export function ownersOf(ledger: MiniLedger, id: string): readonly (readonly [NftEvent['type'], string])[] {
  return (ledger.nftEvents.get(id) ?? []).map(({ type, to }) => [type, to])
}

/** The NFTs of an account, and its reserved places. */
export function counts(ledger: MiniLedger, accountId: string): { readonly owned: number; readonly promised: number } {
  const { nftCount, nftRoom } = ledger.account(accountId)
  return { owned: nftCount, promised: nftRoom }
}

/** Fields of a submission that transfers an NFT. */
export function handing(
  id: string,
  accountId: string,
  toAccountId: string,
): Partial<Submission> & Pick<Submission, 'accountId'> {
  return { accountId, toAccountId, type: 'transfer', amount: '1', tokenId: id }
}

/** The payload of the last entry in an account's chain. */
export function lastEntry(ledger: MiniLedger, accountId: string): unknown {
  return JSON.parse(ledger.entries.get(accountId)?.at(-1)?.payload ?? 'null')
}
