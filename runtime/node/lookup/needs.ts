/** The query of a look-up, and each command's part of the findings. */
import { isSelfTransfer, TRANSACTION_TYPES } from '../../../actors/account/commands.ts'
import { isSignedOperation, usedKeyHash } from '../../../actors/account/used-key.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import { instanceAddress, tokenAddress } from '../../../actors/address.ts'
import { BASE_UNIT } from '../../../actors/money.ts'
import { nftNameOf } from '../../../actors/nft-id.ts'
import type { AnyState } from '../../../actors/step-actor.ts'
import {
  addressOf,
  type CreditName,
  creditNameOf,
  groupUseAddressOf,
  type KeyAddress,
  keyAddressOf,
  type LookUpAnswer,
  type LookUpQuestion,
  type TransactionName,
} from '../../ports/ledger-store.ts'
import type { Facts } from '../shard/facts.ts'
import { type Findings, NOTHING_FOUND, type Pending } from '../shard/pending-command.ts'

/** The parts of a query, by address. */
export type Needs = { readonly [Part in keyof LookUpQuestion]: Map<string, LookUpQuestion[Part][number]> }

export function noNeeds(): Needs {
  return {
    accounts: new Map(),
    keys: new Map(),
    actors: new Map(),
    transactions: new Map(),
    credits: new Map(),
    groupUses: new Map(),
    tokens: new Map(),
    existing: new Map(),
    classes: new Map(),
    instances: new Map(),
  }
}

export function questionOf(needs: Needs): LookUpQuestion {
  const parts = Object.entries<ReadonlyMap<string, unknown>>(needs).map(([part, asked]) => [part, [...asked.values()]])
  return Object.fromEntries(parts) as LookUpQuestion
}

type HomeOf = (actor: ActorAddress) => number

/** Adds the command's needs that are not in memory. */
export function addNeeds(needs: Needs, pending: Pending, facts: Facts, homeOf: HomeOf): void {
  const { command, incarnation } = pending
  const { shardId } = incarnation.token
  if ('submission' in command) {
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
  } else if (command.type === 'create_hold') {
    needAsset(needs, command.tokenId, facts, homeOf)
    needAccount(needs, command.toAccountId, facts, homeOf)
  } else if (command.type === 'mint') {
    needClass(needs, command.classId, facts)
    if (command.owner !== command.accountId) needAccount(needs, command.owner, facts, homeOf)
  }
  const named = namedBy(pending)
  if (named === undefined) return
  if ('accountId' in named) needs.credits.set(creditNameOf(named), named)
  else needs.transactions.set(named.txnId, named)
}

/** The transaction that the command compensates or refunds: of a refund at the account that makes it, its credit. */
function namedBy({ command, incarnation }: Pending): TransactionName | CreditName | undefined {
  const { shardId } = incarnation.token
  if (command.type === 'compensate') return { shardId, txnId: command.compensates }
  if ('submission' in command) {
    const { accountId, refunds } = command.submission
    return refunds === null ? undefined : { shardId, accountId, txnId: refunds }
  }
  if (!('refunds' in command) || command.refunds === undefined) return undefined
  const { accountId, refunds: txnId } = command
  return command.type === 'receive_transfer' ? { shardId, txnId } : { shardId, accountId, txnId }
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
  if (facts.nftClass(classId) === undefined) needs.classes.set(classId, classId)
}

export function findingsFor(pending: Pending, answer: LookUpAnswer, facts: Facts): Findings {
  const { command, incarnation, resident, askedElsewhere } = pending
  const elsewhere = elsewhereKeyOf(pending, resident?.state)
  // The look-up may have omitted the key, because the account was not yet imported.
  const isAsked = elsewhere !== undefined && keyAddressOf(elsewhere) === askedElsewhere
  const usedElsewhere = isAsked ? answer.keys.has(keyAddressOf(elsewhere)) : undefined
  const named = namedBy(pending)
  const transaction = named && transactionIn(answer, named)
  const found = { ...NOTHING_FOUND, facts, usedElsewhere, transaction }
  if (!('submission' in command) || command.submission.groupId === null) return found
  const { accountId, groupId } = command.submission
  const address = groupUseAddressOf({ shardId: incarnation.token.shardId, accountId, groupId })
  return { ...found, groupUses: answer.groupUses.get(address) ?? [] }
}

function transactionIn({ credits, transactions }: LookUpAnswer, named: TransactionName | CreditName) {
  return 'accountId' in named ? credits.get(creditNameOf(named)) : transactions.get(named.txnId)
}

/** The address of a key used on the source ledger (V3 of actors/account/arrival.ts); undefined if there is none. */
export function elsewhereKeyOf({ keyUse }: Pending, state: AnyState | null | undefined): KeyAddress | undefined {
  if (keyUse === null) return undefined
  const { shardId, accountId, operation, idempotencyKey } = keyUse
  if (!isSignedOperation(operation)) return undefined
  const keySalt = state?.kind === 'account' ? (state.arrived?.keySalt ?? null) : null
  if (keySalt === null) return undefined
  const hash = usedKeyHash(keySalt, accountId, { operation, idempotencyKey })
  return { shardId, accountId, operation: 'elsewhere', idempotencyKey: hash }
}
