/**
 * Verifies the history of every NFT from its mint to its owner. Then finds histories without an NFT.
 *   G1. A history is verified up to the last entry at the time the NFT's row was read.
 *   G2. A history longer than a page is verified in several steps.
 */
import type { Finding } from '../../runtime/audit/finding.ts'
import { ProvenanceWalk, type StoredProvenance } from '../../runtime/audit/provenance-walk.ts'
import { appendTo } from '../../runtime/common/append-to.ts'
import { shardOfTransactionId } from '../../actors/identifiers.ts'
import { nftNameOf } from '../../actors/nft-id.ts'
import { keyNameOfActorRow } from '../postgres/rows/actor-documents.ts'
import { arrayLiteral } from '../postgres/connection/array-literal.ts'
import { nftKeyName } from '../postgres/rows/row-sealer.ts'
import { accountKeyName } from '../vault/key-name.ts'
import {
  type EventContext,
  CLASSES_NAMED,
  type ClassRow,
  EVENTS_EXAMINED,
  EVENTS_PAGE,
  EVENTS_PAGE_SIZE,
  type EventRow,
  INSTANCES_AFTER,
  INSTANCES_FROM,
  instanceHeadOf,
  type InstanceRow,
  isAwaited,
  MINT_ON_ITS_WAY,
  type MintRow,
  openClass,
  openInstance,
  ORPHANS_PAGE,
  type OrphansRow,
  walkedEventOf,
} from './nft-rows.ts'
import { fetchKeysOfAccounts, keyFindings, opened } from './opened.ts'
import { type Look, SAW_NOTHING, type Step, type Walk } from './walk.ts'

/** The next page begins after this NFT or entry, or continues the NFT's history from `within`. */
export type NftsCursor =
  | { readonly at: 'instances'; readonly nftId: string; readonly within: StoredProvenance | null }
  | { readonly at: 'events'; readonly shardId: number; readonly nftId: string; readonly number: number }

const FIRST_EVENT: NftsCursor = { at: 'events', shardId: -1, nftId: '', number: 0 }

export const nftsWalk: Walk<NftsCursor> = {
  name: 'nfts',
  subjects: ['provenance'],
  start: { at: 'instances', nftId: '', within: null },
  step: (look, cursor) => (cursor.at === 'events' ? orphansStep(look, cursor) : instancesStep(look, cursor)),
}

type InstancesCursor = Extract<NftsCursor, { readonly at: 'instances' }>

async function instancesStep(look: Look, { nftId, within }: InstancesCursor): Promise<Step<NftsCursor>> {
  const page = await look.query<InstanceRow>(within === null ? INSTANCES_AFTER : INSTANCES_FROM, [nftId])
  if (page.length === 0 && within === null) return { ...SAW_NOTHING, next: FIRST_EVENT }
  if (within !== null && page[0]?.actor_id !== nftId) {
    const gone: Finding = { subject: 'provenance', place: `NFT ${nftId}`, problem: 'it is gone' }
    return { ...SAW_NOTHING, next: { at: 'instances', nftId, within: null }, findings: [gone] }
  }
  return walkInstances(look, within === null ? page : page.slice(0, 1), within)
}

/** Verifies the whole histories of these NFTs. A missing NFT is a finding. */
export async function checkNfts(look: Look, nftIds: readonly string[]): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const nftId of nftIds) {
    let within: StoredProvenance | null = null
    do {
      const [row] = await look.query<InstanceRow>(INSTANCES_FROM, [nftId])
      if (row?.actor_id !== nftId) {
        findings.push(orphan(nftId))
        break
      }
      const step: Step<NftsCursor> = await walkInstances(look, [row], within)
      findings.push(...step.findings)
      within = step.next?.at === 'instances' ? step.next.within : null
    } while (within !== null)
  }
  return findings
}

async function walkInstances(
  look: Look,
  rows: readonly InstanceRow[],
  within: StoredProvenance | null,
): Promise<Step<NftsCursor>> {
  await look.fetchKeys(rows.map((row) => nftKeyName(row.actor_id, row.shard_id)))
  const { issuers, findings } = await readIssuers(look, rows)
  const walks = rows.map((row) => {
    const issuer = issuers.get(nftNameOf(row.actor_id)?.classId ?? '')
    const state = opened(() => openInstance(row, look.vault))
    const cameWith = state.isOpen ? (state.value.arrived?.events ?? 0) : 0
    return {
      row,
      state,
      issuer,
      cameWith,
      walk: new ProvenanceWalk(row.actor_id, issuer, within ?? undefined, cameWith),
    }
  })
  const { events, erased } = await readEvents(
    look,
    walks.map(({ row, walk }) => ({ row, first: walk.next() })),
  )
  let counted = 0
  for (const { row, state, issuer, cameWith, walk } of walks) {
    const own = events.get(row.actor_id) ?? []
    for (const event of own) {
      if (event.number === 0 && event.counted) counted += 1
      const context = { issuer, isErased: erased.has(event.account_id), isFromElsewhere: event.number < cameWith }
      const finding = await takeEvent(look, walk, event, context)
      if (finding !== undefined) findings.push(finding)
    }
    if (own.length === EVENTS_PAGE_SIZE && walk.next() <= (row.last_event ?? -1)) {
      const next: NftsCursor = { at: 'instances', nftId: row.actor_id, within: walk.stored() }
      return { next, checked: { provenance: counted }, findings }
    }
    findings.push(...walk.finish(instanceHeadOf(row, state, issuer, look.vault)))
  }
  const next: NftsCursor = { at: 'instances', nftId: rows.at(-1)?.actor_id ?? '', within: null }
  return { next, checked: { provenance: counted }, findings }
}

async function takeEvent(
  look: Look,
  walk: ProvenanceWalk,
  row: EventRow,
  { isFromElsewhere, ...context }: Pick<EventContext, 'issuer' | 'isErased'> & { readonly isFromElsewhere: boolean },
): Promise<Finding | undefined> {
  const isComing = !isFromElsewhere && (await isOnItsWay(look, row, context.issuer))
  const event = opened(() => walkedEventOf(row, look, { ...context, isOnItsWay: isComing }))
  if (event.isOpen) return walk.take(event.value)
  const { number, event_type: type } = row
  return walk.takeUnread({ number, type, eventHash: row.event_hash.toString('hex') }, event.problem)
}

interface Issuers {
  /** By class ID. */
  readonly issuers: ReadonlyMap<string, string>
  readonly findings: Finding[]
}

async function readIssuers(look: Look, rows: readonly InstanceRow[]): Promise<Issuers> {
  const { vault } = look
  const classIds = new Set(rows.flatMap(({ actor_id: id }) => nftNameOf(id)?.classId ?? []))
  const classes = await look.query<ClassRow>(CLASSES_NAMED, [arrayLiteral('text', [...classIds])])
  await look.fetchKeys(classes.map(keyNameOfActorRow))
  const issuers = new Map<string, string>()
  const findings: Finding[] = []
  for (const row of classes) {
    const place = `class ${row.class_id ?? row.actor_id}`
    const key = { name: keyNameOfActorRow(row), of: place, isThere: row.has_key }
    findings.push(...keyFindings(vault, 'provenance', key))
    const state = opened(() => openClass(row, vault))
    if (state.isOpen) issuers.set(state.value.classId, state.value.issuer)
    else findings.push({ subject: 'provenance', place, problem: state.problem })
  }
  return { issuers, findings }
}

interface Wanted {
  readonly row: InstanceRow
  readonly first: number
}

interface Events {
  readonly events: ReadonlyMap<string, readonly EventRow[]>
  /** References of erased accounts, whose transactions cannot be read. */
  readonly erased: ReadonlySet<string>
}

async function readEvents(look: Look, wanted: readonly Wanted[]): Promise<Events> {
  const column = (type: 'integer' | 'text' | 'bigint', valueOf: (one: Wanted) => string | number): string =>
    arrayLiteral(type, wanted.map(valueOf))
  const found = await look.query<EventRow>(EVENTS_PAGE, [
    column('integer', ({ row }) => row.shard_id),
    column('text', ({ row }) => row.actor_id),
    column('bigint', ({ first }) => first),
    column('bigint', ({ row }) => row.last_event ?? -1),
    look.countBelow,
  ])
  const erased = await fetchKeysOfAccounts(look, found)
  const byNft = new Map<string, EventRow[]>()
  for (const event of found) appendTo(byNft, event.nft_id, event)
  return { events: byNft, erased }
}

/** Only the missing transaction of a mint may be in transit. */
async function isOnItsWay(look: Look, event: EventRow, issuer: string | undefined): Promise<boolean> {
  const found: string | null = event.txn_id
  const shardId = shardOfTransactionId(event.event_txn_id)
  if (found !== null || event.event_type !== 'mint' || issuer === undefined || shardId === undefined) return false
  const [txnId, ref] = [event.event_txn_id, look.vault.accountRef(issuer)]
  const [row] = await look.query<MintRow>(MINT_ON_ITS_WAY, [txnId, ref, shardId])
  if (row === undefined || row.entered) return row?.entered === true
  await look.fetchKeys([accountKeyName(ref)])
  return isAwaited(row, { txnId, shardId, ref }, look.vault)
}

type EventsCursor = Extract<NftsCursor, { readonly at: 'events' }>

async function orphansStep(look: Look, { shardId, nftId, number }: EventsCursor): Promise<Step<NftsCursor>> {
  const [row] = await look.query<OrphansRow>(ORPHANS_PAGE, [shardId, nftId, number])
  if (row === undefined) return { ...SAW_NOTHING, next: null }
  const next: NftsCursor = { at: 'events', shardId: row.shard_id, nftId: row.nft_id, number: row.number }
  const findings = (row.orphans ?? []).map(orphan)
  return { next: row.examined < EVENTS_EXAMINED ? null : next, checked: {}, findings }
}

function orphan(nftId: string): Finding {
  return { subject: 'provenance', place: `NFT ${nftId}`, problem: 'it has a history and is not there' }
}
