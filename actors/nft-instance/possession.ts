/**
 * Actions on an NFT, whose home alone decides its ownership.
 *   O1. It has one owner, or is being minted, or is burned; it is minted once, and never again after a burn (I9).
 *   O2. A hold is exclusive: until it is released or the NFT changes hands, no other transaction gets the NFT.
 *   O3. A change of owner is one entry of the history, whose hash covers the previous entry.
 */
import { type Effect, sent } from '../account/outcome.ts'
import { failure, type FailureCode } from '../account/transaction.ts'
import { type Change, written } from '../define-actor.ts'
import { accountAddress, exchangeAddress, groupAddress } from '../address.ts'
import { chainHash } from '../audit-chain.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { LegName, Message, Stamp } from '../message.ts'
import type { Refusal, RefusalCode } from '../refusal.ts'
import { nftNameOf } from '../nft-id.ts'
import { invariant } from '../result.ts'
import { isoTimestamp } from '../timestamp.ts'
import {
  type InstanceCommandOf,
  type InstanceData,
  NFT_EVENT_FORMAT,
  type InstanceHold,
  type InstanceStatus,
  newInstance,
  type NftEvent,
  type NftEventType,
} from './state.ts'

type InstanceChange = Change<InstanceData>

interface Context {
  readonly status: InstanceStatus
}

/** O1: the NFT has no owner until its receiver accepts it. */
export function mint(command: InstanceCommandOf<'mint_nft'>, { id }: { readonly id: string }): InstanceChange {
  const { txnId, issuer, owner, atMs } = command
  const made = newInstance(id, { ...command, mintedAtMs: atMs, acquiredAtMs: atMs }, command)
  const instance = { ...made, hold: { txnId, accountId: issuer, toAccountId: owner, leg: null } }
  const ask = { txnId, groupId: null, metadata: null, expiresAtMs: null, compensates: null }
  return {
    data: instance,
    effects: [receive(instance, owner, { ...ask, fromAccountId: owner === issuer ? null : issuer })],
  }
}

type Receive = Omit<Extract<Message, { readonly type: 'receive_nft' }>, 'type' | 'nftId'>

function receive({ id }: InstanceData, accountId: string, fields: Receive): Effect {
  return sent(accountAddress(accountId), { type: 'receive_nft', nftId: id, ...fields })
}

/** The instance exists or is being minted. */
export function refuseMint(instance: InstanceData, { txnId, issuer }: InstanceCommandOf<'mint_nft'>): InstanceChange {
  const refused = { code: 'instance_exists', detail: 'The class has, or had, an instance with this ID.' } as const
  return { data: instance, effects: [mintConcluded(instance, issuer, { txnId, refused, counterTxnId: null })] }
}

function mintConcluded(
  instance: InstanceData,
  issuer: string,
  { txnId, refused, counterTxnId }: { txnId: string; refused: Refusal | null; counterTxnId: string | null },
): Effect {
  const mintedAtMs = refused === null ? instance.mintedAtMs : null
  return sent(accountAddress(issuer), {
    type: 'conclude_mint',
    nftId: instance.id,
    txnId,
    refused,
    mintedAtMs,
    counterTxnId,
  })
}

const REFUSALS: Readonly<Partial<Record<FailureCode, RefusalCode>>> = {
  account_closed: 'account_closed',
  incoming_refused: 'account_refuses',
  asset_limit: 'asset_limit',
}

/** The owner refused it: the mint leaves no trace. */
export function giveUp(
  instance: InstanceData,
  { txnId, failure: why }: InstanceCommandOf<'nft_received'>,
): InstanceChange {
  holdOf(instance, txnId)
  const code = (why === null ? undefined : REFUSALS[why.code]) ?? 'owner_refused'
  const refused = { code, detail: why?.detail ?? 'The owner refused the NFT.' }
  return { data: null, effects: [mintConcluded(instance, instance.issuer, { txnId, refused, counterTxnId: null })] }
}

/** The owner accepted it: the NFT exists. */
export function begin(instance: InstanceData, command: InstanceCommandOf<'nft_received'>): InstanceChange {
  const { txnId, counterTxnId } = command
  holdOf(instance, txnId)
  const mintedAtMs = Math.max(command.atMs, instance.lastTimeMs)
  const owned = written(instance, command, { hold: null, mintedAtMs, acquiredAtMs: mintedAtMs })
  const { owner } = owned
  const { instance: minted, effects } = entering(owned, command, { type: 'mint', from: null, to: owner, txnId })
  return {
    data: minted,
    effects: [...effects, mintConcluded(minted, minted.issuer, { txnId, refused: null, counterTxnId })],
  }
}

export function move(instance: InstanceData, command: InstanceCommandOf<'move_nft'>): InstanceChange {
  const { txnId, accountId, toAccountId, groupId, metadata, expiresAtMs, compensates } = command
  const held = written(instance, command, { hold: { txnId, accountId, toAccountId, leg: null } })
  const fields = { txnId, fromAccountId: accountId, groupId, metadata, expiresAtMs, compensates }
  return { data: held, effects: [receive(held, toAccountId, fields)] }
}

/** A held NFT, or a sender that is not its owner, changes nothing. */
export function refuseMove(
  instance: InstanceData,
  command: InstanceCommandOf<'move_nft'>,
  context: Context,
): InstanceChange {
  const { txnId, accountId } = command
  const why = reason(instance, accountId, context)
  const message: Message = { type: 'conclude_transfer', txnId, failure: failure(why), counterTxnId: null }
  return { data: instance, effects: [sent(accountAddress(accountId), message)] }
}

export function refuseBurn(
  instance: InstanceData,
  command: InstanceCommandOf<'burn_nft'>,
  context: Context,
): InstanceChange {
  const { txnId, accountId } = command
  const message: Message = { type: 'conclude_supply', txnId, failure: failure(reason(instance, accountId, context)) }
  return { data: instance, effects: [sent(accountAddress(accountId), message)] }
}

export function refuseHold(
  instance: InstanceData,
  command: InstanceCommandOf<'hold_nft'>,
  context: Context,
): InstanceChange {
  const { txnId, accountId, leg } = command
  return { data: instance, effects: [heldSaid(accountId, txnId, leg, reason(instance, accountId, context))] }
}

/** `not_owner` takes precedence over `held`. A burned NFT has no owner. */
function reason({ owner }: InstanceData, accountId: string, { status }: Context): 'not_owner' | 'held' {
  return owner === accountId && status !== 'burned' ? 'held' : 'not_owner'
}

function heldSaid(accountId: string, txnId: string, leg: LegName | null, code: FailureCode | null): Effect {
  return sent(accountAddress(accountId), {
    type: 'nft_held',
    txnId,
    leg,
    failure: code === null ? null : failure(code),
  })
}

export function burn(instance: InstanceData, command: InstanceCommandOf<'burn_nft'>): InstanceChange {
  const { txnId, accountId } = command
  const burned = burning(instance, command, txnId)
  const said = sent(accountAddress(accountId), { type: 'conclude_supply', txnId, failure: null })
  return { data: burned.instance, effects: [...burned.effects, said] }
}

/** Holds the NFT for an exchange, or for a leg that its owner has signed. */
export function hold(instance: InstanceData, command: InstanceCommandOf<'hold_nft'>): InstanceChange {
  const { txnId, accountId, leg, toAccountId } = command
  const held = written(instance, command, { hold: { txnId, accountId, toAccountId, leg } })
  return { data: held, effects: [heldSaid(accountId, txnId, leg, null)] }
}

/** The exchange or the leg of the hold failed. */
export function release(instance: InstanceData, command: InstanceCommandOf<'release_nft'>): InstanceChange {
  const { txnId, accountId, leg } = command
  holdOf(instance, txnId)
  const free = written(instance, command, { hold: null })
  return { data: free, effects: [sent(accountAddress(accountId), { type: 'nft_released', txnId, leg })] }
}

export function handOver(instance: InstanceData, command: InstanceCommandOf<'nft_received'>): InstanceChange {
  const { txnId, counterTxnId } = command
  const { accountId, toAccountId } = holdOf(instance, txnId)
  const moved = handing(instance, command, toAccountId, txnId)
  const said: Message = { type: 'conclude_transfer', txnId, failure: null, counterTxnId }
  return { data: moved.instance, effects: [...moved.effects, sent(accountAddress(accountId), said)] }
}

export function keep(instance: InstanceData, command: InstanceCommandOf<'nft_received'>): InstanceChange {
  const { txnId, failure: why } = command
  const { accountId } = holdOf(instance, txnId)
  const free = written(instance, command, { hold: null })
  const said: Message = { type: 'conclude_transfer', txnId, failure: why, counterTxnId: null }
  return { data: free, effects: [sent(accountAddress(accountId), said)] }
}

/** Hands the NFT over: its exchange is paired. */
export function deliver(instance: InstanceData, command: InstanceCommandOf<'deliver_nft'>): InstanceChange {
  const { txnId, toAccountId, exchangeId } = command
  holdOf(instance, txnId)
  const moved = handing(instance, command, toAccountId, txnId)
  return {
    data: moved.instance,
    effects: [...moved.effects, sent(exchangeAddress(exchangeId), { type: 'nft_delivered', txnId })],
  }
}

/** The group has settled: hands the NFT over, or burns it. */
export function settleLeg(instance: InstanceData, command: InstanceCommandOf<'settle_leg'>): InstanceChange {
  const { txnId, toAccountId } = legHoldOf(instance, command)
  const { groupId, leg, role } = command
  const settled =
    toAccountId === null ? burning(instance, command, txnId) : handing(instance, command, toAccountId, txnId)
  return {
    data: settled.instance,
    effects: [...settled.effects, sent(groupAddress(groupId), { type: 'leg_settled', groupId, leg, role })],
  }
}

function holdOf({ hold: held, id }: InstanceData, txnId: string): InstanceHold {
  invariant(held?.txnId === txnId, `O2: ${id} is not held for ${txnId}`)
  return held
}

function legHoldOf({ hold: held, id }: InstanceData, { groupId, leg }: LegName): InstanceHold {
  invariant(
    held?.leg?.groupId === groupId && held.leg.leg === leg,
    `O2: ${id} is not held for leg ${leg} of ${groupId}`,
  )
  return held
}

function handing(instance: InstanceData, stamp: Stamp, to: string | null, txnId: string) {
  invariant(to !== null, `O2: ${instance.id} is held without a new owner`)
  const { owner: from } = instance
  const moved = written(instance, stamp, { hold: null, owner: to })
  const { instance: entered, effects } = entering(moved, stamp, { type: 'transfer', from, to, txnId })
  return { instance: { ...entered, acquiredAtMs: entered.lastTimeMs }, effects }
}

function burning(instance: InstanceData, stamp: Stamp, txnId: string) {
  const { owner } = instance
  const burned = written(instance, stamp, { hold: null })
  return entering(burned, stamp, { type: 'burn', from: owner, to: owner, txnId })
}

interface HistoryFields {
  readonly type: NftEventType
  readonly from: string | null
  readonly to: string
  readonly txnId: string
}

/** O3. */
function entering(instance: InstanceData, { salt }: Stamp, { type, from, to, txnId }: HistoryFields) {
  const { events: number, tip: previousHash, lastTimeMs: atMs, id } = instance
  const name = nftNameOf(id)
  const payload = canonicalJson({
    class_id: name?.classId ?? '',
    format: NFT_EVENT_FORMAT,
    from,
    instance_id: name?.instanceId ?? '',
    number,
    salt,
    timestamp: isoTimestamp(atMs),
    to,
    txn_id: txnId,
    type,
  })
  const eventHash = chainHash(previousHash, payload)
  const event: NftEvent = { number, type, from, to, txnId, atMs, previousHash, eventHash, payload }
  const effects: readonly Effect[] = [{ kind: 'nft_event', nftId: id, event }]
  return { instance: { ...instance, events: number + 1, tip: eventHash }, effects }
}
