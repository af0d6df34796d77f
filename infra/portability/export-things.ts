/** Export records of a snapshot's tokens, NFT classes, NFT instances and attestations. */
import type postgres from 'postgres'
import { tokenAddress } from '../../actors/address.ts'
import { classFactsOf } from '../../actors/nft-class/state.ts'
import { type InstanceState, instanceViewOf, type NftEvent } from '../../actors/nft-instance/state.ts'
import { tokenFactsOf } from '../../actors/token/state.ts'
import { ACTOR_ROW_COLUMNS, type ActorRow, keyNameOfActorRow, stateOf } from '../postgres/rows/actor-documents.ts'
import { arrayLiteral, column } from '../postgres/connection/array-literal.ts'
import { openAttestation, ATTESTATION_COLUMNS, type AttestationRow } from '../postgres/rows/attestation-document.ts'
import { erasedAmong, erasedName } from '../postgres/rows/erased-accounts.ts'
import { NFT_EVENT_COLUMNS, type NftEventRow, openNftEvent } from '../postgres/rows/nft-event-rows.ts'
import { fetchKeys, opened } from '../postgres/rows/opened-rows.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { UnreadableRow } from '../vault/unreadable-row.ts'
import type { RecordBody } from './export-lines.ts'
import { attestationRecord, classRecord, instanceRecord, tokenRecord } from './export-records.ts'
import { batchesOf } from './export-snapshot.ts'

export interface ThingsQuery {
  readonly sql: postgres.Sql
  readonly vault: RowVault
  /** References of the owners; null: all. */
  readonly owners: readonly string[] | null
  /** null: all tokens. */
  readonly tokenIds: ReadonlySet<string> | null
}

const SMALL_ROWS_EACH = 200
/** Metadata and schemas have up to 64 KiB each; a history may fill a record. */
const LARGE_ROWS_EACH = 20

const ACTORS = `SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE a.kind = `
/** Burned NFTs have no owner. */
export const OWNED = `a.kind = 'instance' AND a.owner = ANY($1::text[])`

/** All functions below throw UnreadableRow or an error of the driver. */
export async function* readTokens({ sql, vault, tokenIds }: ThingsQuery): AsyncGenerator<RecordBody> {
  const ids = tokenIds === null ? null : [...tokenIds].map((tokenId) => tokenAddress(tokenId).id)
  const query = {
    name: 'tokens',
    text: `${ACTORS}'token' ${ids === null ? '' : 'AND a.actor_id = ANY($1::text[])'} ORDER BY a.actor_id`,
    parameters: ids === null ? [] : [arrayLiteral('text', ids)],
    rowsEach: SMALL_ROWS_EACH,
  }
  let found = 0
  for await (const rows of batchesOf<ActorRow>(sql, query)) {
    await fetchKeys(sql, rows.map(keyNameOfActorRow), vault)
    const tokens = rows
      .map((row) => opened(`actors ${row.actor_id}`, () => stateOf('token', row, vault)))
      .filter((token) => tokenFactsOf(token) !== undefined && (tokenIds === null || tokenIds.has(token.tokenId)))
    const nameOf = await namesOf(sql, vault, tokens)
    for (const token of tokens) {
      found += 1
      yield tokenRecord(token, nameOf(token.issuer))
    }
  }
  if (tokenIds !== null && found !== tokenIds.size) {
    throw new UnreadableRow('actors', 'balances exist of a token that does not')
  }
}

export async function* readClasses({ sql, vault, owners }: ThingsQuery): AsyncGenerator<RecordBody> {
  const query = {
    name: 'classes',
    text:
      owners === null
        ? `${ACTORS}'class' ORDER BY a.class_id`
        : `${ACTORS}'class' AND a.class_id IN (SELECT a.class_id FROM actors a WHERE ${OWNED}) ORDER BY a.class_id`,
    parameters: owners === null ? [] : [arrayLiteral('text', owners)],
    rowsEach: LARGE_ROWS_EACH,
  }
  for await (const rows of batchesOf<ActorRow>(sql, query)) {
    await fetchKeys(sql, rows.map(keyNameOfActorRow), vault)
    const classes = rows
      .map((row) => opened(`actors ${row.actor_id}`, () => stateOf('class', row, vault)))
      .filter((nftClass) => classFactsOf(nftClass) !== undefined)
    const nameOf = await namesOf(sql, vault, classes)
    for (const nftClass of classes) yield classRecord(nftClass, nameOf(nftClass.issuer))
  }
}

/** Names for the export: an erased account has a pseudonym. */
async function namesOf(
  sql: postgres.Sql,
  vault: RowVault,
  issued: readonly { readonly issuer: string }[],
): Promise<(accountId: string) => string> {
  const refs = issued.map(({ issuer }) => vault.accountRef(issuer))
  const erased = await erasedAmong(sql, refs, vault)
  return (accountId) => {
    const ref = vault.accountRef(accountId)
    return erased.has(ref) ? erasedName(ref, vault) : accountId
  }
}

export async function* readInstances({ sql, vault, owners }: ThingsQuery): AsyncGenerator<RecordBody> {
  const query = {
    name: 'instances',
    text:
      owners === null
        ? `${ACTORS}'instance' ORDER BY a.actor_id`
        : `SELECT ${ACTOR_ROW_COLUMNS} FROM actors a WHERE ${OWNED} ORDER BY a.actor_id`,
    parameters: owners === null ? [] : [arrayLiteral('text', owners)],
    rowsEach: LARGE_ROWS_EACH,
  }
  const known = owners === null ? null : new Set(owners)
  for await (const rows of batchesOf<ActorRow>(sql, query)) {
    const instances = await openInstances(sql, vault, rows)
    if (known !== null && instances.some(({ state }) => !known.has(vault.accountRef(state.owner)))) {
      throw new UnreadableRow('actors', 'an NFT names another owner than its row')
    }
    for await (const record of withHistories(sql, vault, instances)) yield record
  }
}

/** An NFT and its shard. */
export interface HomedInstance {
  readonly shardId: number
  readonly state: InstanceState
}

/** Instances whose mint has completed. */
export async function openInstances(
  sql: postgres.Sql,
  vault: RowVault,
  rows: readonly ActorRow[],
): Promise<readonly HomedInstance[]> {
  await fetchKeys(sql, rows.map(keyNameOfActorRow), vault)
  return rows
    .map((row) => ({
      shardId: row.shard_id,
      state: opened(`actors ${row.actor_id}`, () => stateOf('instance', row, vault)),
    }))
    .filter(({ state }) => instanceViewOf(state) !== undefined)
}

const HISTORIES = `
SELECT ${NFT_EVENT_COLUMNS}
  FROM unnest($1::integer[], $2::text[]) AS i (shard_id, nft_id)
  JOIN nft_events e ON e.shard_id = i.shard_id AND e.nft_id = i.nft_id
 ORDER BY e.nft_id, e.number`

export async function* withHistories(
  sql: postgres.Sql,
  vault: RowVault,
  instances: readonly HomedInstance[],
): AsyncGenerator<Extract<RecordBody, { readonly record: 'nft_instance' }>> {
  if (instances.length === 0) return
  const shards = column('integer', instances, ({ shardId }) => shardId)
  const ids = column('text', instances, ({ state }) => state.id)
  const rows = await sql.unsafe<NftEventRow[]>(HISTORIES, [shards, ids])
  const histories = new Map<string, NftEvent[]>(instances.map(({ state }) => [state.id, []]))
  for (const row of rows) histories.get(row.nft_id)?.push(openNftEvent(row, vault))
  for (const { state } of instances) yield instanceRecord(state, histories.get(state.id) ?? [])
}

/** Attestations of erased accounts are left out: the signed text contains the account's name. */
export async function* readAttestations({ sql, vault, owners }: ThingsQuery): AsyncGenerator<RecordBody> {
  const columns = ATTESTATION_COLUMNS.map((column) => `t.${column}`).join(', ')
  const ofOwners = `JOIN actors a ON a.actor_id = t.subject_class || '/' || t.subject_instance AND ${OWNED}`
  const query = {
    name: 'attestations',
    text: `SELECT ${columns} FROM attestations t ${owners === null ? '' : ofOwners} ORDER BY t.attestation_id`,
    parameters: owners === null ? [] : [arrayLiteral('text', owners)],
    rowsEach: SMALL_ROWS_EACH,
  }
  for await (const rows of batchesOf<AttestationRow>(sql, query)) {
    const erased = await erasedAmong(
      sql,
      rows.map(({ attester }) => attester),
      vault,
    )
    for (const row of rows) {
      const { attestation } = opened(`attestations ${row.attestation_id}`, () => openAttestation(row, vault))
      if (!erased.has(vault.accountRef(attestation.attester))) yield attestationRecord(attestation)
    }
  }
}
