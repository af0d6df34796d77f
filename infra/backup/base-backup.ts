/**
 * Takes a base backup of a running PostgreSQL by its low-level backup functions (manual, 26.3.4).
 *   B1. Every order that was acknowledged before the backup ends is in it.
 *   B2. A chunk that the directory has does not travel: PostgreSQL computes the hash of each. An interrupted backup, and
 *       the next one, continue so.
 *   B3. A backup without a manifest is none. The manifest is written last.
 */
import type { Sql } from '../postgres/connection/connection.ts'
import { type BackupWriter, type BaseName, BackupUnusable, CHUNK_BYTES } from './backup-directory.ts'
import { type Manifest, writeManifest } from './manifest.ts'
import {
  CONTROL_FILE,
  type FileChunk,
  hashChunks,
  listServerFiles,
  readChunks,
  readPart,
  type ServerFile,
} from './server-files.ts'
import { refusePutBack, WalCopy } from './wal-copy.ts'
import { parsePosition, segmentStart } from './wal-position.ts'

export interface BaseOptions {
  readonly sql: Sql
  readonly writer: BackupWriter
  /** Content of a file of `ledger checkpoint`. */
  readonly checkpoint?: Buffer | undefined
  readonly progress: (progress: BaseProgress) => void
  /** Aborts between two batches. */
  readonly signal: AbortSignal
  /** A copy of the WAL that began before; by default the backup copies the WAL from its own beginning. */
  readonly wal?: WalCopy
  /** Of a statement that copies the WAL. */
  readonly deadlineMs?: number | undefined
  /** Whether PostgreSQL writes its checkpoint at full speed, instead of over some minutes. */
  readonly isFast: boolean
}

export interface BaseProgress {
  /** Of the server's data files. */
  readonly doneBytes: number
  readonly totalBytes: number
  /** Read from PostgreSQL, without what the directory had. */
  readonly readBytes: number
}

export interface TakenBase {
  readonly base: BaseName
  readonly ledgerId: string
  readonly durationMs: number
  /** Written to the directory meanwhile. */
  readonly writtenBytes: number
  readonly progress: BaseProgress
  /** Continues the copy of the WAL. */
  readonly wal: WalCopy
}

/** Identity and properties of a PostgreSQL server. */
export interface ServerFacts {
  readonly systemIdentifier: string
  readonly timeline: string
  readonly version: number
  readonly segmentBytes: number
  /** Position up to which the WAL is on disk. */
  readonly flushed: number
  readonly database: string
  readonly superuser: string
}

const BATCH_BYTES = 8 * CHUNK_BYTES
const BATCH_CHUNKS = 256
/** PostgreSQL removes WAL after a checkpoint: it is not left until the end. */
const WAL_EVERY_MS = 1_000
const CONTROL_READS = 100
const CONTROL_BYTES = 8_192

/** A standby, or a recovery that has not ended: it may become the primary. */
export class ServerInRecovery extends BackupUnusable {}

/** Throws ServerInRecovery, and BackupUnusable if there are tablespaces. */
export async function readServerFacts(sql: Sql): Promise<ServerFacts> {
  const [state] = await sql<{ recovering: boolean; spaces: string }[]>`
    SELECT pg_is_in_recovery() AS recovering,
           (SELECT count(*) FROM pg_tablespace WHERE spcname NOT IN ('pg_default', 'pg_global')) AS spaces`
  if (state?.recovering !== false) throw new ServerInRecovery('PostgreSQL is in recovery: back up the primary')
  if (state.spaces !== '0') throw new BackupUnusable('PostgreSQL has tablespaces of its own, which are not backed up')
  const [facts] = await sql<(Omit<ServerFacts, 'flushed'> & { readonly flushed: string })[]>`
    SELECT system_identifier::text AS "systemIdentifier",
           substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS timeline,
           current_setting('server_version_num')::integer AS version,
           pg_size_bytes(current_setting('wal_segment_size'))::integer AS "segmentBytes",
           (pg_current_wal_flush_lsn() - '0/0'::pg_lsn)::text AS flushed,
           current_database() AS database,
           (SELECT rolname FROM pg_roles WHERE oid = 10) AS superuser
      FROM pg_control_system()`
  if (facts === undefined) throw new Error('PostgreSQL says nothing of itself')
  return { ...facts, flushed: Number(facts.flushed) }
}

/** Throws BackupUnusable, WalGone, and the signal's reason. */
export async function takeBase(options: BaseOptions): Promise<TakenBase> {
  const { sql, writer, signal } = options
  const [beganMs, writtenBefore] = [performance.now(), writer.writtenBytes]
  const facts = await readServerFacts(sql)
  const storedEnd = Math.max(0, ...writer.walPieces(facts.timeline).map(({ end }) => end))
  refusePutBack(storedEnd, facts.flushed)
  const ledger = await readLedgerFacts(sql)
  const checkpoint = await storeCheckpoint(writer, options.checkpoint)
  const [begun] = await sql<{ startedAt: Date; start: string }[]>`
    SELECT clock_timestamp() AS "startedAt", pg_backup_start('ledger backup', ${options.isFast})::text AS start`
  if (begun === undefined) throw new Error('PostgreSQL began no backup')
  const start = parsePosition(begun.start)
  const from = segmentStart(start, facts.segmentBytes)
  const wal = options.wal ?? new WalCopy(sql, writer, { ...facts, position: from }, options.deadlineMs)
  if (wal.timeline !== facts.timeline) throw new Error(`PostgreSQL has timeline ${facts.timeline} now`)
  const { directories, files } = await listServerFiles(sql)
  let advancedMs = performance.now()
  const copy = new FileCopy(options, files, async () => {
    signal.throwIfAborted()
    if (performance.now() - advancedMs < WAL_EVERY_MS) return
    await wal.advance()
    advancedMs = performance.now()
  })
  const stored = await copy.run()
  const log = await readLog(sql)
  const [ended] = await sql<{ label: string; stop: string; spaces: string }[]>`
    SELECT labelfile AS label, lsn::text AS stop, spcmapfile AS spaces FROM pg_backup_stop(false)`
  if (ended === undefined) throw new Error('PostgreSQL ended no backup')
  if (ended.spaces.trim() !== '') throw new BackupUnusable('a tablespace was created meanwhile')
  const stop = parsePosition(ended.stop)
  await wal.advance()
  if (wal.position < stop) throw new Error('PostgreSQL has not flushed the end of the backup')
  const manifest: Manifest = {
    format: 1,
    ledger_id: ledger.ledgerId,
    service_key_ids: ledger.serviceKeyIds,
    sealed_shard_secret: ledger.sealedShardSecret,
    system_identifier: facts.systemIdentifier,
    timeline: facts.timeline,
    start,
    stop,
    started_at: begun.startedAt.toISOString(),
    stopped_at: new Date(wal.knownUntilMs).toISOString(),
    postgres_version: facts.version,
    wal_segment_bytes: facts.segmentBytes,
    database: facts.database,
    superuser: facts.superuser,
    label: ended.label,
    ...log,
    checkpoint,
    directories: [...directories],
    files: stored,
  }
  const base = await writer.putManifest(
    { atMs: wal.knownUntilMs, timeline: facts.timeline, start, stop },
    writeManifest(manifest),
  )
  const durationMs = performance.now() - beganMs
  const writtenBytes = writer.writtenBytes - writtenBefore
  return { base, ledgerId: ledger.ledgerId, durationMs, writtenBytes, progress: copy.progress, wal }
}

interface LedgerFacts {
  readonly ledgerId: string
  readonly sealedShardSecret: string
  readonly serviceKeyIds: string[]
}

async function readLedgerFacts(sql: Sql): Promise<LedgerFacts> {
  const [table] = await sql<{ found: boolean }[]>`SELECT to_regclass('ledger') IS NOT NULL AS found`
  const rows =
    table?.found === true
      ? await sql<LedgerFacts[]>`
    SELECT ledger_id AS "ledgerId", encode(sealed_shard_secret, 'base64') AS "sealedShardSecret",
           (SELECT coalesce(array_to_json(array_agg(key_id ORDER BY key_id)), '[]') FROM service_keys) AS "serviceKeyIds"
      FROM ledger`
      : []
  const [row] = rows
  if (row === undefined) throw new BackupUnusable('the database has no ledger')
  return row
}

async function readLog(sql: Sql): Promise<Pick<Manifest, 'log_head' | 'log_published'>> {
  const [row] = await sql<{ size: string | null; root: string | null; note: string | null }[]>`
    SELECT h.size, encode(h.root, 'hex') AS root, (SELECT note FROM log_published) AS note
      FROM (SELECT) one LEFT JOIN log_head h ON true`
  const { size = null, root = null, note = null } = row ?? {}
  return {
    log_head: size === null || root === null ? null : { size: Number(size), root: `sha256:${root}` },
    log_published: note,
  }
}

async function storeCheckpoint(writer: BackupWriter, content: Buffer | undefined): Promise<string[] | null> {
  if (content === undefined) return null
  const names: string[] = []
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    names.push(await writer.putChunk(content.subarray(at, at + CHUNK_BYTES)))
  }
  return names
}

/** Copies data files in batches. While one batch is encrypted and stored, the next is read. */
class FileCopy {
  private readonly options: BaseOptions
  private readonly between: () => Promise<void>
  private readonly files: readonly ServerFile[]
  private readonly chunksOf = new Map<string, (string | null)[]>()
  private readonly totalBytes: number
  private doneBytes = 0
  private readBytes = 0

  constructor(options: BaseOptions, files: readonly ServerFile[], between: () => Promise<void>) {
    this.options = options
    this.between = between
    this.files = files
    this.totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  get progress(): BaseProgress {
    const { doneBytes, totalBytes, readBytes } = this
    return { doneBytes, totalBytes, readBytes }
  }

  async run(): Promise<Manifest['files']> {
    let storing: Promise<void> = Promise.resolve()
    try {
      for (const batch of batchesOf(this.files)) {
        await this.between()
        const lacking = await this.lackingOf(batch)
        const contents = await this.contentsOf(lacking)
        await storing
        storing = this.store(lacking, contents)
        // A failure is thrown by the await above or below.
        storing.catch(() => undefined)
        this.doneBytes += batch.reduce((sum, { bytes }) => sum + bytes, 0)
        this.options.progress(this.progress)
      }
    } finally {
      // Nothing is written after an interruption.
      await storing.catch(() => undefined)
    }
    await storing
    return this.files.map(({ path }) => ({ path, chunks: this.chunksOf.get(path) ?? [] }))
  }

  /** B2. */
  private async lackingOf(batch: readonly FileChunk[]): Promise<readonly FileChunk[]> {
    const { sql, writer } = this.options
    if (!writer.hasChunks()) return batch
    const names = await hashChunks(sql, batch)
    return batch.filter((chunk, index) => {
      const name = names[index] ?? null
      if (name !== null && !writer.hasChunk(name)) return true
      // Read twice below.
      if (chunk.path === CONTROL_FILE) return true
      this.note(chunk, name)
      return false
    })
  }

  private async contentsOf(chunks: readonly FileChunk[]): Promise<readonly (Buffer | null)[]> {
    const { sql } = this.options
    if (chunks.length === 0) return []
    if (chunks[0]?.path === CONTROL_FILE) return [await readControlFile(sql)]
    const contents = await readChunks(sql, chunks)
    this.readBytes += contents.reduce((sum, content) => sum + (content?.length ?? 0), 0)
    return contents
  }

  private async store(chunks: readonly FileChunk[], contents: readonly (Buffer | null)[]): Promise<void> {
    const { writer } = this.options
    await Promise.all(
      chunks.map(async (chunk, index) => {
        const content = contents[index] ?? null
        this.note(chunk, content === null ? null : await writer.putChunk(content))
      }),
    )
  }

  private note({ path, offset }: FileChunk, name: string | null): void {
    const chunks = this.chunksOf.get(path) ?? []
    const index = offset / CHUNK_BYTES
    while (chunks.length < index) chunks.push(null)
    chunks[index] = name
    this.chunksOf.set(path, chunks)
  }
}

/** PostgreSQL may write the file while it is read: two equal reads are of one state. */
async function readControlFile(sql: Sql): Promise<Buffer> {
  let before: Buffer | undefined
  for (let reads = 0; reads < CONTROL_READS; reads += 1) {
    const content: Buffer | null = await readPart(sql, CONTROL_FILE, 0, CONTROL_BYTES)
    if (content === null) break
    if (before !== undefined && content.equals(before)) return content
    before = content
  }
  throw new Error(`${CONTROL_FILE} cannot be read in one state`)
}

interface SizedChunk extends FileChunk {
  readonly bytes: number
}

/** The control file is a batch of its own. */
function* batchesOf(files: readonly ServerFile[]): Generator<readonly SizedChunk[]> {
  let batch: SizedChunk[] = []
  let bytes = 0
  for (const { path, sizeBytes } of files) {
    if (path === CONTROL_FILE && batch.length > 0) {
      yield batch
      batch = []
    }
    for (let offset = 0; offset < sizeBytes; offset += CHUNK_BYTES) {
      const chunk = { path, offset, bytes: Math.min(CHUNK_BYTES, sizeBytes - offset) }
      batch.push(chunk)
      bytes += chunk.bytes
      if (bytes < BATCH_BYTES && batch.length < BATCH_CHUNKS) continue
      yield batch
      batch = []
      bytes = 0
    }
  }
  if (batch.length > 0) yield batch
}
