/** Reads and opens the rows at the places of events: groups, NFTs and attestations. */
import { type GroupView, groupViewOf } from '../../../actors/group/state.ts'
import { nftNameOf } from '../../../actors/nft-id.ts'
import type { InstanceState, NftEvent, NftEventType } from '../../../actors/nft-instance/state.ts'
import type { EventName } from '../../../runtime/ports/ledger-events.ts'
import type { Attestation } from '../../../runtime/ports/attestation-store.ts'
import { shardKeyName } from '../../vault/key-name.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { UnreadableRow } from '../../vault/unreadable-row.ts'
import { arrayLiteral, column } from '../connection/array-literal.ts'
import type { Sql } from '../connection/connection.ts'
import { prepared } from '../connection/prepared.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../rows/actor-documents.ts'
import { ATTESTATION_COLUMNS, type AttestationRow, openAttestation } from '../rows/attestation-document.ts'
import { NFT_EVENT_COLUMNS, type NftEventRow, openNftEvent } from '../rows/nft-event-rows.ts'
import { fetchKeys } from '../rows/opened-rows.ts'
import { nftKeyName } from '../rows/row-sealer.ts'
import { type FindNames, renameAttesters, renameHolders, renameParties } from './erased-names.ts'
import { type EventFacts, type FactsOf, found } from './event-contents.ts'
import type { EventPlace } from './event-places.ts'

const GROUPS = `
SELECT ${ACTOR_ROW_COLUMNS} FROM unnest($1::integer[], $2::text[]) AS i (shard_id, actor_id)
  JOIN actors a ON a.shard_id = i.shard_id AND a.kind = 'group' AND a.actor_id = i.actor_id`

const NFT_EVENTS = `
SELECT ${NFT_EVENT_COLUMNS} FROM unnest($1::integer[], $2::text[], $3::integer[]) AS i (shard_id, nft_id, number)
  JOIN nft_events e USING (shard_id, nft_id, number)`

const INSTANCES = `
SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.kind = 'instance' AND a.actor_id = ANY($1::text[])`

const ATTESTATIONS = `
SELECT ${ATTESTATION_COLUMNS.join(', ')} FROM attestations WHERE attestation_id = ANY($1::text[])`

/** Opened rows, by ID. IDs of NFT events are those of their places. */
export interface OpenedActors {
  readonly groups: ReadonlyMap<string, GroupView>
  readonly events: ReadonlyMap<string, NftEvent>
  readonly attestations: ReadonlyMap<string, Attestation>
  /** Owner and issuer of the NFTs of events and attestations. */
  readonly parties: ReadonlyMap<string, Parties>
}

interface Parties {
  readonly owner: string
  readonly issuer: string
}

const NOTHING: OpenedActors = { groups: new Map(), events: new Map(), attestations: new Map(), parties: new Map() }

export async function openActors(sql: Sql, places: readonly EventPlace[], vault: RowVault): Promise<OpenedActors> {
  const of = (...kinds: readonly EventPlace['kind'][]): readonly EventPlace[] =>
    places.filter(({ kind }) => kinds.includes(kind))
  const [groups, nfts, attested] = [of('group'), of('nft'), of('attestation', 'revocation')]
  if (groups.length + nfts.length + attested.length === 0) return NOTHING
  const attestations = await openAttestations(sql, attested, vault)
  const subjects = [...attestations.values()].map((attestation) => subjectOf(attestation))
  return {
    groups: await openGroups(sql, groups, vault),
    events: await openNftEvents(sql, nfts, vault),
    attestations,
    parties: await openParties(sql, [...nfts.map(({ id }) => id), ...subjects], vault),
  }
}

async function openGroups(sql: Sql, places: readonly EventPlace[], vault: RowVault): Promise<OpenedActors['groups']> {
  if (places.length === 0) return NOTHING.groups
  const rows = await prepared<ActorRow>(sql, GROUPS, [shardsOf(places), idsOf(places)])
  await fetchKeys(
    sql,
    rows.map((row) => shardKeyName(row.shard_id)),
    vault,
  )
  return new Map(
    rows.map((row) => {
      const view = groupViewOf(stateOf('group', row, vault))
      if (view === undefined) throw new UnreadableRow(`actors ${row.actor_id}`, 'it has ended and was not registered')
      return [row.actor_id, view]
    }),
  )
}

async function openNftEvents(
  sql: Sql,
  places: readonly EventPlace[],
  vault: RowVault,
): Promise<OpenedActors['events']> {
  if (places.length === 0) return NOTHING.events
  const numbers = column('integer', places, ({ number }) => number)
  const rows = await prepared<NftEventRow>(sql, NFT_EVENTS, [shardsOf(places), idsOf(places), numbers])
  await fetchKeys(
    sql,
    rows.map((row) => nftKeyName(row.nft_id, row.shard_id)),
    vault,
  )
  return new Map(rows.map((row) => [eventName(row.nft_id, row.number), openNftEvent(row, vault)]))
}

async function openAttestations(
  sql: Sql,
  places: readonly EventPlace[],
  vault: RowVault,
): Promise<OpenedActors['attestations']> {
  if (places.length === 0) return NOTHING.attestations
  const rows = await prepared<AttestationRow>(sql, ATTESTATIONS, [idsOf(places)])
  return new Map(rows.map((row) => [row.attestation_id, openAttestation(row, vault).attestation]))
}

async function openParties(sql: Sql, ids: readonly string[], vault: RowVault): Promise<OpenedActors['parties']> {
  if (ids.length === 0) return NOTHING.parties
  const rows = await prepared<ActorRow>(sql, INSTANCES, [arrayLiteral('text', [...new Set(ids)])])
  await fetchKeys(sql, rows.map(keyNameOfActorRow), vault)
  return new Map(rows.map((row) => [row.actor_id, stateOf('instance', row, vault) satisfies InstanceState]))
}

/** Replaces the names of erased accounts. */
export async function renamedActors(names: FindNames, opened: OpenedActors): Promise<OpenedActors> {
  if (opened === NOTHING) return opened
  const issuers = [...opened.parties].map(([id, { owner, issuer }]) => [id, { from: owner, to: issuer }] as const)
  const parties = await renamedValues(new Map(issuers), (rows) => renameHolders(names, rows))
  return {
    groups: await renamedValues(opened.groups, (rows) => renameParties(names, rows)),
    events: await renamedValues(opened.events, (rows) => renameHolders(names, rows)),
    attestations: await renamedValues(opened.attestations, (rows) => renameAttesters(names, rows)),
    parties: new Map([...parties].map(([id, { from: owner, to: issuer }]) => [id, { owner, issuer }])),
  }
}

async function renamedValues<Row>(
  rows: ReadonlyMap<string, Row>,
  rename: (rows: readonly Row[]) => Promise<readonly Row[]>,
): Promise<ReadonlyMap<string, Row>> {
  const renamed = await rename([...rows.values()])
  return new Map(
    [...rows.keys()].flatMap((id, index) => {
      const row = renamed[index]
      return row === undefined ? [] : [[id, row] as const]
    }),
  )
}

export function actorFacts({ groups, events, attestations, parties }: OpenedActors): FactsOf {
  const holdersOf = (id: string): readonly string[] => {
    const of = parties.get(id)
    return of === undefined ? [] : [of.owner, of.issuer]
  }
  return (place) => {
    switch (place.kind) {
      case 'group':
        return groupFacts(found(groups.get(place.id), place))
      case 'nft':
        return nftFacts(place.id, found(events.get(eventName(place.id, place.number)), place), parties.get(place.id))
      default: {
        const attestation = found(attestations.get(place.id), place)
        return attestationFacts(attestation, place.kind === 'revocation', holdersOf(subjectOf(attestation)))
      }
    }
  }
}

function groupFacts(group: GroupView): EventFacts {
  return {
    name: group.status === 'settled' ? 'group.settled' : 'group.reverted',
    subject: group.groupId,
    timeMs: group.finishedAtMs,
    accountIds: distinct(group.legs.flatMap(({ accountId, toAccountId }) => [accountId, toAccountId])),
    tokenIds: distinct(group.legs.map(({ tokenId }) => tokenId)),
    content: { kind: 'group', group },
  }
}

const NFT_NAMES: Readonly<Record<NftEventType, EventName>> = {
  mint: 'nft.minted',
  transfer: 'nft.transferred',
  burn: 'nft.burned',
}

function nftFacts(id: string, event: NftEvent, parties: Parties | undefined): EventFacts {
  const nft = nftNameOf(id)
  if (nft === undefined) throw new UnreadableRow(`nft_events ${id}`, 'it is of no NFT')
  return {
    name: NFT_NAMES[event.type],
    subject: id,
    timeMs: event.atMs,
    accountIds: distinct([event.from, event.to, parties?.issuer ?? null]),
    tokenIds: [id],
    content: { kind: 'nft', nft, event },
  }
}

/** The creation is shown without a later revocation. */
function attestationFacts(attestation: Attestation, isRevocation: boolean, holders: readonly string[]): EventFacts {
  const { revocation, attester, createdAtMs, importedAtMs } = attestation
  return {
    name: isRevocation ? 'attestation.revoked' : 'attestation.created',
    subject: subjectOf(attestation),
    timeMs: isRevocation ? (revocation?.atMs ?? null) : (importedAtMs ?? createdAtMs),
    accountIds: distinct([attester, ...holders]),
    tokenIds: [subjectOf(attestation)],
    content: { kind: 'attestation', attestation: isRevocation ? attestation : { ...attestation, revocation: null } },
  }
}

function subjectOf({ subjectClass, subjectInstance }: Attestation): string {
  return `${subjectClass}/${subjectInstance}`
}

function eventName(nftId: string, number: number | string | null): string {
  return `${nftId} ${number}`
}

function shardsOf(places: readonly EventPlace[]): string {
  return column('integer', places, (place) => place.shard_id)
}

function idsOf(places: readonly EventPlace[]): string {
  return column('text', places, ({ id }) => id)
}

function distinct(ids: readonly (string | null)[]): readonly string[] {
  return [...new Set(ids.filter((id) => id !== null))]
}
