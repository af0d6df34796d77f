/**
 * Minting at the issuer's account. The issuer orders a mint; the home of the instance decides it.
 *   B1. The idempotency key of a mint is held from acceptance to the decision: a repeat waits, a refusal frees the key.
 *   B2. A mint becomes a transaction only on completion.
 */
import { instanceAddress } from '../address.ts'
import type { JsonObject } from '../canonical-json.ts'
import { NFT_AMOUNT, nftId, nftNameOf } from '../nft-id.ts'
import type { InstanceView } from '../nft-instance/state.ts'
import { invariant } from '../result.ts'
import type { AccountCommandOf, MintCommand } from './commands.ts'
import { FIRST, refusal } from './outcome.ts'
import { completed, entered, pendingTransaction } from './record.ts'
import { type AccountData, type MintHold, mintHoldId } from './state.ts'
import type { Transaction } from './transaction.ts'
import { type AccountChange, Turn } from './turn.ts'

type ConcludeMint = AccountCommandOf<'conclude_mint'>

/** B1: the undecided mint that uses this key. */
export function mintUnderWay({ holds }: AccountData, idempotencyKey: string): MintHold | undefined {
  const hold = holds.get(mintHoldId(idempotencyKey))
  return hold?.kind === 'mint' ? hold : undefined
}

export function beginMint(account: AccountData, command: MintCommand): AccountChange {
  const turn = new Turn(account, command)
  const { key } = account
  invariant(key !== null, 'B1: an account without a key has signed a mint')
  const transaction = orderedMint(turn, command, key.keyId)
  turn.keep({ kind: 'mint', idempotencyKey: command.idempotencyKey, transaction, acceptedUnder: key })
  turn.send(instanceAddress(transaction.tokenId), {
    type: 'mint_nft',
    txnId: transaction.txnId,
    issuer: account.accountId,
    owner: command.owner,
    metadata: command.metadata,
  })
  return { ...turn.done(), answer: 'deferred' }
}

function orderedMint(turn: Turn, command: MintCommand, keyId: string): Transaction {
  const { owner, idempotencyKey, payload, payloadHash, signature } = command
  return pendingTransaction(turn, {
    type: 'mint',
    amount: NFT_AMOUNT,
    tokenId: nftId(command),
    groupId: null,
    origin: 'client',
    toAccountId: owner === turn.before.accountId ? null : owner,
    // Mints have keys of their own (D7): the prefix keeps them apart from those of transactions.
    idempotencyKey: `§mint ${idempotencyKey}`,
    payload,
    payloadHash,
    signature,
    keyId,
  })
}

export function concludeMint(turn: Turn, command: ConcludeMint): void {
  const hold = mintHoldOf(turn, command.txnId)
  turn.letGo(hold)
  const { idempotencyKey, transaction } = hold
  const use = { operation: 'mint', idempotencyKey } as const
  const { refused, mintedAtMs } = command
  if (refused !== null) {
    // Every other refusal concerns the owner.
    const field = refused.code === 'instance_exists' ? 'instance_id' : 'owner'
    return turn.note({ kind: 'concluded', answer: refusal(refused.code, refused.detail, field), use })
  }
  invariant(mintedAtMs !== null, 'B1: an NFT that was not refused was minted')
  const done = completed(turn, { ...transaction, counterTxnId: command.counterTxnId })
  entered(turn, done)
  const { txnId, payloadHash } = transaction
  const answer = { instance: mintedBy(transaction, mintedAtMs), txnId, payloadHash }
  turn.note({
    kind: 'operation_recorded',
    operation: {
      accountId: turn.before.accountId,
      operation: 'mint',
      idempotencyKey,
      payloadHash,
      keyId: transaction.keyId,
      answer,
      atMs: turn.timeMs,
    },
    acceptedUnder: hold.acceptedUnder,
  })
  turn.note({ kind: 'concluded', answer: { kind: 'minted', ...answer, ...FIRST }, use })
}

/** The instance as minted: the reply repeats the signed metadata. */
function mintedBy({ tokenId, accountId, toAccountId, payload }: Transaction, mintedAtMs: number): InstanceView {
  const name = nftNameOf(tokenId)
  invariant(name !== undefined, `B1: ${tokenId} was minted, and is no NFT`)
  const { metadata } = JSON.parse(payload) as { readonly metadata: JsonObject }
  return { ...name, owner: toAccountId ?? accountId, status: 'active', metadata, mintedAtMs }
}

function mintHoldOf({ before }: Turn, txnId: string): MintHold {
  const hold = before.holds.mintOf(txnId)
  invariant(hold !== undefined, `B1: the mint ${txnId} was decided without a hold`)
  return hold
}
