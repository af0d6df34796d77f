/**
 * What the ledger owes at one moment, in memory: one row for each account and token that is owed anything, its amount
 * cut into shares at once. Columns instead of objects: with two shares, 49 bytes a row and the account's ID (a million
 * rows are about 70 MB); none of it is on the JavaScript heap. Several threads fill a book each, which become one.
 */
import { hash, randomFillSync } from 'node:crypto'
import { createBeginnings } from '../../runtime/liabilities/beginnings.ts'
import { AMOUNT_BYTES, LONGEST_ACCOUNT } from '../../runtime/liabilities/hashes.ts'
import { CUT_BYTES, splitUnits } from '../../runtime/liabilities/shares.ts'

export interface BookOptions {
  /** The most rows that will be added. */
  readonly capacity: number
  readonly sharesEach: number
  /** Of the run. */
  readonly seed: Uint8Array
}

/** A row cannot be kept as it is: the ledger wrote no such row. */
export class UnreadableLiability extends Error {
  override readonly name = 'UnreadableLiability'
}

/** What a book has taken in, as one thread sends it to another. */
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

/** What need not be copied when the part is sent. */
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
  /** By number: in the order in which they were first met. */
  readonly tokens: string[] = []
  /** Of each token, by number. */
  readonly totals: bigint[] = []
  readonly tokenOf: Uint32Array
  /** A keyed hash of the account: by it, an account is found again without a list of names. */
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
    if (units <= 0n || units > LARGEST_UNITS) throw new UnreadableLiability('An amount is none that can be owed.')
    const token = this.numberOf(tokenId)
    this.totals[token] = (this.totals[token] ?? 0n) + units
    this.tokenOf[row] = token
    this.fingerprints.set(this.fingerprint(account), row * FINGERPRINT_BYTES)
    const cuts: bigint[] = []
    while (cuts.length < this.sharesEach - 1) cuts.push(this.random.next())
    this.placeOf[row] = this.arena.keep(account, splitUnits(units, cuts))
    this.filled = row + 1
  }

  /** The book itself is of no use any more. */
  part(): BookPart {
    const { filled: rows, tokens, totals, tokenOf, placeOf, fingerprints, arena } = this
    return { rows, tokens, totals, tokenOf, placeOf, fingerprints, chunks: arena.chunks, used: arena.used }
  }

  /** Takes in another book with the same seed and number of shares. Throws UnreadableLiability. */
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

  /** Writes the record of one share of a row, as leaves have it, and gives its end. */
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
 * 64 bits of a hash that nobody can compute without the seed, so that nobody can crowd a page of the index. Rows that
 * meet by chance are told apart by their account. What it gives is overwritten by the next.
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

/** Rows one behind the other: the length of the account, the account, the shares. They are read in any order. */
class RowArena {
  readonly chunks: Buffer[] = []
  /** Of the last chunk. */
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

  /** Gives the place where its first row is now. */
  append({ chunks, used }: Pick<BookPart, 'chunks' | 'used'>): number {
    const start = this.chunks.length * CHUNK_BYTES
    if (start + chunks.length * CHUNK_BYTES > LARGEST_PLACE)
      throw new UnreadableLiability('There is too much to be kept.')
    if (chunks.length === 0) return start
    for (const chunk of chunks) this.chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    this.used = used
    return start
  }

  /** Copies the account with its length, and one share. Gives the end. */
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

/** Random values of 128 bits, drawn many at a time. */
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
