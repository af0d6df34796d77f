/**
 * The stored pages of a run: tiles of the trees, and an index from accounts to leaves. A proof needs only a few pages.
 * A tile of leaves stores the leaves' records, which are smaller than the leaves. Nonces are derived from the run's seed.
 * All pages are sealed, so that a copy of the database does not reveal balances.
 */
import {
  AMOUNT_BYTES,
  ENTRY_BYTES,
  type LeafHasher,
  LONGEST_ACCOUNT,
  NONCE_BYTES,
  writePadding,
} from '../../runtime/liabilities/hashes.ts'
import { createKeyedHash, KEYED_HASH_BYTES } from '../../runtime/liabilities/keyed-hash.ts'
import { openSealed, seal } from '../keys/sealing.ts'
import { FINGERPRINT_BYTES } from './liability-book.ts'

const WORD_BITS = 64n

export const PAGE_KINDS = { index: 0, tile: 1 } as const
export type PageKind = keyof typeof PAGE_KINDS

/** A stored page is inconsistent. */
export class PageBroken extends Error {
  override readonly name = 'PageBroken'
}

export function sealPage(key: Buffer, runId: string, kind: PageKind, number: number, page: Uint8Array): Buffer {
  return seal(key, ['liability-page', runId, kind, String(number)], page)
}

/** Throws SealBroken. */
export function openPage(key: Buffer, runId: string, kind: PageKind, number: number, sealed: Uint8Array): Buffer {
  return openSealed(key, ['liability-page', runId, kind, String(number)], sealed)
}

/** The nonce of a leaf, by the rank of its token and its place in the tree. */
export type Nonces = (token: number, leaf: number) => Buffer

const NONCE_TAG = 0x6e
const NONCES_A_HASH = KEYED_HASH_BYTES / NONCE_BYTES

/** The next call may overwrite the returned buffer. */
export function createNonces(seed: Uint8Array): Nonces {
  const message = Buffer.alloc(9, NONCE_TAG)
  const keyed = createKeyedHash(seed, message.length)
  const hashed = Buffer.alloc(KEYED_HASH_BYTES)
  const nonces = Array.from({ length: NONCES_A_HASH }, (_, index) =>
    hashed.subarray(index * NONCE_BYTES, (index + 1) * NONCE_BYTES),
  )
  let hashedToken = -1
  let hashedGroup = -1
  return (token, leaf) => {
    const group = Math.floor(leaf / NONCES_A_HASH)
    if (token !== hashedToken || group !== hashedGroup) {
      message.writeUInt32BE(token, 1)
      message.writeUInt32BE(group, 5)
      keyed.write(message, hashed, 0)
      hashedToken = token
      hashedGroup = group
    }
    return nonces[leaf % NONCES_A_HASH] ?? hashed
  }
}

/** Position of a tile of leaves in its tree. */
export interface LeafTile {
  /** Rank of the token in the run. */
  readonly token: number
  readonly hasher: LeafHasher
  /** Place of its first leaf. */
  readonly firstLeaf: number
  /** Number of its leaves. */
  readonly leaves: number
}

/** First byte of a padding leaf in a page, instead of an account's length. */
const PADDING = LONGEST_ACCOUNT + 1

/** Returns the end. */
export function writePaddingRecord(page: Buffer, at: number): number {
  return page.writeUInt8(PADDING, at)
}

/** Writes the entries of a tile of leaves from its page, and returns `recordsOf` of it. Throws PageBroken. */
export function writeLeaves(entries: Buffer, page: Buffer, tile: LeafTile, nonces: Nonces): readonly number[] {
  const records = recordsOf(page, tile.leaves)
  for (let place = 0; place < tile.leaves; place += 1) {
    const start = records[place] ?? 0
    const nonce = nonces(tile.token, tile.firstLeaf + place)
    if (page[start] === PADDING) writePadding(entries, place * ENTRY_BYTES, nonce)
    else tile.hasher.write(entries, place * ENTRY_BYTES, page, start, records[place + 1] ?? 0, nonce)
  }
  return records
}

/** Start of each leaf's record in a page, and the end of the last one. Throws PageBroken. */
export function recordsOf(page: Buffer, leaves: number): readonly number[] {
  const places: number[] = []
  let at = 0
  while (places.length < leaves && at < page.length) {
    places.push(at)
    const length = page.readUInt8(at)
    at += length === PADDING ? 1 : 1 + length + AMOUNT_BYTES
  }
  if (places.length !== leaves || at !== page.length) throw new PageBroken('A tile has a wrong number of leaves.')
  return [...places, at]
}

/** Account and amount of a leaf; undefined for padding. `start`, `end`: of its record. */
export function readRecord(
  page: Buffer,
  start: number,
  end: number,
): { readonly account: Buffer; readonly units: bigint } | undefined {
  if (page[start] === PADDING) return undefined
  const amountAt = end - AMOUNT_BYTES
  const units = (page.readBigUInt64BE(amountAt) << WORD_BITS) | page.readBigUInt64BE(amountAt + 8)
  return { account: page.subarray(start + 1, amountAt), units }
}

/** A row of the index: the leaves of an account's token. */
export interface IndexRow {
  readonly fingerprint: Uint8Array
  /** Rank of the token. */
  readonly token: number
  readonly leaves: readonly number[]
}

const NUMBER_BYTES = 4

export function indexRowBytes(sharesEach: number): number {
  return FINGERPRINT_BYTES + NUMBER_BYTES * (1 + sharesEach)
}

export function writeIndexRow(page: Buffer, at: number, { fingerprint, token, leaves }: IndexRow): void {
  page.set(fingerprint, at)
  let end = page.writeUInt32BE(token, at + FINGERPRINT_BYTES)
  for (const leaf of leaves) end = page.writeUInt32BE(leaf, end)
}

export function findIndexRows(page: Buffer, fingerprint: Uint8Array, sharesEach: number): readonly IndexRow[] {
  const rows: IndexRow[] = []
  const size = indexRowBytes(sharesEach)
  for (let at = 0; at + size <= page.length; at += size) {
    if (page.compare(fingerprint, 0, FINGERPRINT_BYTES, at, at + FINGERPRINT_BYTES) !== 0) continue
    const first = at + FINGERPRINT_BYTES + NUMBER_BYTES
    const leaves = Array.from({ length: sharesEach }, (_, index) => page.readUInt32BE(first + index * NUMBER_BYTES))
    rows.push({ fingerprint, token: page.readUInt32BE(at + FINGERPRINT_BYTES), leaves })
  }
  return rows
}

/** Number of the index page for the fingerprint at `at`. `pages`: a power of two, at most 2^31. */
export function indexPageOf(fingerprints: Buffer, at: number, pages: number): number {
  return Math.floor(fingerprints.readUInt32BE(at) / (2 ** 32 / pages))
}
