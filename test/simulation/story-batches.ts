/** What a shard's part of a commit wrote, in the words of a story. */
import type { AccountState } from '../../actors/account/state.ts'
import type { TransactionRecord } from '../../actors/account/transaction.ts'
import { actorKey } from '../../actors/address.ts'
import { formatQuantity } from '../../actors/money.ts'
import type { ActorWrite, BalanceWrite, ShardBatch } from '../../runtime/ports/ledger-store.ts'
import { envelopeWords } from './story-words.ts'

/** One phrase a fact; empty when only the fence was passed. */
export function batchWords(batch: ShardBatch): readonly string[] {
  return [
    ...batch.marks.map(({ source, mark }) => `takes in all up to ${mark} of shard ${source}`),
    ...batch.accounts.map(({ account, previousVersion }) => accountWords(account, previousVersion, batch.balances)),
    ...batch.transactions.map(({ transaction }) => transactionWords(transaction, 'new, ')),
    ...batch.transactionChanges.map(({ txnId, finished, compensatedBy }) =>
      finished === null ? `${txnId} is undone by ${compensatedBy}` : transactionWords(finished.transaction, ''),
    ),
    ...batch.actors.map(actorWords),
    ...batch.nftEvents.map(
      ({ nftId, event }) => `NFT ${nftId}: ${event.type} ${event.from ?? 'nobody'} -> ${event.to ?? 'nobody'}`,
    ),
    ...batch.outbox.map(
      ({ target, number, envelope }) => `message ${number} to shard ${target} (${envelopeWords(envelope)})`,
    ),
  ]
}

function accountWords(
  { accountId, version, status, sequence }: AccountState,
  previousVersion: number,
  balances: readonly BalanceWrite[],
): string {
  const held = balances
    .filter((write) => write.accountId === accountId)
    .map(({ tokenId, balance: { balance, reserved, incoming } }) => {
      const parts = [
        reserved.isZero() ? '' : `, ${formatQuantity(reserved)} reserved`,
        incoming.isZero() ? '' : `, ${formatQuantity(incoming)} incoming`,
      ]
      return `${formatQuantity(balance)} ${tokenId}${parts.join('')}`
    })
  const shown = [status === 'active' ? '' : status, ...held].filter((part) => part !== '')
  const detail = shown.length > 0 ? ` [${shown.join('; ')}]` : ''
  return `${accountId} version ${version} on ${previousVersion}, entry ${sequence}${detail}`
}

function transactionWords(transaction: TransactionRecord, lead: string): string {
  const { txnId, type, amount, tokenId, accountId, toAccountId, status, failure, compensates } = transaction
  const to = toAccountId === null ? '' : ` -> ${toAccountId}`
  const undoes = compensates === null ? '' : `, undoing ${compensates}`
  return `${txnId} (${lead}${type} ${amount} ${tokenId} ${accountId}${to}${undoes}) ${failure?.code ?? status}`
}

function actorWords({ address, state, previousVersion }: ActorWrite): string {
  if (state === null) return `${actorKey(address)} is no more`
  const status = 'status' in state ? ` ${state.status}` : ''
  return `${actorKey(address)}${status}, version ${state.version} on ${previousVersion}`
}
