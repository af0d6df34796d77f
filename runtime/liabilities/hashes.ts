/**
 * Hashed texts of a proof of liabilities (a Merkle-sum tree per token, and one root over all of them).
 *   H1. A leaf, a node, a padding leaf and the root of all can never be taken for one another: their first byte differs.
 *   H2. Each child's hash and sum are bound by their parent side by side, 32 bytes each. (Bound added up, as in the
 *       first of such trees, a parent could claim the larger of two sums: Hu, Zhang and Guo, 2019.)
 *   H3. A leaf and a padding leaf tell nothing of themselves without their nonce, and padding is not told from a leaf
 *       of nothing.
 *   H4. Every part of variable length stands behind its length: no two leaves and no two lists hash the same bytes.
 *
 * Layout, lengths in bytes:
 *   leaf         0x00 | nonce (16) | length of token (1) | token | record
 *   record       length of account (1) | account | amount (16)
 *   node         0x01 | left hash (32) | left sum (32) | right hash (32) | right sum (32)
 *   padding leaf 0x02 | nonce (16); its sum is zero
 *   merkle_root  0x03 | for each token, in order: length of token (1) | token | root hash (32) | root sum (32)
 * Tokens and accounts are ASCII; tokens are in the order of their bytes. A leaf of no account has the empty account.
 * Amounts and sums count units of 10^-18, the most significant byte first; a leaf's sum is its amount.
 */
import { hash } from 'node:crypto'
import type { Hash } from '../../actors/audit-chain.ts'
import { createBeginnings } from './beginnings.ts'
import { addSums, SUM_BYTES, writeSum } from './sums.ts'

export const HASH_BYTES = 32
export const NONCE_BYTES = 16
export const AMOUNT_BYTES = 16
/** A hash and its sum. */
export const ENTRY_BYTES = HASH_BYTES + SUM_BYTES
/** Of a record's account: its length is one byte, and the largest is left for what is no record. */
export const LONGEST_ACCOUNT = 254
export const LONGEST_RECORD = 1 + LONGEST_ACCOUNT + AMOUNT_BYTES

const LEAF = 0x00
const NODE = 0x01
const PADDING = 0x02
const ROOT = 0x03

const LONGEST_TOKEN = 255
const WORD_BITS = 64n

const nodeBytes = Buffer.alloc(1 + 2 * ENTRY_BYTES)
const paddingBytes = Buffer.alloc(1 + NONCE_BYTES)

/** Writes a record and gives its end. Throws a RangeError for an amount beyond 128 bits and an account that is too long. */
export function writeRecord(target: Buffer, at: number, account: Uint8Array, units: bigint): number {
  if (account.length > LONGEST_ACCOUNT) throw new RangeError('The ID of an account is too long.')
  let end = target.writeUInt8(account.length, at)
  target.set(account, end)
  end += account.length
  end = target.writeBigUInt64BE(units >> WORD_BITS, end)
  return target.writeBigUInt64BE(BigInt.asUintN(64, units), end)
}

/** Leaves of one token. Bytes are moved one by one: they are few, and a view of them costs more than they do. */
export class LeafHasher {
  private readonly bytes: Buffer
  private readonly beginning: (length: number) => Buffer
  private readonly recordAt: number

  /** Throws a RangeError for a token that is too long. */
  constructor(tokenId: string) {
    const token = Buffer.from(tokenId, 'latin1')
    this.recordAt = 1 + NONCE_BYTES + 1 + token.length
    this.bytes = Buffer.alloc(this.recordAt + LONGEST_RECORD)
    this.bytes[0] = LEAF
    this.beginning = createBeginnings(this.bytes)
    this.bytes.writeUInt8(token.length, 1 + NONCE_BYTES)
    this.bytes.set(token, 1 + NONCE_BYTES + 1)
  }

  /** Writes the hash and sum of the leaf whose record stands at `start` and ends before `end`. */
  write(entries: Buffer, at: number, record: Buffer, start: number, end: number, nonce: Uint8Array): void {
    const { bytes, recordAt } = this
    for (let index = 0; index < NONCE_BYTES; index += 1) bytes[1 + index] = nonce[index] ?? 0
    for (let index = start; index < end; index += 1) bytes[recordAt + index - start] = record[index] ?? 0
    writeHash(entries, at, this.beginning(recordAt + end - start))
    const sumEnd = at + ENTRY_BYTES
    for (let index = sumEnd - SUM_BYTES; index < sumEnd - AMOUNT_BYTES; index += 1) entries[index] = 0
    for (let back = 1; back <= AMOUNT_BYTES; back += 1) entries[sumEnd - back] = record[end - back] ?? 0
  }
}

export function writePadding(entries: Buffer, at: number, nonce: Uint8Array): void {
  paddingBytes[0] = PADDING
  paddingBytes.set(nonce, 1)
  writeHash(entries, at, paddingBytes)
  writeSum(entries, at + HASH_BYTES, 0n)
}

/** Writes the node over the entry at `pair` and the one behind it. `at` may be where one of them is. */
export function writeNode(entries: Buffer, at: number, pair: number): void {
  nodeBytes[0] = NODE
  entries.copy(nodeBytes, 1, pair, pair + 2 * ENTRY_BYTES)
  addSums(entries, at + HASH_BYTES, pair + HASH_BYTES, pair + ENTRY_BYTES + HASH_BYTES)
  writeHash(entries, at, nodeBytes)
}

function writeHash(entries: Buffer, at: number, bytes: Uint8Array): void {
  entries.write(hash('sha256', bytes, 'binary'), at, HASH_BYTES, 'latin1')
}

/** A token's tree as `merkle_root` covers it. */
export interface TokenRoot {
  readonly tokenId: string
  readonly root: Hash
  readonly units: bigint
}

/** Throws a RangeError when the tokens are not in the order of their bytes, each once. */
export function merkleRootOf(tokens: readonly TokenRoot[]): Hash {
  const parts: Buffer[] = [Buffer.of(ROOT)]
  let before: Buffer | undefined
  for (const { tokenId, root, units } of tokens) {
    const name = Buffer.from(tokenId, 'latin1')
    if (before !== undefined && Buffer.compare(before, name) >= 0) throw new RangeError('The tokens are not in order.')
    before = name
    const rootBytes = Buffer.from(root, 'hex')
    if (name.length > LONGEST_TOKEN || rootBytes.length !== HASH_BYTES) throw new RangeError('This is no tree.')
    const sum = Buffer.alloc(SUM_BYTES)
    writeSum(sum, 0, units)
    parts.push(Buffer.of(name.length), name, rootBytes, sum)
  }
  return hash('sha256', Buffer.concat(parts), 'hex')
}
