/**
 * The liabilities of one snapshot in memory: one row per account and token, with its amount split into shares.
 * Rows are stored in columns outside the JavaScript heap: 49 bytes plus the account's ID with two shares, about 70 MB per
 * million rows. Several threads fill one book each; the books are then appended to one.
 */
import { hash, randomFillSync } from 'node:crypto'
import { createBeginnings } from '../../runtime/liabilities/beginnings.ts'
import { AMOUNT_BYTES, LONGEST_ACCOUNT } from '../../runtime/liabilities/hashes.ts'
import { CUT_BYTES, splitUnits } from '../../runtime/liabilities/shares.ts'

export interface BookOptions {
  /** Most rows. */
  readonly capacity: number
  readonly sharesEach: number
  /** Seed of the run. */
  readonly seed: Uint8Array
}

/** A row is invalid. The ledger does not write such rows. */
export class UnreadableLiability extends Error {
  override readonly name = 'UnreadableLiability'
}

/** Content of a book, for sending it to another thread. */
export interface BookPart {
  readonly rows: number
  readonly tokens: readonly string[]
  readonly totals: readonly bigint[]
  readonly tokenOf: Uint32Array
  readonly placeOf: Uint32Array
  readonly fingerprints: Uint8Array
  readonly chunks: readonly Uint8Array[]
  /** Bytes of the last chunk. */
  readonly used: number
}

/** Buffers that can be transferred instead of copied. */
export function memoryOf({ tokenOf, placeOf, fingerprints, chunks }: BookPart): ArrayBuffer[] {
  return [tokenOf, placeOf, fingerprints, ...chunks].flatMap(({ buffer }) =>
    buffer instanceof ArrayBuffer ? buffer : [],
  )
}

const WORD_BITS = 64n
const CHUNK_BYTES = 4_194_304
/** Places are kept in 32 bits. */
const LARGEST_PLACE = 2 ** 32 - 1
const RANDOM_CHUNK_BYTES = 65_536
const CUT_WORDS = CUT_BYTES / 8
const LARGEST_UNITS = (1n << 127n) - 1n
export const FINGERPRINT_BYTES = 8

export class LiabilityBook {
  readonly sharesEach: number
  /** A token's index is its number. */
  readonly tokens: string[] = []
  /** Total of each token, by number. */
  readonly totals: bigint[] = []
  readonly tokenOf: Uint32Array
  /** Keyed hashes of the accounts. The index finds an account by it, without a list of names. */
  readonly fingerprints: Buffer
  private readonly tokenNumbers = new Map<string, number>()
  private readonly arena: RowArena
  private readonly placeOf: Uint32Array
  private readonly random = new RandomWords()
  private readonly fingerprint: (account: Uint8Array) => Buffer
  private filled = 0

  constructor({ capacity, sharesEach, seed }: BookOptions) {
    this.sharesEach = sharesEach
    this.tokenOf = new Uint32Array(capacity)
    this.placeOf = new Uint32Array(capacity)
    this.fingerprints = Buffer.alloc(capacity * FINGERPRINT_BYTES)
    this.arena = new RowArena(sharesEach)
    this.fingerprint = createFingerprint(seed)
  }

  get rows(): number {
    return this.filled
  }

  /** `units`: above zero. Throws UnreadableLiability. */
  add(account: Uint8Array, tokenId: string, units: bigint): void {
    const row = this.filled
    if (row >= this.tokenOf.length) throw new UnreadableLiability('There are more rows than were counted.')
    if (units <= 0n || units > LARGEST_UNITS) throw new UnreadableLiability('An amount is out of range.')
    const token = this.numberOf(tokenId)
    this.totals[token] = (this.totals[token] ?? 0n) + units
    this.tokenOf[row] = token
    this.fingerprints.set(this.fingerprint(account), row * FINGERPRINT_BYTES)
    const cuts: bigint[] = []
    while (cuts.length < this.sharesEach - 1) cuts.push(this.random.next())
    this.placeOf[row] = this.arena.keep(account, splitUnits(units, cuts))
    this.filled = row + 1
  }

  /** The book must not be used afterwards. */
  part(): BookPart {
    const { filled: rows, tokens, totals, tokenOf, placeOf, fingerprints, arena } = this
    return { rows, tokens, totals, tokenOf, placeOf, fingerprints, chunks: arena.chunks, used: arena.used }
  }

  /** Appends a book with the same seed and number of shares. Throws UnreadableLiability. */
  append(part: BookPart): void {
    const first = this.filled
    const { rows, tokenOf, placeOf } = part
    if (first + rows > this.tokenOf.length) throw new UnreadableLiability('There are more rows than were counted.')
    const numbers = part.tokens.map((tokenId) => this.numberOf(tokenId))
    for (const [index, number] of numbers.entries()) {
      this.totals[number] = (this.totals[number] ?? 0n) + (part.totals[index] ?? 0n)
    }
    const start = this.arena.append(part)
    for (let row = 0; row < rows; row += 1) {
      this.tokenOf[first + row] = numbers[tokenOf[row] ?? 0] ?? 0
      this.placeOf[first + row] = start + (placeOf[row] ?? 0)
    }
    this.fingerprints.set(part.fingerprints.subarray(0, rows * FINGERPRINT_BYTES), first * FINGERPRINT_BYTES)
    this.filled = first + rows
  }

  /** Writes the leaf record of one share of a row, and returns its end. */
  writeRecord(row: number, share: number, target: Buffer, at: number): number {
    return this.arena.copy(this.placeOf[row] ?? 0, share, target, at)
  }

  private numberOf(tokenId: string): number {
    const known = this.tokenNumbers.get(tokenId)
    if (known !== undefined) return known
    const number = this.tokens.length
    this.tokens.push(tokenId)
    this.tokenNumbers.set(tokenId, number)
    return number
  }
}

const FINGERPRINT_KEY = 'liability fingerprint'

/**
 * 64 bits of a hash that cannot be computed without the seed, so that clients cannot overfill a page of the index. Leaves
 * contain the account, which resolves collisions. The next call overwrites the result.
 */
export function createFingerprint(seed: Uint8Array): (account: Uint8Array) => Buffer {
  const key = hash('sha256', Buffer.concat([Buffer.from(FINGERPRINT_KEY), seed]), 'buffer')
  const message = Buffer.alloc(key.length + LONGEST_ACCOUNT)
  message.set(key)
  const beginning = createBeginnings(message)
  const hashed = Buffer.alloc(FINGERPRINT_BYTES)
  return (account) => {
    if (account.length > LONGEST_ACCOUNT) throw new UnreadableLiability('The ID of an account is too long.')
    message.set(account, key.length)
    hashed.write(hash('sha256', beginning(key.length + account.length), 'binary'), 0, 'latin1')
    return hashed
  }
}

/** Stores rows in sequence: the account's length, the account, its shares. Reads are in any order. */
class RowArena {
  readonly chunks: Buffer[] = []
  /** Bytes of the last chunk. */
  used = CHUNK_BYTES
  private readonly sharesBytes: number

  constructor(sharesEach: number) {
    this.sharesBytes = sharesEach * AMOUNT_BYTES
  }

  keep(account: Uint8Array, shares: readonly bigint[]): number {
    const size = 1 + account.length + this.sharesBytes
    if (this.used + size > CHUNK_BYTES) {
      this.chunks.push(Buffer.alloc(CHUNK_BYTES))
      this.used = 0
    }
    const place = (this.chunks.length - 1) * CHUNK_BYTES + this.used
    const chunk = this.chunks.at(-1)
    if (chunk === undefined || place > LARGEST_PLACE) throw new UnreadableLiability('There is too much to be kept.')
    let at = chunk.writeUInt8(account.length, this.used)
    chunk.set(account, at)
    at += account.length
    for (const share of shares) {
      at = chunk.writeBigUInt64BE(share >> WORD_BITS, at)
      at = chunk.writeBigUInt64BE(BigInt.asUintN(64, share), at)
    }
    this.used += size
    return place
  }

  /** Returns the new place of the first row. */
  append({ chunks, used }: Pick<BookPart, 'chunks' | 'used'>): number {
    const start = this.chunks.length * CHUNK_BYTES
    if (start + chunks.length * CHUNK_BYTES > LARGEST_PLACE)
      throw new UnreadableLiability('There is too much to be kept.')
    if (chunks.length === 0) return start
    for (const chunk of chunks) this.chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    this.used = used
    return start
  }

  /** Copies the account with its length, and one share. Returns the end. */
  copy(place: number, share: number, target: Buffer, at: number): number {
    const chunk = this.chunks[Math.floor(place / CHUNK_BYTES)]
    if (chunk === undefined) throw new UnreadableLiability('There is no such row.')
    const start = place % CHUNK_BYTES
    const length = 1 + (chunk[start] ?? 0)
    for (let index = 0; index < length; index += 1) target[at + index] = chunk[start + index] ?? 0
    const amount = start + length + share * AMOUNT_BYTES
    const end = at + length
    for (let index = 0; index < AMOUNT_BYTES; index += 1) target[end + index] = chunk[amount + index] ?? 0
    return end + AMOUNT_BYTES
  }
}

/** Random 128-bit values, drawn in batches. */
class RandomWords {
  private readonly words = new BigUint64Array(RANDOM_CHUNK_BYTES / 8)
  private used = this.words.length

  next(): bigint {
    if (this.used >= this.words.length) {
      randomFillSync(this.words)
      this.used = 0
    }
    const value = ((this.words[this.used] ?? 0n) << WORD_BITS) | (this.words[this.used + 1] ?? 0n)
    this.used += CUT_WORDS
    return value
  }
}
