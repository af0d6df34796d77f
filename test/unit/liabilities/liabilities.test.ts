/** Tests H1 to H4, T1 to T2 and I to III against a second, slow implementation. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ENTRY_BYTES,
  HASH_BYTES,
  LeafHasher,
  LONGEST_RECORD,
  merkleRootOf,
  NONCE_BYTES,
  writePadding,
  writeRecord,
} from '../../../runtime/liabilities/hashes.ts'
import {
  problemOfInclusion,
  rootOfTotals,
  type ShareProof,
  type TokenProof,
  type TokenTotal,
} from '../../../runtime/liabilities/inclusion.ts'
import { createKeyedHash } from '../../../runtime/liabilities/keyed-hash.ts'
import { dealt, splitUnits, WORDS_A_PLACE } from '../../../runtime/liabilities/shares.ts'
import { addSums, decimalOf, readSum, SUM_BYTES, unitsOf, writeSum } from '../../../runtime/liabilities/sums.ts'
import {
  climb,
  fold,
  leavesFor,
  pathThrough,
  TILE_ENTRIES,
  tileCounts,
  TreeBuilder,
} from '../../../runtime/liabilities/tree.ts'

const LARGEST_BALANCE = 10n ** 36n - 1n
const balances = fc.bigInt({ min: 0n, max: LARGEST_BALANCE })

describe('sums', () => {
  test('are read as written, and add up like integers', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 1n << 255n }),
        fc.bigInt({ min: 0n, max: (1n << 255n) - 1n }),
        (one, other) => {
          const buffer = Buffer.alloc(3 * SUM_BYTES, 0xaa)
          writeSum(buffer, 0, one)
          writeSum(buffer, SUM_BYTES, other)
          addSums(buffer, 2 * SUM_BYTES, 0, SUM_BYTES)
          expect([0, 1, 2].map((index) => readSum(buffer, index * SUM_BYTES))).toEqual([one, other, one + other])
        },
      ),
    )
  })

  test('negative and too large sums are refused', () => {
    const buffer = Buffer.alloc(2 * SUM_BYTES, 0xff)
    for (const units of [-1n, 1n << 256n]) expect(() => writeSum(buffer, 0, units)).toThrow(RangeError)
    expect(() => addSums(buffer, 0, 0, SUM_BYTES)).toThrow(RangeError)
  })

  test('decimals and units convert to each other in minimal form', () => {
    for (const [decimal, units] of [
      ['0', 0n],
      ['0.000000000000000001', 1n],
      ['100.5', 100_500_000_000_000_000_000n],
      ['-2.25', -2_250_000_000_000_000_000n],
      ['99999999999999999999999999999999999999.999999999999999999', 10n ** 56n - 1n],
    ] as const) {
      expect(unitsOf(decimal)).toBe(units)
      expect(decimalOf(units)).toBe(decimal)
    }
    expect(decimalOf(unitsOf('7.500000000000000000'))).toBe('7.5')
    for (const wrong of ['', '1.', '.5', '1e3', '0.0000000000000000001', ' 1', '--1', '0x1']) {
      expect(() => unitsOf(wrong)).toThrow(RangeError)
    }
  })
})

test('the keyed hash is HMAC-SHA-256', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ maxLength: 64 }), (seed, message) => {
      const written = Buffer.alloc(40)
      const keyed = createKeyedHash(seed, 64)
      keyed.write(new Uint8Array(64).fill(1), written, 4)
      keyed.write(message, written, 4)
      expect(written.toString('hex', 4, 36)).toBe(createHmac('sha256', seed).update(message).digest('hex'))
    }),
  )
})

describe('blinding', () => {
  test('shares are never negative and add up to the quantity', () => {
    const words = fc.array(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(balances, words, (units, random) => {
        const shares = splitUnits(units, random)
        expect(shares).toHaveLength(random.length + 1)
        expect(shares.every((share) => share >= 0n)).toBe(true)
        expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(units)
      }),
    )
  })

  test('a cut may fall anywhere from zero to the whole quantity', () => {
    const largest = (1n << 128n) - 1n
    expect([0n, largest / 2n, largest].map((random) => splitUnits(9n, [random])[0])).toEqual([0n, 4n, 9n])
  })

  test('dealing gives each place once, in random order', () => {
    const firsts = new Set<number | undefined>()
    for (let round = 0; round < 200; round += 1) {
      const words = new Uint32Array(randomBytes(8 * WORDS_A_PLACE * 4).buffer.slice(0, 8 * WORDS_A_PLACE * 4))
      const places = dealt(8, words)
      expect([...places].sort((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
      firsts.add(places[0])
    }
    // That one of eight never comes first in 200 rounds happens once in 10^11.
    expect(firsts.size).toBe(8)
    expect([...dealt(3, new Uint32Array(6).fill(0xffffffff))]).toEqual([0, 1, 2])
    expect([...dealt(3, new Uint32Array(6))]).toEqual([1, 2, 0])
  })
})

interface TestLeaf {
  /** Null: padding. */
  readonly accountId: string | null
  readonly units: bigint
  readonly nonce: Buffer
}

interface SlowNode {
  readonly hash: Buffer
  readonly sum: bigint
}

function sha256(...parts: readonly (Buffer | string)[]): Buffer {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  return sum.digest()
}

function bytes(value: bigint, size: number): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * size, '0'), 'hex')
}

/** The documented layout, implemented independently of the tested code. */
function slowLeaf(tokenId: string, { accountId, units, nonce }: TestLeaf): SlowNode {
  if (accountId === null) return { hash: sha256(Buffer.of(2), nonce), sum: 0n }
  const names = [Buffer.of(tokenId.length), tokenId, Buffer.of(accountId.length), accountId]
  return { hash: sha256(Buffer.of(0), nonce, ...names, bytes(units, 16)), sum: units }
}

function slowLevels(leaves: readonly SlowNode[]): readonly (readonly SlowNode[])[] {
  if (leaves.length === 1) return [leaves]
  const parents: SlowNode[] = []
  for (let index = 0; index < leaves.length; index += 2) {
    const [left, right] = leaves.slice(index, index + 2)
    if (left === undefined || right === undefined) throw new Error('the tree is not whole')
    const hash = sha256(Buffer.of(1), left.hash, bytes(left.sum, 32), right.hash, bytes(right.sum, 32))
    parents.push({ hash, sum: left.sum + right.sum })
  }
  return [leaves, ...slowLevels(parents)]
}

function leavesOf(count: number): readonly TestLeaf[] {
  return Array.from({ length: count }, (_, index) => ({
    accountId: index % 5 === 3 ? null : `account-${index % 7}`,
    units: index % 5 === 3 ? 0n : BigInt(index) ** 8n,
    nonce: randomBytes(NONCE_BYTES),
  }))
}

/** The entries of a tile of leaves. */
function entriesOf(tokenId: string, leaves: readonly TestLeaf[]): Buffer {
  const entries = Buffer.alloc(leaves.length * ENTRY_BYTES, 0xee)
  const record = Buffer.alloc(LONGEST_RECORD)
  const hasher = new LeafHasher(tokenId)
  leaves.forEach(({ accountId, units, nonce }, index) => {
    if (accountId === null) writePadding(entries, index * ENTRY_BYTES, nonce)
    else {
      const end = writeRecord(record, 0, Buffer.from(accountId), units)
      hasher.write(entries, index * ENTRY_BYTES, record, 0, end, nonce)
    }
  })
  return entries
}

interface Built {
  readonly top: ReturnType<TreeBuilder['finish']>
  /** All tiles, by number. */
  readonly tiles: ReadonlyMap<number, Buffer>
}

function build(tokenId: string, leaves: readonly TestLeaf[]): Built {
  const tiles = new Map<number, Buffer>()
  const builder = new TreeBuilder(leaves.length, (tile, entries) => void tiles.set(tile, Buffer.from(entries)))
  for (let first = 0; first < leaves.length; first += TILE_ENTRIES) {
    const entries = entriesOf(tokenId, leaves.slice(first, first + TILE_ENTRIES))
    tiles.set(first / TILE_ENTRIES, Buffer.from(entries))
    fold(entries, Math.min(TILE_ENTRIES, leaves.length))
    builder.add(entries)
  }
  return { top: builder.finish(), tiles }
}

function shareOf(leaves: readonly TestLeaf[], tiles: Built['tiles'], index: number): ShareProof {
  const siblings = pathThrough(leaves.length, index).flatMap(({ tile, place }) => {
    const entries = Buffer.from(tiles.get(tile) ?? Buffer.alloc(0))
    return climb(entries, entries.length / ENTRY_BYTES, place)
  })
  const leaf = leaves[index]
  if (leaf === undefined) throw new Error('there is no such leaf')
  return { index, amount: decimalOf(leaf.units), nonce: leaf.nonce.toString('hex'), siblings }
}

const SIZES = [1, 2, 8, 64, 128, 256, 1024, 32_768]

describe('trees', () => {
  test.for(SIZES)('root, sum and every tile of %i leaves are what the slow way gives', (size) => {
    const leaves = leavesOf(size)
    const { top, tiles } = build('GOLD', leaves)
    const levels = slowLevels(leaves.map((leaf) => slowLeaf('GOLD', leaf)))
    expect(top).toEqual({ root: levels.at(-1)?.[0]?.hash.toString('hex'), units: levels.at(-1)?.[0]?.sum })
    expect(tiles.size).toBe(tileCounts(size).reduce((sum, count) => sum + count, 0))
    let tile = 0
    for (const [level, count] of tileCounts(size).entries()) {
      for (let number = 0; number < count; number += 1) {
        const nodes = levels[level * 7]?.slice(number * TILE_ENTRIES, (number + 1) * TILE_ENTRIES) ?? []
        const expected = Buffer.concat(nodes.flatMap(({ hash, sum }) => [hash, bytes(sum, 32)]))
        expect(tiles.get(tile)?.equals(expected)).toBe(true)
        tile += 1
      }
    }
  })

  test('the number of leaves is minimal, and a tree that lacks tiles has no root', () => {
    expect([0, 1, 2, 3, 128, 129, 2_000_000].map(leavesFor)).toEqual([1, 1, 2, 4, 128, 256, 2_097_152])
    expect([1, 128, 256, 16_384, 32_768].map(tileCounts)).toEqual([[1], [1], [2, 1], [128, 1], [256, 2, 1]])
    expect(() => new TreeBuilder(256, () => undefined).finish()).toThrow(RangeError)
  })

  test('an account of 254 bytes and a token of 255 are the longest that are hashed', () => {
    const [tokenId, accountId] = ['T'.repeat(255), 'a'.repeat(254)]
    const leaf = { accountId, units: 1n, nonce: Buffer.alloc(NONCE_BYTES, 5) }
    const expected = slowLeaf(tokenId, leaf).hash
    expect(entriesOf(tokenId, [leaf]).subarray(0, HASH_BYTES).equals(expected)).toBe(true)
    const roomy = Buffer.alloc(2 * LONGEST_RECORD)
    expect(() => writeRecord(roomy, 0, Buffer.from(`${accountId}a`), 1n)).toThrow('The ID of an account is too long.')
    expect(() => entriesOf(`${tokenId}T`, [leaf])).toThrow(RangeError)
  })
})

describe('inclusion', () => {
  const leaves = leavesOf(512)
  const { top, tiles } = build('GOLD', leaves)
  const totals: readonly TokenTotal[] = [
    { tokenId: 'BASE', root: 'cd'.repeat(32), total: '1' },
    { tokenId: 'GOLD', root: top.root, total: decimalOf(top.units) },
  ]
  const indexes = leaves.flatMap(({ accountId }, index) => (accountId === 'account-2' ? [index] : []))
  const good: TokenProof = {
    tokenId: 'GOLD',
    amount: decimalOf(indexes.reduce((sum, index) => sum + (leaves[index]?.units ?? 0n), 0n)),
    shares: indexes.map((index) => shareOf(leaves, tiles, index)),
  }
  const [first, second, ...others] = good.shares
  if (first === undefined || second === undefined) throw new Error('the account has no two shares')
  const sibling = first.siblings[4]
  if (sibling === undefined) throw new Error('the path is too short')
  const plusOne = (decimal: string): string => decimalOf(unitsOf(decimal) + 1n)
  const lessOne = (decimal: string): string => decimalOf(unitsOf(decimal) - 1n)
  const doubled = decimalOf(unitsOf(good.amount) + unitsOf(first.amount))
  const withSibling = (changed: object, at = 4): TokenProof => ({
    ...good,
    shares: [
      { ...first, siblings: first.siblings.map((one, level) => (level === at ? { ...one, ...changed } : one)) },
      second,
      ...others,
    ],
  })
  const withFirst = (changed: Partial<ShareProof>): TokenProof => ({
    ...good,
    shares: [{ ...first, ...changed }, second, ...others],
  })

  test('every leaf except padding leads to the root', () => {
    for (const size of SIZES.slice(0, 7)) {
      const some = leavesOf(size)
      const built = build('GOLD', some)
      const total = [{ tokenId: 'GOLD', root: built.top.root, total: decimalOf(built.top.units) }]
      for (const [index, { accountId }] of some.entries()) {
        if (accountId === null) continue
        const share = shareOf(some, built.tiles, index)
        expect(problemOfInclusion(accountId, { tokenId: 'GOLD', amount: share.amount, shares: [share] }, total)).toBe(
          undefined,
        )
      }
    }
  })

  test('all shares of an account together prove its liability', () => {
    expect(good.shares.length).toBeGreaterThan(50)
    expect(problemOfInclusion('account-2', good, totals)).toBe(undefined)
  })

  const WRONG: readonly (readonly [string, string, TokenProof, string?])[] = [
    ['another account', 'account-3', good],
    ['another token', 'account-2', { ...good, tokenId: 'BASE' }],
    ['a token without a total', 'account-2', { ...good, tokenId: 'SILVER' }],
    ['an amount that is more than the shares', 'account-2', { ...good, amount: plusOne(good.amount) }],
    ['a share left out', 'account-2', { ...good, shares: [second, ...others] }],
    ['a share twice', 'account-2', { ...good, amount: doubled, shares: [first, first, second, ...others] }],
    ['a changed share', 'account-2', withFirst({ amount: plusOne(first.amount) })],
    ['a changed nonce', 'account-2', withFirst({ nonce: 'ab'.repeat(NONCE_BYTES) })],
    ['another place', 'account-2', withFirst({ index: first.index + 1 })],
    ['a place outside the tree', 'account-2', withFirst({ index: first.index + 512 })],
    ['a place that is no number', 'account-2', withFirst({ index: Number.NaN })],
    ['a changed hash beside the path', 'account-2', withSibling({ hash: 'ef'.repeat(32) })],
    ['a hash that is too short', 'account-2', withSibling({ hash: sibling.hash.slice(2) })],
    ['a changed sum beside the path', 'account-2', withSibling({ sum: plusOne(sibling.sum) })],
    ['a negative sum beside the path', 'account-2', withSibling({ sum: '-1' })],
    ['a shorter path', 'account-2', withFirst({ siblings: first.siblings.slice(0, -1) })],
  ]
  test.for(WRONG)('does not show %s', ([, accountId, proof]) => {
    expect(problemOfInclusion(accountId, proof, totals)).toBeTypeOf('string')
  })

  test('a path of 40 levels is hashed, a longer one is not', () => {
    const ofLevels = (length: number) => withFirst({ siblings: Array.from({ length }, () => sibling) })
    const problem = (length: number) => problemOfInclusion('account-2', ofLevels(length), totals)
    expect(problem(40)).not.toBe(problem(41))
    expect([typeof problem(40), problem(41)]).toEqual(['string', 'it is malformed'])
  })

  test('malformed proofs are refused without hashing', () => {
    for (const wrong of [withSibling({ hash: sibling.hash.slice(2) }), withFirst({ nonce: first.nonce.slice(2) })]) {
      expect(problemOfInclusion('account-2', wrong, totals)).toBe('it is malformed')
    }
  })

  test('H2: value moved from one side of a node to the other is found, though the sum stays', () => {
    const moved = good.shares.map((share): ShareProof => {
      const [lowest, ...above] = share.siblings
      if (lowest === undefined || lowest.sum === '0') return share
      const siblings = [{ ...lowest, sum: lessOne(lowest.sum) }, ...above]
      return { ...share, amount: plusOne(share.amount), siblings }
    })
    const amount = decimalOf(moved.reduce((sum, share) => sum + unitsOf(share.amount), 0n))
    expect(amount).not.toBe(good.amount)
    expect(problemOfInclusion('account-2', { ...good, amount, shares: moved }, totals)).toMatch(/root of its token/)
  })

  test('a changed root or total of the token is found', () => {
    const change = (changed: Partial<TokenTotal>): readonly TokenTotal[] =>
      totals.map((one) => (one.tokenId === 'GOLD' ? { ...one, ...changed } : one))
    for (const changed of [change({ root: 'ab'.repeat(32) }), change({ total: plusOne(decimalOf(top.units)) })]) {
      expect(problemOfInclusion('account-2', good, changed)).toBeTypeOf('string')
    }
  })
})

describe('merkle_root', () => {
  const TOKENS = [
    { tokenId: 'BASE', root: '11'.repeat(32), total: '1.5' },
    { tokenId: 'GOLD', root: '22'.repeat(32), total: '0.000000000000000001' },
  ]

  test('is the hash of all tokens with their roots and sums', () => {
    const expected = sha256(
      Buffer.of(3, 4),
      'BASE',
      Buffer.alloc(32, 0x11),
      bytes(1_500_000_000_000_000_000n, 32),
      Buffer.of(4),
      'GOLD',
      Buffer.alloc(32, 0x22),
      bytes(1n, 32),
    )
    expect(rootOfTotals(TOKENS)).toBe(expected.toString('hex'))
    expect(merkleRootOf([])).toBe(sha256(Buffer.of(3)).toString('hex'))
  })

  test('is undefined for tokens out of order, repeated tokens and malformed totals', () => {
    const [base, gold] = TOKENS
    for (const wrong of [
      [gold, base],
      [base, base],
      [{ ...TOKENS[0], total: '-1' }],
      [{ ...TOKENS[0], total: 'much' }],
      [{ ...TOKENS[0], root: '11' }],
      [{ ...TOKENS[0], tokenId: 'x'.repeat(256) }],
    ]) {
      expect(rootOfTotals(wrong as readonly TokenTotal[])).toBe(undefined)
    }
  })
})
