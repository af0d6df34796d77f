/**
 * The files of a PostgreSQL server, read by SQL. The functions read the server's data directory only, unless the role may
 * read more.
 *   F1. Files come and go meanwhile: a missing file, or a missing end of one, is no error. The WAL of the backup restores it.
 */
import type { Sql } from '../postgres/connection/connection.ts'
import { column } from '../postgres/connection/array-literal.ts'
import { CHUNK_BYTES } from './backup-directory.ts'

export interface ServerFile {
  readonly path: string
  readonly sizeBytes: number
}

export interface ServerFiles {
  readonly directories: readonly string[]
  readonly files: readonly ServerFile[]
}

/** A chunk of a file. */
export interface FileChunk {
  readonly path: string
  readonly offset: number
}

/** PostgreSQL creates their contents anew. Those of pg_wal are copied in order, as WAL. (The list of pg_basebackup.) */
const EMPTIED = [
  'pg_wal',
  'pg_stat_tmp',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_subtrans',
]
/** Of the running server, or made anew. */
const OMITTED =
  /(^|\/)(postmaster\.(pid|opts)|postgresql\.auto\.conf\.tmp|current_logfiles(\.tmp)?|backup_label|tablespace_map|backup_manifest|pg_internal\.init.*|pgsql_tmp.*|t[0-9]+_[0-9]+(_[a-z]+)?(\.[0-9]+)?)$/
/** Says where recovery begins; copied last, as pg_basebackup does. */
export const CONTROL_FILE = 'global/pg_control'

const TREE = `
WITH RECURSIVE tree (path, is_directory, size) AS (
  SELECT name, s.isdir, s.size FROM pg_ls_dir('.', true, false) name, pg_stat_file(name, true) s
  UNION ALL
  SELECT tree.path || '/' || name, s.isdir, s.size
    FROM tree, LATERAL pg_ls_dir(tree.path, true, false) name, LATERAL pg_stat_file(tree.path || '/' || name, true) s
   WHERE tree.is_directory AND tree.path <> ALL ($1::text[]))
SELECT path, is_directory, size::text FROM tree WHERE is_directory IS NOT NULL ORDER BY path COLLATE "C"`

interface TreeRow {
  readonly path: string
  readonly is_directory: boolean
  readonly size: string
}

export async function listServerFiles(sql: Sql): Promise<ServerFiles> {
  const rows = await sql.unsafe<TreeRow[]>(TREE, [column('text', EMPTIED, (name) => name)])
  const kept = rows.filter(({ path }) => !OMITTED.test(path))
  const directories = kept.filter(({ is_directory }) => is_directory).map(({ path }) => path)
  const files = kept
    .filter(({ is_directory }) => !is_directory)
    .map(({ path, size }) => ({ path, sizeBytes: Number(size) }))
    .toSorted((a, b) => Number(a.path === CONTROL_FILE) - Number(b.path === CONTROL_FILE))
  return { directories: [...directories, 'pg_wal/archive_status'], files }
}

const HASHES = `
SELECT encode(sha256(bytes), 'base64') AS hash, length(bytes) AS length
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS n (path, start, place),
       LATERAL (SELECT pg_read_binary_file(n.path, n.start, ${CHUNK_BYTES}, true) AS bytes OFFSET 0) b
 ORDER BY place`

/** Names of the chunks as they are now; null: there is no such file, or it ends before. */
export async function hashChunks(sql: Sql, chunks: readonly FileChunk[]): Promise<readonly (string | null)[]> {
  const rows = await sql.unsafe<{ hash: string | null; length: number | null }[]>(HASHES, parametersOf(chunks))
  return rows.map(({ hash, length }) => (hash === null || length === 0 ? null : base64UrlOf(hash)))
}

function base64UrlOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('base64url')
}

const CONTENTS = `
SELECT bytes
  FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS n (path, start, place),
       LATERAL (SELECT pg_read_binary_file(n.path, n.start, ${CHUNK_BYTES}, true) AS bytes OFFSET 0) b
 ORDER BY place`

/** Null: there is no such file, or it ends before. */
export async function readChunks(sql: Sql, chunks: readonly FileChunk[]): Promise<readonly (Buffer | null)[]> {
  const rows = await sql.unsafe<{ bytes: Buffer | null }[]>(CONTENTS, parametersOf(chunks))
  return rows.map(({ bytes }) => (bytes === null || bytes.length === 0 ? null : bytes))
}

function parametersOf(chunks: readonly FileChunk[]): string[] {
  return [column('text', chunks, ({ path }) => path), column('bigint', chunks, ({ offset }) => offset)]
}

/** Null: there is no such file. */
export async function readPart(sql: Sql, path: string, offset: number, bytes: number): Promise<Buffer | null> {
  const [row] = await sql<{ bytes: Buffer | null }[]>`
    SELECT pg_read_binary_file(${path}, ${offset}::bigint, ${bytes}::bigint, true) AS bytes`
  return row?.bytes ?? null
}
