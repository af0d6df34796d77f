/** A log in memory, as its readers see it: entries of 48 bytes, tiles and a signed head. It can lie. */
import { noteText } from '../../../api/client/log/signed-note.ts'
import { bundleOf } from '../../../infra/log/entry-bundle.ts'
import { ENTRY_BYTES, EntrySalts, logEntry } from '../../../infra/log/log-entry.ts'
import { type NoteSigner, signedHead } from '../../../infra/log/log-signer.ts'
import type { GetFromLog, LogReply } from '../../../infra/log/monitor/log-reader.ts'
import { parseTilePath } from '../../../runtime/log/tile-paths.ts'
import { EMPTY_TREE, grow, HASH_BYTES, leafHash, rootOf, type TreeEdge } from '../../../runtime/log/tree.ts'

export class AnyLog {
  private edge: TreeEdge = EMPTY_TREE
  private readonly entries: Buffer[] = []
  private readonly tiles = new Map<string, Buffer>()
  private readonly signer: NoteSigner
  /** The note of the shown head. */
  checkpoint = ''
  readonly asked: string[] = []

  constructor(signer: NoteSigner) {
    this.signer = signer
  }

  /** Adds entries in this order, and shows the new head. */
  add(...entries: readonly Buffer[]): this {
    this.entries.push(...entries)
    const { edge, tiles } = grow(this.edge, Buffer.concat(entries.map(leafHash)))
    this.edge = edge
    for (const { level, number, hashes } of tiles) this.tiles.set(`${level} ${number}`, hashes)
    this.checkpoint = this.signed()
    return this
  }

  get size(): number {
    return this.edge.size
  }

  signed(by: NoteSigner = this.signer): string {
    return noteText(signedHead(by, { size: this.edge.size, root: new Uint8Array(rootOf(this.edge)) }))
  }

  /** Without a change of the tree. */
  replaceEntry(place: number, entry: Buffer): void {
    this.entries[place] = entry
  }

  /** Without a change of the tree above it. */
  replaceHash(level: number, index: number, hash: Buffer): void {
    const number = Math.floor(index / 256)
    const tile = Buffer.from(this.tiles.get(`${level} ${number}`) ?? '')
    hash.copy(tile, (index % 256) * HASH_BYTES)
    this.tiles.set(`${level} ${number}`, tile)
  }

  readonly get: GetFromLog = (path) => {
    this.asked.push(path)
    if (path === 'checkpoint') return Promise.resolve({ status: 200, body: Buffer.from(this.checkpoint) })
    return Promise.resolve(this.tile(path.slice('tile/'.length)))
  }

  private tile(path: string): LogReply {
    const address = parseTilePath(path)
    if (address === undefined) return { status: 404, body: Buffer.alloc(0) }
    const { level, number, width } = address
    const at = number * 256
    const body =
      level === 'entries'
        ? Buffer.from(bundleOf(Buffer.concat(this.entries.slice(at, at + width))))
        : (this.tiles.get(`${level} ${number}`) ?? Buffer.alloc(0)).subarray(0, width * HASH_BYTES)
    const isWhole = body.length === width * (level === 'entries' ? 2 + ENTRY_BYTES : HASH_BYTES)
    return isWhole ? { status: 200, body } : { status: 404, body: Buffer.alloc(0) }
  }
}

/** Entry `sequence` of an account's chain, as the log has it. `text` stands for its content. */
export function entryOf(key: Buffer, sequence: number, text = `entry ${sequence}`): Buffer {
  return logEntry(new EntrySalts(key).of(sequence), hashOf(text))
}

/** 32 bytes in place of an `audit_hash`. */
export function hashOf(text: string): Buffer {
  return leafHash(Buffer.from(text))
}

/** Entries of other accounts. */
export function strangers(count: number, from = 0): readonly Buffer[] {
  const key = Buffer.alloc(32, 99)
  return Array.from({ length: count }, (_, index) => entryOf(key, from + index))
}
