/**
 * Inclusion proofs show that the liability to an account is part of a total, without revealing other liabilities.
 *   I. Every share of the account is its own leaf: no leaf occurs twice.
 *   II. The siblings of each leaf lead to the token's root and sum.
 *   III. The roots and sums of all tokens give the root that the ledger signed.
 */
import type { Hash } from '../../actors/audit-chain.ts'
import {
  ENTRY_BYTES,
  HASH_BYTES,
  LeafHasher,
  LONGEST_RECORD,
  merkleRootOf,
  NONCE_BYTES,
  type TokenRoot,
  writeNode,
  writeRecord,
} from './hashes.ts'
import { decimalOf, readSum, unitsOf, writeSum } from './sums.ts'
import type { Sibling, TreeTop } from './tree.ts'

/** Quantities are decimal strings in minimal form. */
export interface TokenTotal {
  readonly tokenId: string
  readonly root: Hash
  readonly total: string
}

export interface ShareProof {
  /** Place of the leaf, from 0 on the left. */
  readonly index: number
  readonly amount: string
  /** 32 hexadecimal digits. */
  readonly nonce: string
  /** From the leaf to the root. */
  readonly siblings: readonly Sibling[]
}

export interface TokenProof {
  readonly tokenId: string
  /** Sum of the shares. */
  readonly amount: string
  readonly shares: readonly ShareProof[]
}

/** More levels than any real tree has. */
const MAX_LEVELS = 40
const HEX = /^(?:[0-9a-f]{2})*$/

/** `merkle_root` over these tokens; undefined for an invalid list. */
export function rootOfTotals(totals: readonly TokenTotal[]): Hash | undefined {
  try {
    return merkleRootOf(totals.map(rootOf))
  } catch {
    return undefined
  }
}

function rootOf({ tokenId, root, total }: TokenTotal): TokenRoot {
  return { tokenId, root, units: unitsOf(total) }
}

/** Why the proof is invalid; undefined when it is valid. */
export function problemOfInclusion(
  accountId: string,
  proof: TokenProof,
  totals: readonly TokenTotal[],
): string | undefined {
  const total = totals.find(({ tokenId }) => tokenId === proof.tokenId)
  if (total === undefined) return 'its token is not among the totals'
  if (new Set(proof.shares.map(({ index }) => index)).size !== proof.shares.length) return 'a leaf is shown twice'
  try {
    const expected = rootOf(total)
    let sum = 0n
    for (const share of proof.shares) {
      const top = topOf(accountId, proof.tokenId, share)
      if (top.root !== expected.root) return 'a share does not lead to the root of its token'
      if (top.units !== expected.units) return 'a share does not lead to the total of its token'
      sum += unitsOf(share.amount)
    }
    return decimalOf(sum) === proof.amount ? undefined : 'its shares do not add up to its amount'
  } catch (error) {
    if (error instanceof RangeError) return 'it is malformed'
    throw error
  }
}

/** Throws a RangeError for a malformed share. */
function topOf(accountId: string, tokenId: string, { index, amount, nonce, siblings }: ShareProof): TreeTop {
  if (!(siblings.length <= MAX_LEVELS && index >= 0 && index < 2 ** siblings.length)) {
    throw new RangeError('The leaf is outside the tree.')
  }
  const record = Buffer.alloc(LONGEST_RECORD)
  const end = writeRecord(record, 0, Buffer.from(accountId, 'latin1'), unitsOf(amount))
  const pair = Buffer.alloc(2 * ENTRY_BYTES)
  new LeafHasher(tokenId).write(pair, 0, record, 0, end, bytesOf(nonce, NONCE_BYTES))
  let place = index
  for (const sibling of siblings) {
    // The node is the first entry. A right node moves to the second place.
    const beside = place % 2 === 0 ? ENTRY_BYTES : 0
    if (beside === 0) pair.copy(pair, ENTRY_BYTES, 0, ENTRY_BYTES)
    pair.set(bytesOf(sibling.hash, HASH_BYTES), beside)
    writeSum(pair, beside + HASH_BYTES, unitsOf(sibling.sum))
    writeNode(pair, 0, 0)
    place = Math.floor(place / 2)
  }
  return { root: pair.toString('hex', 0, HASH_BYTES), units: readSum(pair, HASH_BYTES) }
}

function bytesOf(hex: string, length: number): Buffer {
  if (hex.length !== 2 * length || !HEX.test(hex)) throw new RangeError('A hash or nonce is malformed.')
  return Buffer.from(hex, 'hex')
}
