/**
 * One command's effects as a batch: each row that they order and no other. Its receipts are not signed, as receipts
 * are signed after the step.
 */
import type { AccountState, Balance } from '../../../actors/account/state.ts'
import type { Effect } from '../../../actors/account/outcome.ts'
import type { ActorAddress } from '../../../actors/address.ts'
import type { AnyCommand, AnyState } from '../../../actors/step-actor.ts'
import type { ShardBatch, ShardToken } from '../../../runtime/ports/ledger-store.ts'
import { partWith, RECEIPT } from '../../support/postgres/ledger-rows.ts'
import { decimalOf } from '../store/value.ts'

const NOTHING: Balance = { balance: 0n, reserved: 0n, incoming: 0n, room: 0n, updatedAtMs: 0 }

/** A command and its effect on its actor. */
export interface SteppedCommand {
  readonly actor: ActorAddress
  readonly command: AnyCommand
  readonly before: AnyState | null
  readonly state: AnyState | null
  readonly effects: readonly Effect[]
}

type Lists = { -readonly [Part in Exclude<keyof ShardBatch, 'token'>]: ShardBatch[Part][number][] }

type OwnBatch = Lists & Pick<ShardBatch, 'token'>

/** `nextNumber`: the next message number to an actor's home, and the home's shard. */
export function batchOf(
  token: ShardToken,
  stepped: SteppedCommand,
  nextNumber: (to: ActorAddress) => { readonly target: number; readonly number: number },
): OwnBatch {
  const { actor, command, before, state, effects } = stepped
  const batch = partWith(token) as OwnBatch
  const previousVersion = before?.version ?? 0
  if (state !== before) {
    if (isAccount(state)) batch.accounts.push({ previousVersion, account: state })
    else batch.actors.push({ address: actor, previousVersion, state })
  }
  for (const effect of effects) {
    if (effect.kind !== 'message_sent') {
      order(batch, actor.id, effect)
      continue
    }
    const envelope = { version: 1, ...effect.envelope }
    const { target, number } = nextNumber(envelope.to)
    batch.outbox.push({ target, number, envelope, atMs: command.atMs })
    batch.sent = [...batch.sent.filter((counter) => counter.target !== target), { target, sent: number }]
  }
  if (isAccount(state)) stateRows(batch, state, effects)
  return batch
}

function order(batch: Lists, accountId: string, effect: Exclude<Effect, { readonly kind: 'message_sent' }>): void {
  switch (effect.kind) {
    case 'entry_appended':
      batch.entries.push({ ...effect.entry, accountId })
      return
    case 'transaction_entered': {
      const { transaction } = effect
      batch.transactions.push({ transaction, receipt: transaction.status === 'pending' ? null : RECEIPT })
      return
    }
    case 'transaction_finished': {
      const { transaction } = effect
      change(batch, transaction.txnId, { finished: { transaction, receipt: RECEIPT } })
      return
    }
    case 'transaction_compensated':
      change(batch, effect.txnId, { compensatedBy: effect.by })
      return
    case 'transaction_refunded': {
      const { txnId, refunded } = effect
      batch.refunds = [...batch.refunds.filter((other) => other.txnId !== txnId), { txnId, accountId, refunded }]
      return
    }
    case 'boundary_crossed': {
      const { tokenId, quantity } = effect
      const amount = decimalOf(quantity < 0n ? -quantity : quantity)
      const [credited, debited] = quantity < 0n ? ['0', amount] : [amount, '0']
      batch.boundary.push({ tokenId, credited, debited })
      return
    }
    case 'nft_event':
      batch.nftEvents.push({ nftId: effect.nftId, event: effect.event })
      return
    case 'key_registered':
      batch.keys.push({ accountId, key: effect.key, fromSequence: effect.fromSequence, atMs: effect.atMs })
      return
    case 'operation_recorded':
      batch.operations.push(effect.operation)
      return
    case 'account_erased':
      batch.erased.push(accountId)
      return
    case 'balance_changed':
    case 'hold_changed':
    case 'concluded':
      return
  }
}

/** Balances and holds have rows of their own: the effects name them, the state contains them. */
function stateRows(batch: Lists, account: AccountState, effects: readonly Effect[]): void {
  const { accountId } = account
  const tokens = new Set(effects.flatMap((effect) => (effect.kind === 'balance_changed' ? [effect.tokenId] : [])))
  for (const tokenId of tokens)
    batch.balances.push({ accountId, tokenId, balance: account.balances.get(tokenId) ?? NOTHING })
  const holdIds = new Set(effects.flatMap((effect) => (effect.kind === 'hold_changed' ? [effect.holdId] : [])))
  for (const holdId of holdIds) {
    const hold = account.holds.get(holdId)
    if (hold === undefined) batch.removedHolds.push({ accountId, holdId })
    else batch.holds.push({ accountId, holdId, hold })
  }
}

type Change = Partial<Omit<ShardBatch['transactionChanges'][number], 'txnId'>>

function change(batch: Lists, txnId: string, news: Change): void {
  const known = batch.transactionChanges.find((other) => other.txnId === txnId)
  const others = batch.transactionChanges.filter((other) => other !== known)
  batch.transactionChanges = [...others, { txnId, finished: null, compensatedBy: null, ...known, ...news }]
}

export function isAccount(state: AnyState | null | undefined): state is AccountState {
  return state?.kind === 'account'
}
