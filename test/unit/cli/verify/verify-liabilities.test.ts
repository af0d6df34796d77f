/**
 * Assertions and proofs of liabilities are verified offline, and every change is named (rules L1-L3).
 * More about shares: test/unit/actors/liabilities.test.ts.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { showHash } from '../../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import { decimalOf } from '../../../../runtime/liabilities/sums.ts'
import { rootOfTotals } from '../../../../runtime/liabilities/inclusion.ts'
import { climb, pathThrough, TILE_ENTRIES } from '../../../../runtime/liabilities/tree.ts'
import { LiabilityBook } from '../../../../infra/liabilities/liability-book.ts'
import { createNonces, readRecord, writeLeaves } from '../../../../infra/liabilities/liability-pages.ts'
import { buildTrees } from '../../../../infra/liabilities/liability-trees.ts'
import { ENTRY_BYTES, LeafHasher } from '../../../../runtime/liabilities/hashes.ts'
import { commandLine, type Ran } from '../cli-fixture.ts'

const GENERATED_AT = '2026-05-01T12:00:00.000Z'
const AS_OF = '2026-05-01T11:59:59.000Z'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { x, y } = publicKey.export({ format: 'jwk' })
const KEY = { kid: 'K'.repeat(43), purpose: 'assertion', x, y, nbf: Date.parse('2026-01-01T00:00:00Z') / 1000 }
const JWKS = { ledger_id: 'this-ledger', keys: [KEY] }

const shell = commandLine()
afterAll(() => rmSync(shell.cwd, { recursive: true }))

function asserted(changes: JsonObject) {
  const result: JsonObject = {
    assertion_type: 'proof-of-liabilities',
    requester: 'alice',
    ledger_id: 'this-ledger',
    key_id: KEY.kid,
    generated_at: GENERATED_AT,
    as_of: AS_OF,
    ...changes,
  }
  const signature = sign('sha256', Buffer.from(canonicalJson(result)), privateKey).toString('base64')
  return { assertion_type: 'proof-of-liabilities', requester: 'alice', result, signature }
}

interface Proof {
  account_id: string
  merkle_root: string
  totals: { token_id: string; root: string; total: string }[]
  proofs: {
    token_id: string
    amount: string
    shares: { index: number; amount: string; nonce: string; siblings: { hash: string; sum: string }[] }[]
  }[]
  assertion: ReturnType<typeof asserted>
  next_page_token: string
}

/** A proof for alice, who has 12.5 GOLD and 3 BASE in a ledger of four accounts. */
async function proofOfAlice(): Promise<Proof> {
  const seed = randomBytes(32)
  const book = new LiabilityBook({ capacity: 6, sharesEach: 2, seed })
  const GOLD = 10n ** 18n
  for (const [account, token, units] of [
    ['alice', 'GOLD', (25n * GOLD) / 2n],
    ['alice', 'BASE', 3n * GOLD],
    ['bob', 'GOLD', 7n],
    ['carol', 'GOLD', 10n ** 36n - 1n],
    ['dave', 'BASE', GOLD],
  ] as const) {
    book.add(Buffer.from(account), token, units)
  }
  const tiles = new Map<number, Buffer>()
  const built = await buildTrees(book, seed, {
    add: (kind, number, page) => void (kind === 'tile' && tiles.set(number, Buffer.from(page))),
    ready: () => Promise.resolve(),
  })
  const nonces = createNonces(seed)
  const proofs = built.tokens.map(({ tokenId, leaves }, token) => {
    const page = tiles.get(token) ?? Buffer.alloc(0)
    const entries = Buffer.alloc(TILE_ENTRIES * ENTRY_BYTES)
    const tile = { token, hasher: new LeafHasher(tokenId), firstLeaf: 0, leaves }
    const places = writeLeaves(entries, page, tile, nonces)
    const records = Array.from({ length: leaves }, (_, leaf) =>
      readRecord(page, places[leaf] ?? 0, places[leaf + 1] ?? 0),
    )
    const mine = records.flatMap((record, leaf) =>
      record?.account.toString() === 'alice' ? [{ leaf, units: record.units }] : [],
    )
    return {
      token_id: tokenId,
      amount: decimalOf(mine.reduce((sum, { units }) => sum + units, 0n)),
      shares: mine.map(({ leaf, units }) => ({
        index: leaf,
        amount: decimalOf(units),
        nonce: nonces(token, leaf).toString('hex'),
        siblings: climb(
          Buffer.from(entries.subarray(0, leaves * ENTRY_BYTES)),
          leaves,
          pathThrough(leaves, leaf)[0]?.place ?? 0,
        ).map(({ hash, sum }) => ({ hash: showHash(hash), sum })),
      })),
    }
  })
  const totals = built.tokens.map(({ tokenId, root, units }) => ({ tokenId, root, total: decimalOf(units) }))
  expect(rootOfTotals(totals)).toBe(built.merkleRoot)
  const total = decimalOf(built.tokens.reduce((sum, { units }) => sum + units, 0n))
  return {
    account_id: 'alice',
    merkle_root: showHash(built.merkleRoot),
    totals: totals.map(({ tokenId, root, total: each }) => ({ token_id: tokenId, root: showHash(root), total: each })),
    proofs,
    assertion: asserted({
      total_liabilities: total,
      merkle_root: showHash(built.merkleRoot),
      by_token: totals.map(({ tokenId, total: each }) => ({ token_id: tokenId, total: each })),
    }),
    next_page_token: '',
  }
}

let proof: Proof
beforeAll(async () => {
  proof = await proofOfAlice()
})

function verify(value: unknown, jwks: unknown = JWKS): Promise<Ran> {
  return shell.run(['verify', '--jwks', shell.write('jwks.json', jwks), shell.write('proof.json', value)])
}

async function verifyTampered(tamper: (copy: Proof) => void): Promise<Ran> {
  const copy = structuredClone(proof)
  tamper(copy)
  return verify(copy)
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index]
  if (found === undefined) throw new Error('the list is shorter')
  return found
}

describe('a proof of liabilities', () => {
  test('that is intact verifies, and shows the amount of each token', async () => {
    const { code, out, err } = await verify(proof)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toBe(
      `ok: alice is owed 3 BASE in the liabilities of "${AS_OF}"\nok: alice is owed 12.5 GOLD in the liabilities of "${AS_OF}"\n`,
    )
    const totalsText = proof.totals.map(({ token_id: token, total }) => `${total} ${token}`).join(', ')
    expect((await verify([proof, proof.assertion])).out).toContain(
      `ok: proof-of-liabilities for "alice" of "${GENERATED_AT}": liabilities of ${totalsText}\n`,
    )
  })

  test('without a token verifies, and the result says that it proves nothing', async () => {
    const { code, out } = await verify({ ...proof, proofs: [] })
    expect(code).toBe(0)
    expect(out).toContain('proves nothing')
  })

  const TAMPERINGS: readonly (readonly [string, (copy: Proof) => void, RegExp])[] = [
    ['L3: another amount', (copy) => void (at(copy.proofs, 1).amount = '12.6'), /GOLD: its shares do not add up/],
    [
      'L3: a token without a leaf',
      (copy) => void Object.assign(at(copy.proofs, 0), { amount: '0', shares: [] }),
      /BASE: it has no share/,
    ],
    ['L3: a token twice', (copy) => void copy.proofs.push(at(copy.proofs, 0)), /two proofs of one token/],
    ['L2: another root', (copy) => void (copy.merkle_root = showHash('ab'.repeat(32))), /is not the signed one/],
    ['L2: another total of a token', (copy) => void (at(copy.totals, 0).total = '5'), /do not hash to/],
    [
      'L1: a total that was not signed',
      (copy) => void (copy.assertion.result = { ...copy.assertion.result, total_liabilities: '1' }),
      /signature does not verify/,
    ],
    [
      'L1: a signature over a total that does not add up',
      (copy) => void (copy.assertion = asserted({ ...copy.assertion.result, total_liabilities: '1' })),
      /do not add up to the signed total/,
    ],
    [
      'L2: other totals than the signed ones',
      (copy) => void (copy.assertion = asserted({ ...copy.assertion.result, by_token: [] })),
      /not the signed ones/,
    ],
  ]
  test.for(TAMPERINGS)('is refused: %s', async ([, tamper, problem]) => {
    const { code, out } = await verifyTampered(tamper)
    expect(code).toBe(1)
    expect(out).toMatch(/^TAMPERED: liability proof of (alice|bob): /)
    expect(out).toMatch(problem)
  })

  test.each<[string, object, RegExp]>([
    ['a revoked key', { ...KEY, revoked: { revoked_at: 1 } }, /revoked/],
    ['a key of another purpose', { ...KEY, purpose: 'receipt' }, /another purpose/],
    ['a key that was not in use', { ...KEY, exp: Date.parse('2026-02-01T00:00:00Z') / 1000 }, /was not in use/],
  ])('is refused under %s, and so is the assertion', async (_, key, problem) => {
    const { code, out } = await verify([proof, proof.assertion], { ...JWKS, keys: [key] })
    expect(code).toBe(1)
    expect(out.match(/^TAMPERED: /gm)).toHaveLength(2)
    expect(out).toMatch(problem)
  })

  test.each<[string, object, RegExp]>([
    ['lacks the key', { ...JWKS, keys: [{ ...KEY, kid: 'other' }] }, /it names key \S+, which \S+ does not have/],
    ['is of another ledger', { ...JWKS, ledger_id: 'that-ledger' }, /it is of ledger \S+, but \S+ is of ledger/],
  ])('is not checked, like its assertion, if the JWKS %s', async (_, jwks, why) => {
    const { code, out } = await verify([proof, proof.assertion], jwks)
    expect(code).toBe(1)
    expect(out.match(/^NOT CHECKED: /gm)).toHaveLength(2)
    expect(out).toMatch(why)
    expect(out).not.toContain('TAMPERED')
  })

  test('in pages needs the last of them', async () => {
    const [base, gold] = proof.proofs
    const page = { ...proof, proofs: [base], next_page_token: 'more' }
    const { code, out } = await verify(page)
    expect(code).toBe(1)
    expect(out).toMatch(/^INCOMPLETE: liability proof of alice, sha256:\w+: its last page is missing$/m)
    expect(await verify([page, { ...proof, proofs: [gold] }])).toMatchObject({ code: 0, err: '' })
  })

  test('needs the JWKS, and must be well-formed', async () => {
    expect((await shell.run(['verify', shell.write('proof.json', proof)])).code).toBe(2)
    const { code, err } = await verify({ ...proof, totals: [{ token_id: 'GOLD' }] })
    expect(code).toBe(1)
    expect(err).toContain('not a proof of liabilities (wrong: totals.0.root)')
  })
})
