/**
 * Lists of attestations, newest first. Each page is one statement over the index of its narrowest filter; against the
 * other filters rows are held as they are walked.
 *   Z1. A page examines at most EXAMINED_ROWS rows: with filters that the index does not serve, the statement first finds
 *       the row that many steps further, the horizon, and goes no further than that (Y4).
 *   Z2. The query walks the filter's own index, whatever the planner's statistics are.
 */
import type postgres from 'postgres'
import { type ActorAddress, classAddress } from '../../../actors/address.ts'
import { isAttester } from '../../../actors/identifiers.ts'
import type { AttestationPage, AttestationQuery } from '../../../runtime/ports/attestation-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { openAttestation, ABOVE_ALL, ATTESTATION_COLUMNS, type AttestationRow } from '../rows/attestation-document.ts'
import { all, type Fragment } from './transactions-query-filters.ts'

export const EXAMINED_ROWS = 5_000

const NOTHING: AttestationPage = { attestations: [], next: null }

/** One row at least, also for an empty page: then `attestation_id` is null. */
type PageRow = (AttestationRow | { readonly attestation_id: null }) & { readonly horizon: string | null }

export interface AttestationReading {
  /** The shard that an actor's key hashes to. */
  readonly homeOf: (actor: ActorAddress) => number
  readonly vault: RowVault
}

/** Throws UnreadableRow. */
export async function readAttestationPage(
  sql: postgres.Sql,
  query: AttestationQuery,
  { homeOf, vault }: AttestationReading,
): Promise<AttestationPage> {
  if (Object.values(query).some((value) => typeof value === 'string' && value.includes('\0'))) return NOTHING
  // References exist only for texts of limited length.
  if (query.attester !== null && !isAttester(query.attester)) return NOTHING
  const attester = query.attester === null ? null : vault.accountRef(query.attester)
  let { subjectClass } = query
  if (query.assetClass !== null) {
    const classId = await findClass(sql, query.assetClass, homeOf)
    if (classId === undefined || (subjectClass !== null && subjectClass !== classId)) return NOTHING
    subjectClass = classId
  }
  const rows = await walk(sql, { ...query, subjectClass, attester })
  const found = rows.filter((row): row is AttestationRow & PageRow => row.attestation_id !== null)
  const shown = found.slice(0, query.limit)
  const next = found.length > shown.length ? shown.at(-1)?.attestation_id : rows[0]?.horizon
  return { attestations: shown.map((row) => openAttestation(row, vault).attestation), next: next ?? null }
}

/** A class never changes its ID or name, so that it need not be looked up at the page's own moment. */
async function findClass(
  sql: postgres.Sql,
  text: string,
  homeOf: (actor: ActorAddress) => number,
): Promise<string | undefined> {
  const named = classAddress(text)
  const [row] = await sql<{ readonly class_id: string }[]>`
    SELECT class_id, 0 AS rank FROM actors WHERE kind = 'class' AND class_id = ${text}
    UNION ALL
    SELECT class_id, 1 FROM actors WHERE shard_id = ${homeOf(named)} AND kind = 'class' AND actor_id = ${named.id}
    ORDER BY rank LIMIT 1`
  return row?.class_id
}

/** `attester`: what stands for it. */
async function walk(sql: postgres.Sql, query: AttestationQuery): Promise<readonly PageRow[]> {
  const { key, descending, at, rest } = pathOf(sql, query)
  const walked = sql`${key} < ${at(query.after ?? ABOVE_ALL)} AND ${key} >= ${at('')}`
  const horizon =
    rest.length === 0
      ? sql`NULL::text`
      : sql`(SELECT attestation_id FROM attestations WHERE ${walked}
             ORDER BY ${descending} OFFSET ${EXAMINED_ROWS - 1} LIMIT 1)`
  return await sql<PageRow[]>`
    WITH bound AS MATERIALIZED (SELECT ${horizon} AS horizon)
    SELECT bound.horizon, page.*
    FROM bound LEFT JOIN LATERAL (
      SELECT ${sql(ATTESTATION_COLUMNS)} FROM attestations
      WHERE ${walked} AND ${key} >= ${at(sql`coalesce(bound.horizon, '')`)} AND ${all(sql, rest)}
      ORDER BY ${descending} LIMIT ${query.limit + 1}
    ) page ON true
    ORDER BY page.attestation_id DESC`
}

/** The index that is walked, and what its rows are held against. */
interface Path {
  /** The index's columns, as a row. */
  readonly key: Fragment
  readonly descending: Fragment
  /** The place of an ID among those that have the filtered values. */
  readonly at: (attestationId: string | Fragment) => Fragment
  readonly rest: readonly Fragment[]
}

/**
 * An instance has fewer attestations than an attester makes, and an attester fewer than a class gets. Ranges of the whole
 * key in place of equalities: of a value that many rows have, the planner would else walk the primary key, past all that
 * is newer (Z2).
 */
function pathOf(sql: postgres.Sql, query: AttestationQuery): Path {
  const { subjectClass, subjectInstance, attester, status } = query
  const ofClass = subjectClass === null ? [] : [sql`subject_class = ${subjectClass}`]
  const ofAttester = attester === null ? [] : [sql`attester = ${attester}`]
  const ofStatus = status === null ? [] : [sql`status = ${status}`]
  if (subjectInstance !== null && subjectClass !== null) {
    return {
      key: sql`(subject_class, subject_instance, attestation_id)`,
      descending: sql`subject_class DESC, subject_instance DESC, attestation_id DESC`,
      at: (id) => sql`(${subjectClass}, ${subjectInstance}, ${id})`,
      rest: [...ofAttester, ...ofStatus],
    }
  }
  if (subjectInstance !== null) return path(sql, 'subject_instance', subjectInstance, [...ofAttester, ...ofStatus])
  if (attester !== null) return path(sql, 'attester', attester, [...ofClass, ...ofStatus])
  if (subjectClass !== null) return path(sql, 'subject_class', subjectClass, ofStatus)
  if (status !== null) return path(sql, 'status', status, [])
  return { key: sql`attestation_id`, descending: sql`attestation_id DESC`, at: (id) => sql`${id}`, rest: [] }
}

function path(sql: postgres.Sql, column: string, value: string, rest: readonly Fragment[]): Path {
  return {
    key: sql`(${sql(column)}, attestation_id)`,
    descending: sql`${sql(column)} DESC, attestation_id DESC`,
    at: (id) => sql`(${value}, ${id})`,
    rest,
  }
}
