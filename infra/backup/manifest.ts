/** The manifest of a base backup: what a restore needs, and every file with its chunks. JSON, encrypted as one piece. */
import * as v from 'valibot'

const text = v.string()
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const chunkName = v.pipe(text, v.regex(/^[A-Za-z0-9_-]{43}$/))
/** Relative to the data directory, without a way out of it. */
const path = v.pipe(
  text,
  v.check((given) => given.split('/').every((part) => part !== '' && part !== '.' && part !== '..')),
  v.check((given) => !given.includes('\0')),
)

const manifestSchema = v.object({
  format: v.literal(1, 'it has a format of another version'),
  ledger_id: text,
  /** Thumbprints (RFC 7638) of the service's keys. */
  service_key_ids: v.array(text),
  /** A secret of the ledger under its master key, in base64: tells whether a master key is the right one. */
  sealed_shard_secret: text,
  system_identifier: v.pipe(text, v.regex(/^[0-9]{1,20}$/)),
  /** Eight hexadecimal digits. */
  timeline: v.pipe(text, v.regex(/^[0-9A-F]{8}$/)),
  start: count,
  stop: count,
  /** ISO 8601, by PostgreSQL's clock. */
  started_at: text,
  stopped_at: text,
  /** Of the form 170010. */
  postgres_version: count,
  wal_segment_bytes: count,
  database: text,
  /** The bootstrap superuser. */
  superuser: text,
  /** PostgreSQL's backup_label. */
  label: text,
  /** The head of the log, committed before `stop`. Null: the log was empty. */
  log_head: v.nullable(v.object({ size: count, root: v.pipe(text, v.regex(/^sha256:[0-9a-f]{64}$/)) })),
  /** A signed note. Null: the log has published none. */
  log_published: v.nullable(text),
  /** Chunks of a file of `ledger checkpoint`, written before the backup began. Null: none was given. */
  checkpoint: v.nullable(v.array(chunkName)),
  directories: v.array(path),
  /** Chunk `i` begins at `i` times the size of a chunk. Null: a hole, which the WAL fills or removes. */
  files: v.array(v.object({ path, chunks: v.array(v.nullable(chunkName)) })),
})

export type Manifest = v.InferOutput<typeof manifestSchema>

export function writeManifest(manifest: Manifest): Buffer {
  return Buffer.from(JSON.stringify(manifest), 'utf8')
}

/** Throws if the text is no manifest. */
export function readManifest(bytes: Buffer): Manifest {
  return v.parse(manifestSchema, JSON.parse(bytes.toString('utf8')))
}
