/**
 * The pages that a run of the proof of liabilities leaves behind, so that any account's proof can be read out of a few
 * of them: tiles of the trees, and an index of who has which leaves. A tile of leaves holds what its leaves were made
 * of, which is less than the leaves; nonces come from the run's seed. All pages are sealed: a copy of the database tells
 * nothing of balances.
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

/** The page is not what it was when it was written. */
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

/** Of one run: the nonce of a leaf, by the rank of its token and its place in the tree. */
export type Nonces = (token: number, leaf: number) => Buffer

const NONCE_TAG = 0x6e
const NONCES_A_HASH = KEYED_HASH_BYTES / NONCE_BYTES

/** Gives a view of one buffer, which the next one may overwrite. */
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

/** Where a tile of leaves is in its tree. */
export interface LeafTile {
  /** The token's rank among those of the run. */
  readonly token: number
  readonly hasher: LeafHasher
  /** The place of its first leaf. */
  readonly firstLeaf: number
  /** How many leaves it has. */
  readonly leaves: number
}

/** Stands in a page where a record would begin. */
const PADDING = LONGEST_ACCOUNT + 1

/** In the place of a record. Gives its end. */
export function writePaddingRecord(page: Buffer, at: number): number {
  return page.writeUInt8(PADDING, at)
}

/** Makes the entries of a tile of leaves from its page, and gives where its records are. Throws PageBroken. */
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

/** Where the record of each leaf begins in a page, and where the last one ends. Throws PageBroken. */
export function recordsOf(page: Buffer, leaves: number): readonly number[] {
  const places: number[] = []
  let at = 0
  while (places.length < leaves && at < page.length) {
    places.push(at)
    const length = page.readUInt8(at)
    at += length === PADDING ? 1 : 1 + length + AMOUNT_BYTES
  }
  if (places.length !== leaves || at !== page.length) throw new PageBroken('A tile has not as many leaves as it must.')
  return [...places, at]
}

/** Whose leaf it is, and how much; undefined for padding. `start`, `end`: of its record. */
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

/** One row of the index: an account and token, and its leaves. */
export interface IndexRow {
  readonly fingerprint: Uint8Array
  /** Its rank. */
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

/** The rows of this fingerprint. */
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

/** The number of the page that has the fingerprint at `at`. `pages`: a power of two, at most 2^31. */
export function indexPageOf(fingerprints: Buffer, at: number, pages: number): number {
  return Math.floor(fingerprints.readUInt32BE(at) / (2 ** 32 / pages))
}
