/**
 * Inclusion proofs: that what the ledger owes an account is part of a total, without saying what it owes to others.
 *   I. Every share of the account is a leaf of its own: no leaf is shown twice.
 *   II. From each leaf, the siblings lead to the token's root and its sum.
 *   III. The tokens' roots and sums, all of them, make the root that the ledger signed.
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
  /** The leaf's place, counted from the left. */
  readonly index: number
  readonly amount: string
  /** 32 hexadecimal digits. */
  readonly nonce: string
  /** The lowest first. */
  readonly siblings: readonly Sibling[]
}

export interface TokenProof {
  readonly tokenId: string
  /** Sum of the shares. */
  readonly amount: string
  readonly shares: readonly ShareProof[]
}

/** Of 2^40 leaves nobody has a tree. */
const MAX_LEVELS = 40
const HEX = /^(?:[0-9a-f]{2})*$/

/** `merkle_root` over these tokens; undefined when they are no such list. */
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

/** Why the proof does not show that the account is owed its amount; undefined when it does. */
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
    if (error instanceof RangeError) return 'it holds something that is no part of a proof'
    throw error
  }
}

/** Throws a RangeError for what is no share. */
function topOf(accountId: string, tokenId: string, { index, amount, nonce, siblings }: ShareProof): TreeTop {
  if (!(siblings.length <= MAX_LEVELS && index >= 0 && index < 2 ** siblings.length)) {
    throw new RangeError('There is no leaf in this place.')
  }
  const record = Buffer.alloc(LONGEST_RECORD)
  const end = writeRecord(record, 0, Buffer.from(accountId, 'latin1'), unitsOf(amount))
  const pair = Buffer.alloc(2 * ENTRY_BYTES)
  new LeafHasher(tokenId).write(pair, 0, record, 0, end, bytesOf(nonce, NONCE_BYTES))
  let place = index
  for (const sibling of siblings) {
    // The node so far is the first entry: on the right side, it makes room for its sibling.
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
  if (hex.length !== 2 * length || !HEX.test(hex)) throw new RangeError('These are no such bytes.')
  return Buffer.from(hex, 'hex')
}
