/**
 * The auditor's progress in PostgreSQL.
 *   S1. One auditor writes at a time: on the connection that holds an advisory lock. The next holder of the lock sees all
 *       writes, because the lock ends with the connection.
 *   S2. Findings and position of a turn are written in one transaction. A turn is repeated at most once.
 *   S3. At most MAX_LISTED findings of a subject are listed; the others are counted.
 *   S4. The position of a pass is sealed, because it contains balances and owners. If it cannot be sealed or decrypted, the
 *       pass begins anew.
 */
import type postgres from 'postgres'
import { addCounts, type Counts, type Finding, type Subject, SUBJECTS } from '../../runtime/audit/finding.ts'
import { column } from '../postgres/connection/array-literal.ts'
import { connect, type Connection, withDeadline } from '../postgres/connection/connection.ts'
import { fetchKeys } from '../postgres/rows/opened-rows.ts'
import { LEDGER_KEY_NAME } from '../vault/key-name.ts'
import { placeOf } from '../vault/place.ts'
import type { RowVault } from '../vault/row-vault.ts'
import { AuditUnavailable } from './audit-reads.ts'
import { opened } from './opened.ts'
import type { PassPlace } from './pass.ts'
import { type AuditProgress, currentPass, noteUnlisted, readProgress, type TurnResult } from './progress.ts'

export interface ProgressStore {
  /** undefined: there is no progress, or its format is of another version. */
  readonly load: () => Promise<AuditProgress | undefined>
  readonly save: (result: TurnResult) => Promise<SavedProgress>
  readonly close: () => Promise<void>
}

export interface SavedProgress {
  /** Includes the number of unlisted findings. */
  readonly progress: AuditProgress
  /** Findings in the list. */
  readonly listed: Counts
}

/** S3. */
export const MAX_LISTED = 1_000

/** Advisory lock of the auditor. Arbitrary, and different from every session's key. */
export const AUDITOR_LOCK = '7810198402634810714'
const DEADLINE_MS = 10_000

/** undefined: another auditor runs (S1). Throws AuditUnavailable. */
export async function openProgressStore(url: string, vault: RowVault): Promise<ProgressStore | undefined> {
  return reachable(async () => {
    const settings = { statement_timeout: String(DEADLINE_MS), lock_timeout: String(DEADLINE_MS) }
    const connection = await connect({ url, applicationName: 'ledger auditor', settings })
    const [row] = await connection.sql<
      { taken: boolean }[]
    >`SELECT pg_try_advisory_lock(${AUDITOR_LOCK}::bigint) AS taken`
    if (row?.taken === true) return storeOn(connection, vault)
    await connection.end()
    return undefined
  })
}

function storeOn(connection: Connection, vault: RowVault): ProgressStore {
  const run = <T>(work: Promise<T>): Promise<T> =>
    reachable(() => withDeadline(work, 2 * DEADLINE_MS, connection.destroy))
  return {
    load: () => run(load(connection, vault)),
    save: (result) => run(save(connection, vault, result)),
    close: connection.end,
  }
}

async function reachable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new AuditUnavailable('The progress of the audit is unavailable.', { cause })
  }
}

async function load({ sql }: Connection, vault: RowVault): Promise<AuditProgress | undefined> {
  const [row] = await sql<{ document: string }[]>`SELECT document FROM audit_progress`
  const progress = row === undefined ? undefined : readProgress(row.document)
  if (row === undefined || progress === undefined || progress.pass === null) return progress
  await fetchKeys(sql, [LEDGER_KEY_NAME], vault)
  const place = opened(() => {
    const { sealedPlace } = JSON.parse(row.document) as Partial<StoredProgress>
    const text = vault.open(LEDGER_KEY_NAME, PLACE, Buffer.from(sealedPlace ?? '', 'hex'))
    return JSON.parse(text) as PassPlace
  })
  return { ...progress, pass: place.isOpen ? { ...progress.pass, place: place.value } : null }
}

/** S4. `pass.place` is replaced by SEALED, whose walk does not exist. */
interface StoredProgress extends AuditProgress {
  readonly sealedPlace: string | null
}

const PLACE = placeOf('audit_progress')
const SEALED: PassPlace = { walk: '', cursor: null }

function documentOf(progress: AuditProgress, vault: RowVault): string {
  const { pass } = progress
  if (pass === null) return JSON.stringify({ ...progress, sealedPlace: null } satisfies StoredProgress)
  const isSealed = vault.keys.known(LEDGER_KEY_NAME) !== undefined
  return JSON.stringify({
    ...progress,
    pass: { ...pass, place: SEALED },
    sealedPlace: isSealed ? vault.seal(LEDGER_KEY_NAME, PLACE, JSON.stringify(pass.place)) : null,
  } satisfies StoredProgress)
}

const LIST = `
WITH given AS (
  SELECT g.subject, g.place, g.problem, f.place IS NOT NULL AS listed
    FROM unnest($1::text[], $2::text[], $3::text[]) AS g (subject, place, problem)
    LEFT JOIN audit_findings f ON f.subject = g.subject AND f.place = g.place),
counted AS (SELECT subject, count(*) AS listed FROM audit_findings GROUP BY subject),
ranked AS (
  SELECT given.*, row_number() OVER (PARTITION BY subject, given.listed ORDER BY place) + coalesce(counted.listed, 0) AS nth
    FROM given LEFT JOIN counted USING (subject))
INSERT INTO audit_findings (subject, place, problem, pass, found_at)
SELECT subject, place, problem, $4::bigint, now() FROM ranked WHERE listed OR nth <= ${MAX_LISTED}
ON CONFLICT (subject, place) DO UPDATE SET problem = excluded.problem, pass = excluded.pass, found_at = excluded.found_at
RETURNING subject`

async function save({ sql }: Connection, vault: RowVault, { progress, findings }: TurnResult): Promise<SavedProgress> {
  await fetchKeys(sql, [LEDGER_KEY_NAME], vault)
  const found = distinct(findings)
  if (found.length === 0) return { progress, listed: await write(sql, progress, vault) }
  let saved: SavedProgress = { progress, listed: {} }
  await sql.begin(async (transaction) => {
    const listed = await transaction.unsafe<{ subject: string }[]>(LIST, [
      ...texts(found, ['subject', 'place', 'problem']),
      currentPass(progress),
    ])
    const written = noteUnlisted(progress, unlisted(found, listed))
    saved = { progress: written, listed: await write(transaction, written, vault) }
  })
  return saved
}

/**
 * Stores progress, deletes findings that neither the last complete pass nor later checks have confirmed, and counts the
 * others. One statement, because an idle auditor runs it every second.
 */
async function write(sql: postgres.ISql, progress: AuditProgress, vault: RowVault): Promise<Counts> {
  const confirmed = progress.last?.number ?? 0
  const rows = await sql<{ subject: Subject; count: number }[]>`
    WITH mended AS (DELETE FROM audit_findings WHERE pass < ${confirmed}),
    written AS (
      INSERT INTO audit_progress (document, updated_at) VALUES (${documentOf(progress, vault)}, now())
      ON CONFLICT (singleton) DO UPDATE SET document = excluded.document, updated_at = excluded.updated_at)
    SELECT subject, count(*)::integer AS count FROM audit_findings WHERE pass >= ${confirmed} GROUP BY subject`
  return Object.fromEntries(rows.map(({ subject, count }) => [subject, count]))
}

/** One finding per place: ON CONFLICT cannot update a row twice in one statement. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [`${finding.subject} ${finding.place}`, finding])).values()]
}

function unlisted(found: readonly Finding[], listed: readonly { readonly subject: string }[]): Counts {
  let counts: Counts = {}
  for (const subject of SUBJECTS) {
    const count = (rows: readonly { readonly subject: string }[]): number =>
      rows.filter((row) => row.subject === subject).length
    const missing = count(found) - count(listed)
    if (missing > 0) counts = addCounts(counts, { [subject]: missing })
  }
  return counts
}

function texts(found: readonly Finding[], fields: readonly (keyof Finding)[]): string[] {
  return fields.map((field) => column('text', found, (finding) => finding[field]))
}
