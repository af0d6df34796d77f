/** Actors that are no accounts as a commit writes them, what became of NFTs, and what shards say to each other. */
import type { ActorAddress } from '../../../actors/address.ts'
import type { ActorState } from '../../../actors/actor-state.ts'
import { nftNameOf } from '../../../actors/nft-id.ts'
import type {
  InboxMark,
  NftEventWrite,
  OutboxWrite,
  SentCounter,
  ShardBatch,
} from '../../../runtime/ports/ledger-store.ts'
import { shardKeyName } from '../../vault/key-name.ts'
import { withRoomForMetadata } from '../../vault/padding.ts'
import { type Column, type Section, section } from './commit-section.ts'
import { deleteFrom, equal, insertInto, nextVersion, SAME_VERSION, update, upsert } from './commit-writes.ts'
import { actorKeyName, nftKeyName, PLACES, type RowSealer } from '../rows/row-sealer.ts'

interface ActorRow extends ActorVersion {
  readonly state: ActorState
}

interface ActorVersion {
  readonly address: ActorAddress
  readonly previousVersion: number
}

const ADDRESS_COLUMNS: readonly Column<ActorVersion>[] = [
  { name: 'kind', type: 'text', value: ({ address }) => address.kind },
  { name: 'actor_id', type: 'text', value: ({ address }) => address.id },
]

const STATE_COLUMNS: readonly Column<ActorRow>[] = [
  { name: 'version', type: 'bigint', value: ({ state }) => state.version },
  { name: 'status', type: 'text', value: ({ state }) => state.status },
  {
    name: 'document',
    type: 'sealed',
    value: ({ address, state }, { shardId, seal }) =>
      seal(
        actorKeyName(state, shardId),
        PLACES.actor(shardId, address.kind, address.id, state.version),
        actorText(state),
      ),
  },
  { name: 'due_at', type: 'timestamptz', value: ({ state }) => state.dueAtMs },
  { name: 'client_id', type: 'text', value: ({ state }) => ('clientId' in state ? state.clientId : null) },
  { name: 'class_id', type: 'text', value: ({ state }) => classIdOf(state) },
  { name: 'class_name', type: 'text', value: ({ state }) => (state.kind === 'class' ? state.name : null) },
  {
    name: 'issuer',
    type: 'text',
    value: ({ state }, { refOf }) => (state.kind === 'class' ? refOf(state.issuer) : null),
  },
  { name: 'owner', type: 'text', value: ({ state }, sealer) => ownerOf(state, sealer) },
]

function actorText(state: ActorState): string {
  const text = JSON.stringify(state)
  return state.kind === 'hold' && state.metadata !== null ? withRoomForMetadata(text) : text
}

function classIdOf(state: ActorState): string | null {
  if (state.kind === 'class') return state.classId
  return state.kind === 'instance' ? (nftNameOf(state.id)?.classId ?? null) : null
}

/** Of an NFT that is listed among what an account owns: one that is held is still its sender's. Of a hold: its payer. */
function ownerOf(state: ActorState, { refOf }: RowSealer): string | null {
  if (state.kind === 'hold') return refOf(state.accountId)
  if (state.kind !== 'instance' || state.status === 'minting' || state.status === 'burned') return null
  return refOf(state.owner)
}

const PREVIOUS_VERSION: Column<ActorVersion> = {
  name: 'previous_version',
  type: 'bigint',
  value: ({ previousVersion }) => previousVersion,
}

const CREATED_AT: Column<ActorRow> = {
  name: 'created_at',
  type: 'timestamptz',
  value: ({ state }) => createdAtMsOf(state),
}

function createdAtMsOf(state: ActorState): number {
  switch (state.kind) {
    case 'exchange':
      return state.lastTimeMs
    case 'instance':
      return state.mintedAtMs
    case 'group':
    case 'token':
    case 'class':
    case 'hold':
      return state.createdAtMs
  }
}

const NFT_EVENT_COLUMNS: readonly Column<NftEventWrite>[] = [
  { name: 'nft_id', type: 'text', value: ({ nftId }) => nftId },
  { name: 'number', type: 'integer', value: ({ event }) => event.number },
  { name: 'type', type: 'text', value: ({ event }) => event.type },
  { name: 'from_account_id', type: 'text', value: ({ event }, { refOf }) => event.from && refOf(event.from) },
  { name: 'to_account_id', type: 'text', value: ({ event }, { refOf }) => refOf(event.to) },
  { name: 'txn_id', type: 'text', value: ({ event }) => event.txnId },
  { name: 'occurred_at', type: 'timestamptz', value: ({ event }) => event.atMs },
  { name: 'previous_hash', type: 'bytea', value: ({ event }) => event.previousHash },
  { name: 'event_hash', type: 'bytea', value: ({ event }) => event.eventHash },
  {
    name: 'payload',
    type: 'sealed',
    value: ({ nftId, event }, { shardId, seal }) =>
      seal(nftKeyName(nftId, shardId), PLACES.nftEvent(shardId, nftId, event.number), event.payload),
  },
]

/** The commit that settled or reverted a group: a group enters the event log once. */
const ENDED_XID = "CASE WHEN i.kind = 'group' AND i.status IN ('settled', 'reverted') THEN pg_current_xact_id() END"

export const ACTOR_SECTIONS = {
  new_actors: section(
    (part) => actorsWith(part, (previousVersion) => previousVersion === 0),
    [...ADDRESS_COLUMNS, ...STATE_COLUMNS, CREATED_AT],
    insertInto('actors', '', { ended_xid: ENDED_XID }),
  ),
  changed_actors: section(
    (part) => actorsWith(part, (previousVersion) => previousVersion !== 0),
    [...ADDRESS_COLUMNS, ...STATE_COLUMNS, PREVIOUS_VERSION],
    nextVersion('actors', ['kind', 'actor_id'], { derived: [`ended_xid = coalesce(t.ended_xid, ${ENDED_XID})`] }),
    'an actor is not in the version that its next state was computed from',
  ),
  // One that was made and is gone within the batch never was.
  removed_actors: section(
    (part) => part.actors.filter(({ previousVersion, state }) => state === null && previousVersion !== 0),
    [...ADDRESS_COLUMNS, PREVIOUS_VERSION],
    deleteFrom('actors', `${equal('kind', 'actor_id')} AND ${SAME_VERSION}`, '\nRETURNING t.shard_id'),
    'an actor is not in the version that its end was computed from',
  ),
  nft_events: section((part) => part.nftEvents, NFT_EVENT_COLUMNS, insertInto('nft_events')),
} satisfies Record<string, Section>

function actorsWith(part: ShardBatch, isAsked: (previousVersion: number) => boolean): ActorRow[] {
  return part.actors.flatMap(({ address, previousVersion, state }) =>
    state !== null && isAsked(previousVersion) ? [{ address, previousVersion, state }] : [],
  )
}

const OUTBOX_COLUMNS: readonly Column<OutboxWrite>[] = [
  { name: 'target_shard', type: 'integer', value: ({ target }) => target },
  { name: 'number', type: 'bigint', value: ({ number }) => number },
  {
    name: 'message',
    type: 'sealed',
    value: (write, { shardId, seal }) =>
      seal(shardKeyName(shardId), PLACES.message(shardId, write.target, write.number), messageText(write)),
  },
  { name: 'written_at', type: 'timestamptz', value: ({ atMs }) => atMs },
]

function messageText({ envelope }: OutboxWrite): string {
  const text = JSON.stringify(envelope)
  return text.includes('"metadata":{') ? withRoomForMetadata(text) : text
}

interface SentRow extends SentCounter {
  /** The counter that the messages of this batch must follow without a gap. */
  readonly sentBefore: number
}

const CHANNEL_COLUMNS: readonly Column<SentCounter>[] = [
  { name: 'target_shard', type: 'integer', value: ({ target }) => target },
  { name: 'sent', type: 'bigint', value: ({ sent }) => sent },
]

const MARK_COLUMNS: readonly Column<InboxMark>[] = [
  { name: 'source_shard', type: 'integer', value: ({ source }) => source },
  { name: 'mark', type: 'bigint', value: ({ mark }) => mark },
]

export const MESSAGE_SECTIONS = {
  outbox: section((part) => part.outbox, OUTBOX_COLUMNS, insertInto('outbox')),
  new_channels: section(
    (part) => sentRows(part).filter(({ sentBefore }) => sentBefore === 0),
    CHANNEL_COLUMNS,
    insertInto('outbox_channels'),
  ),
  sent: section(
    (part) => sentRows(part).filter(({ sentBefore }) => sentBefore !== 0),
    [...CHANNEL_COLUMNS, { name: 'sent_before', type: 'bigint', value: ({ sentBefore }) => sentBefore }],
    update('outbox_channels', 'sent = i.sent', `${equal('target_shard')} AND t.sent = i.sent_before`),
    'a message does not follow the last one that was sent',
  ),
  marks: section(
    (part) => part.marks,
    MARK_COLUMNS,
    upsert('inbox_marks', ['source_shard'], '\n WHERE inbox_marks.mark < excluded.mark\nRETURNING shard_id'),
    'a mark does not lie above the one before',
  ),
} satisfies Record<string, Section>

/** The primary key of `outbox` refuses a number twice, so the count shows a gap. */
function sentRows({ sent, outbox }: ShardBatch): SentRow[] {
  if (sent.length === 0) return []
  const counts = new Map<number, number>()
  for (const { target } of outbox) counts.set(target, (counts.get(target) ?? 0) + 1)
  return sent.map(({ target, sent: last }) => ({ target, sent: last, sentBefore: last - (counts.get(target) ?? 0) }))
}
