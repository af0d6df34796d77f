/**
 * Hash inputs of a proof of liabilities: a Merkle-sum tree per token, and one root over all of them.
 *   H1. The first byte distinguishes leaf, node, padding leaf and merkle_root.
 *   H2. A parent hashes the hash and sum of each child side by side, 32 bytes each. If only the total were hashed, a parent
 *       could claim the larger of two sums (Hu, Zhang and Guo, 2019).
 *   H3. Without its nonce, a leaf reveals nothing, not even whether it is padding.
 *   H4. Every part of variable length is preceded by its length, so different inputs never hash the same bytes.
 *
 * Layout, lengths in bytes:
 *   leaf         0x00 | nonce (16) | length of token (1) | token | record
 *   record       length of account (1) | account | amount (16)
 *   node         0x01 | left hash (32) | left sum (32) | right hash (32) | right sum (32)
 *   padding leaf 0x02 | nonce (16); its sum is zero
 *   merkle_root  0x03 | for each token, in order: length of token (1) | token | root hash (32) | root sum (32)
 * Tokens and accounts are ASCII; tokens are in the order of their bytes. A leaf without an account has the empty account.
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
/** Bytes of an account. Its length is one byte, and 255 marks padding. */
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

/** Writes a record and returns its end. Throws a RangeError for an amount beyond 128 bits and an account that is too long. */
export function writeRecord(target: Buffer, at: number, account: Uint8Array, units: bigint): number {
  if (account.length > LONGEST_ACCOUNT) throw new RangeError('The ID of an account is too long.')
  let end = target.writeUInt8(account.length, at)
  target.set(account, end)
  end += account.length
  end = target.writeBigUInt64BE(units >> WORD_BITS, end)
  return target.writeBigUInt64BE(BigInt.asUintN(64, units), end)
}

/** Hashes the leaves of one token. Bytes are copied one by one: for so few, making a view would cost more. */
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

  /** Writes the hash and sum of the leaf with the record from `start` to before `end`. */
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

/** Writes the parent of the two entries at `pair`. `at` may overlap them. */
export function writeNode(entries: Buffer, at: number, pair: number): void {
  nodeBytes[0] = NODE
  entries.copy(nodeBytes, 1, pair, pair + 2 * ENTRY_BYTES)
  addSums(entries, at + HASH_BYTES, pair + HASH_BYTES, pair + ENTRY_BYTES + HASH_BYTES)
  writeHash(entries, at, nodeBytes)
}

function writeHash(entries: Buffer, at: number, bytes: Uint8Array): void {
  entries.write(hash('sha256', bytes, 'binary'), at, HASH_BYTES, 'latin1')
}

/** A token's part of `merkle_root`. */
export interface TokenRoot {
  readonly tokenId: string
  readonly root: Hash
  readonly units: bigint
}

/** Throws a RangeError unless the tokens are distinct and in the order of their bytes. */
export function merkleRootOf(tokens: readonly TokenRoot[]): Hash {
  const parts: Buffer[] = [Buffer.of(ROOT)]
  let before: Buffer | undefined
  for (const { tokenId, root, units } of tokens) {
    const name = Buffer.from(tokenId, 'latin1')
    if (before !== undefined && Buffer.compare(before, name) >= 0) throw new RangeError('The tokens are not in order.')
    before = name
    const rootBytes = Buffer.from(root, 'hex')
    if (name.length > LONGEST_TOKEN || rootBytes.length !== HASH_BYTES)
      throw new RangeError('The token or root has a wrong length.')
    const sum = Buffer.alloc(SUM_BYTES)
    writeSum(sum, 0, units)
    parts.push(Buffer.of(name.length), name, rootBytes, sum)
  }
  return hash('sha256', Buffer.concat(parts), 'hex')
}
