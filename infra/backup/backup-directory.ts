/**
 * The directory of a ledger's backups.
 *   D1. One process of this machine writes to it at a time. Others, as from another container, do no harm.
 *   D2. A file with its final name is complete and on disk.
 *   D3. Names of files say nothing about the ledger but times, positions, and hashes of contents.
 *
 *   store.json                            format, recipient's key, PostgreSQL server
 *   chunks/ab/<SHA-256>                   parts of the data files, each content once
 *   bases/<time>-<timeline>-<start>-<stop>  manifests of base backups
 *   wal/<timeline>/<start>-<end>-<time>   pieces of the write-ahead log
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { hash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import * as v from 'valibot'
import { claimFile, FileInUse } from '../log/file-claim.ts'
import { makePrivateDirectory, replacePrivateFile, syncFolder } from '../system/private-file.ts'
import type { Opener, Sealer } from './sealed-piece.ts'

/** The directory cannot be used. The message says why. */
export class BackupUnusable extends Error {
  override readonly name = 'BackupUnusable'
}

/** Of a chunk, and of a piece of the WAL. */
export const CHUNK_BYTES = 1_048_576
const LARGEST_MANIFEST_BYTES = 1_073_741_824
const FORMAT = 1
const STORE_FILE = 'store.json'

const storeSchema = v.object({
  format: v.literal(FORMAT, 'it has a format of another version'),
  recipient_key_id: v.string(),
  system_identifier: v.string(),
})

/** The owner of a directory: its recipient and its PostgreSQL server. */
export interface StoreOwner {
  readonly recipientKeyId: string
  readonly systemIdentifier: string
}

export interface BaseName {
  readonly name: string
  /** By PostgreSQL's clock: of the end. */
  readonly atMs: number
  readonly timeline: string
  readonly start: number
  readonly stop: number
}

export interface WalPiece {
  readonly timeline: string
  readonly start: number
  readonly end: number
  /** By PostgreSQL's clock: everything that was acknowledged before lies below `end`. */
  readonly atMs: number
}

/** SHA-256 in base64url: the name of a chunk. */
export function chunkName(content: Uint8Array): string {
  return hash('sha256', content, 'base64url')
}

/** Reads a directory of backups. */
export class BackupDirectory {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Throws BackupUnusable. */
  owner(): StoreOwner {
    const path = join(this.path, STORE_FILE)
    if (!existsSync(path)) throw new BackupUnusable(`${this.path} has no backup: there is no ${STORE_FILE}`)
    try {
      const read = v.parse(storeSchema, JSON.parse(readFileSync(path, 'utf8')))
      return { recipientKeyId: read.recipient_key_id, systemIdentifier: read.system_identifier }
    } catch (cause) {
      throw new BackupUnusable(`${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      })
    }
  }

  /** In the order of the log, oldest first: a clock may have been put back, or be that of another server. */
  bases(): readonly BaseName[] {
    return this.namesIn('bases')
      .flatMap((name) => baseNameOf(name) ?? [])
      .toSorted((a, b) => Number.parseInt(a.timeline, 16) - Number.parseInt(b.timeline, 16) || a.stop - b.stop)
  }

  walPieces(timeline: string): readonly WalPiece[] {
    return this.namesIn('wal', timeline).flatMap((name) => pieceOf(timeline, name) ?? [])
  }

  /** Throws PieceBroken. */
  async readManifest(base: BaseName, opener: Opener): Promise<Buffer> {
    return opener.open(`bases/${base.name}`, await this.bytesOf('bases', base.name), LARGEST_MANIFEST_BYTES)
  }

  /** Throws PieceBroken. */
  async readChunk(name: string, opener: Opener): Promise<Buffer> {
    const content = await opener.open(`chunks/${name}`, await this.bytesOf(...chunkPath(name)), CHUNK_BYTES)
    if (chunkName(content) === name) return content
    throw new BackupUnusable(`chunk ${name} has another content than its name says`)
  }

  /** Throws PieceBroken. */
  async readWal(piece: WalPiece, opener: Opener): Promise<Buffer> {
    const name = walName(piece)
    const content = await opener.open(
      `wal/${piece.timeline}/${name}`,
      await this.bytesOf('wal', piece.timeline, name),
      CHUNK_BYTES,
    )
    if (content.length === piece.end - piece.start) return content
    throw new BackupUnusable(`wal/${piece.timeline}/${name} has ${content.length} bytes, not those that its name says`)
  }

  protected namesIn(...folder: readonly string[]): readonly string[] {
    const path = join(this.path, ...folder)
    return existsSync(path) ? readdirSync(path) : []
  }

  private async bytesOf(...path: readonly string[]): Promise<Buffer> {
    try {
      return await readFile(join(this.path, ...path))
    } catch (cause) {
      const isGone = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
      const why = isGone ? 'is missing' : `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`
      throw new BackupUnusable(`${join(...path)} of the backup ${why}`, { cause })
    }
  }
}

/** Writes a directory of backups. */
export class BackupWriter extends BackupDirectory {
  private readonly sealer: Sealer
  private readonly chunks: Set<string>
  private readonly release: () => void
  private readonly made = new Set<string>()
  private readonly writing = new Map<string, Promise<void>>()
  /** Written by this process, with encryption. */
  writtenBytes = 0

  private constructor(path: string, sealer: Sealer, release: () => void) {
    super(path)
    this.sealer = sealer
    this.release = release
    this.chunks = new Set(this.namesIn('chunks').flatMap((folder) => this.namesIn('chunks', folder)))
  }

  /** Creates a missing directory. Throws BackupUnusable: it is in use (D1), or is of another recipient or server. */
  static open(path: string, owner: StoreOwner, sealer: Sealer): BackupWriter {
    makePrivateDirectory(path)
    const release = claimed(path)
    try {
      const directory = new BackupDirectory(path)
      if (existsSync(join(path, STORE_FILE))) refuseOtherOwner(path, directory.owner(), owner)
      else if (readdirSync(path).some((name) => !name.startsWith(`${STORE_FILE}.`))) {
        throw new BackupUnusable(`${path} is not empty and has no backup: name another directory`)
      } else {
        const { recipientKeyId, systemIdentifier } = owner
        const record = { format: FORMAT, recipient_key_id: recipientKeyId, system_identifier: systemIdentifier }
        replacePrivateFile(join(path, STORE_FILE), `${JSON.stringify(record)}\n`)
      }
      return new BackupWriter(path, sealer, release)
    } catch (error) {
      release()
      throw error
    }
  }

  close(): void {
    this.release()
  }

  hasChunks(): boolean {
    return this.chunks.size > 0
  }

  hasChunk(name: string): boolean {
    return this.chunks.has(name)
  }

  /** `content`: at most CHUNK_BYTES. Returns its name. */
  async putChunk(content: Uint8Array): Promise<string> {
    const name = chunkName(content)
    if (this.chunks.has(name)) return name
    const writing = this.writing.get(name) ?? this.write(`chunks/${name}`, chunkPath(name), content)
    this.writing.set(name, writing)
    try {
      await writing
      this.chunks.add(name)
    } finally {
      this.writing.delete(name)
    }
    return name
  }

  async putManifest(base: Omit<BaseName, 'name'>, content: Uint8Array): Promise<BaseName> {
    // Chunks of an interrupted run, too.
    for (const folder of this.namesIn('chunks')) await syncFolder(join(this.path, 'chunks', folder))
    for (const folder of ['chunks', '.']) await syncFolder(join(this.path, folder))
    const name = nameOfBase(base)
    await this.write(`bases/${name}`, ['bases', name], content)
    return { ...base, name }
  }

  /** `content`: at most CHUNK_BYTES. `replaced`: pieces whose content is part of it; they are removed afterwards. */
  async putWal(piece: WalPiece, content: Uint8Array, replaced: WalPiece | undefined): Promise<void> {
    const name = walName(piece)
    await this.write(`wal/${piece.timeline}/${name}`, ['wal', piece.timeline, name], content)
    if (replaced !== undefined) await rm(join(this.path, 'wal', replaced.timeline, walName(replaced)), { force: true })
  }

  /** D2. */
  private async write(name: string, path: readonly string[], content: Uint8Array): Promise<void> {
    const sealed = await this.sealer.seal(name, content)
    const target = join(this.path, ...path)
    const folder = join(target, '..')
    if (!this.made.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 })
    this.made.add(folder)
    // Of random name: processes in other containers have the same process ID, and do not see each other (D1).
    const unfinished = `${target}.unfinished-${randomBytes(8).toString('hex')}`
    try {
      await writeSynced(unfinished, sealed)
      await rename(unfinished, target)
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
    // The folders of chunks are synced before the manifest that names them.
    if (path[0] !== 'chunks') for (const above of foldersOf(path)) await syncFolder(join(this.path, above))
    this.writtenBytes += sealed.length
  }
}

/** A new file. */
async function writeSynced(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Of a file in the directory, from its own folder up. */
function foldersOf(path: readonly string[]): readonly string[] {
  return path.map((_, index) => join('.', ...path.slice(0, path.length - 1 - index)))
}

function claimed(path: string): () => void {
  try {
    return claimFile(join(path, STORE_FILE))
  } catch (cause) {
    if (!(cause instanceof FileInUse)) throw cause
    throw new BackupUnusable(`another backup writes to ${path}: ${cause.message}`, { cause })
  }
}

function refuseOtherOwner(path: string, found: StoreOwner, owner: StoreOwner): void {
  if (found.systemIdentifier !== owner.systemIdentifier) {
    throw new BackupUnusable(`${path} has backups of another PostgreSQL server: name another directory`)
  }
  if (found.recipientKeyId !== owner.recipientKeyId) {
    throw new BackupUnusable(`${path} has backups for another key (${found.recipientKeyId}): name another directory`)
  }
}

function chunkPath(name: string): readonly [string, string, string] {
  return ['chunks', name.slice(0, 2), name]
}

const LSN_DIGITS = 16

function digits(position: number): string {
  return position.toString(16).padStart(LSN_DIGITS, '0')
}

function walName({ start, end, atMs }: WalPiece): string {
  return `${digits(start)}-${digits(end)}-${atMs}`
}

const WAL_NAME = /^([0-9a-f]{16})-([0-9a-f]{16})-([0-9]{1,15})$/

function pieceOf(timeline: string, name: string): WalPiece | undefined {
  const [, start, end, at] = WAL_NAME.exec(name) ?? []
  if (start === undefined || end === undefined || at === undefined) return undefined
  return { timeline, start: Number.parseInt(start, 16), end: Number.parseInt(end, 16), atMs: Number(at) }
}

const BASE_NAME = /^([0-9]{1,15})-([0-9A-F]{8})-([0-9a-f]{16})-([0-9a-f]{16})$/

function nameOfBase({ atMs, timeline, start, stop }: Omit<BaseName, 'name'>): string {
  return `${atMs}-${timeline}-${digits(start)}-${digits(stop)}`
}

function baseNameOf(name: string): BaseName | undefined {
  const [, at, timeline, start, stop] = BASE_NAME.exec(name) ?? []
  if (at === undefined || timeline === undefined || start === undefined || stop === undefined) return undefined
  return { name, atMs: Number(at), timeline, start: Number.parseInt(start, 16), stop: Number.parseInt(stop, 16) }
}
