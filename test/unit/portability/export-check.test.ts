import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { ProofRecord } from '../../../api/schemas/requests/export-records.ts'
import { ExportLines, LONGEST_RECORD, RecordTooLong } from '../../../infra/portability/export-lines.ts'
import {
  anAccount,
  AUDIENCE,
  BODIES,
  check,
  createKeys,
  jwksOf,
  ledgerBody,
  makeExport,
  SOURCE,
  TOKEN_BODY,
  USED_KEYS_BODY,
} from './export-scene.ts'

function sha256(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** Line `number` with other members. */
function changed(lines: readonly string[], number: number, members: JsonObject): readonly string[] {
  return lines.map((line, at) =>
    at === number ? canonicalJson({ ...(JSON.parse(line) as JsonObject), ...members }) : line,
  )
}

/** Forges a file without the signing key: numbers and all hashes are consistent again. */
function retied(lines: readonly string[]): readonly string[] {
  const tied: string[] = []
  for (const [line, text] of lines.entries()) {
    const before = tied.at(-1)
    const members = JSON.parse(text) as JsonObject
    tied.push(
      canonicalJson({
        ...members,
        line,
        previous_hash: before === undefined ? `sha256:${'0'.repeat(64)}` : sha256(before),
        ...(members['record'] === 'proof' ? { proof_hash: sha256(tied.map((one) => `${one}\n`).join('')) } : {}),
      }),
    )
  }
  return tied
}

describe('lines of an export', () => {
  test('are numbered canonical JSON with the previous hash, and the proof has the hash over all', async () => {
    const { lines } = await makeExport()
    const records = lines.map((line) => JSON.parse(line) as JsonObject)
    expect(lines).toEqual(records.map(canonicalJson))
    expect(records.map(({ line }) => line)).toEqual(lines.map((_, index) => index))
    expect(records.map((record) => record['previous_hash'])).toEqual([
      `sha256:${'0'.repeat(64)}`,
      ...lines.slice(0, -1).map(sha256),
    ])
    const before = lines.slice(0, -1).map((line) => `${line}\n`)
    expect(records.at(-1)).toMatchObject({ record: 'proof', proof_hash: sha256(before.join('')) })
  })

  test('are refused when they exceed the longest record', () => {
    const lines = new ExportLines()
    const hashes = Array.from({ length: LONGEST_RECORD / 40 }, () => 'A'.repeat(43))
    expect(() => lines.add({ record: 'used_keys', account_id: 'a', part: 0, hashes })).toThrow(RecordTooLong)
  })
})

describe('an export that is checked', () => {
  test('is accepted unchanged, and its content is counted', async () => {
    const { lines, keys } = await makeExport()
    const checked = await check(lines, jwksOf(keys))
    expect(checked).toMatchObject({
      ok: true,
      summary: {
        ledger: { ledger_id: SOURCE, audience: AUDIENCE, partial: true },
        proof: { requester: 'Example Operations Ltd' },
        counts: { ledger: 1, token: 1, account: 3, used_keys: 1, nft_class: 0, proof: 1 },
      },
    })
  })

  test.for<[string, number, number, (lines: readonly string[], number: number) => readonly string[]]>([
    ['that was changed', 0, 6, (lines, number) => changed(lines, number, { extra: 'x' })],
    [
      'with the hash of another previous line',
      1,
      6,
      (lines, number) => changed(lines, number, { previous_hash: sha256('another line') }),
    ],
    ['that is missing', 0, 5, (lines, number) => lines.toSpliced(number, 1)],
    [
      'that was swapped with the next one',
      0,
      5,
      (lines, number) => lines.toSpliced(number, 2, ...lines.slice(number, number + 2).toReversed()),
    ],
    ['before which the file ends', 0, 6, (lines, number) => lines.slice(0, number)],
  ])('names the line %s', async ([, first, last, damage]) => {
    const { lines, keys } = await makeExport()
    for (let number = first; number <= last; number += 1) {
      const checked = await check(damage(lines, number), jwksOf(keys))
      expect(checked, `line ${number}`).toMatchObject({ ok: false, problem: { line: number } })
    }
  })

  test('names a line from another export', async () => {
    const { lines, keys } = await makeExport()
    const other = await makeExport(BODIES.map((body, at) => (at === 1 ? { ...TOKEN_BODY, decimals: 3 } : body)))
    const mixed = lines.map((line, at) => (at === 4 ? (other.lines[4] ?? '') : line))
    expect(await check(mixed, jwksOf(keys))).toMatchObject({ ok: false, problem: { line: 4 } })
  })

  test('names a line that is not JSON, not canonical, or not a record', async () => {
    const { lines, keys } = await makeExport()
    for (const text of ['{', `${lines[3]} `, '[]', '{"line":3,"previous_hash":"x","record":"other"}', 'null']) {
      const damaged = lines.map((line, at) => (at === 3 ? text : line))
      expect(await check(damaged, jwksOf(keys)), text).toMatchObject({ ok: false, problem: { line: 3 } })
    }
  })

  test('names a proof that is not canonical', async () => {
    const { lines, keys } = await makeExport()
    const spaced = lines.map((line, at) => (at === 6 ? line.replace('{', '{ ') : line))
    const checked = await check(spaced, jwksOf(keys))
    expect(checked).toEqual({ ok: false, problem: { line: 6, problem: 'it is not canonical JSON' } })
  })

  test('is refused when a line follows its proof', async () => {
    const { lines, keys } = await makeExport()
    const checked = await check([...lines, lines[6] ?? ''], jwksOf(keys))
    expect(checked).toEqual({ ok: false, problem: { line: 7, problem: 'it follows the proof' } })
  })

  test('does not verify when it was forged without the signing key', async () => {
    const { lines, keys } = await makeExport()
    const forged = retied(lines.filter((_, at) => at !== 4))
    const checked = await check(forged, jwksOf(keys))
    expect(checked).toEqual({ ok: false, problem: { line: 5, problem: 'its signature does not verify' } })
  })

  test('does not verify with the signature of another record, nor without one', async () => {
    const { lines, keys } = await makeExport()
    const other = await makeExport([ledgerBody(), TOKEN_BODY], keys)
    const { signature } = JSON.parse(other.lines.at(-1) ?? '') as ProofRecord
    for (const wrong of [signature, '', 'no base64', 5]) {
      const checked = await check(changed(lines, 6, { signature: wrong }), jwksOf(keys))
      expect(checked).toEqual({ ok: false, problem: { line: 6, problem: 'its signature does not verify' } })
    }
  })

  test('does not verify under keys of another ledger or with another purpose', async () => {
    const { lines, keys } = await makeExport()
    const problemWith = async (published: ReturnType<typeof keys.published>, ledgerId = SOURCE): Promise<string> => {
      const checked = await check(lines, { ledgerId, keys: published })
      return checked.ok ? '' : checked.problem.problem
    }
    expect(await problemWith(createKeys().published())).toBe('the key that it names is not in the JWKS')
    expect(await problemWith(keys.published(), AUDIENCE)).toBe('its ledger is not the ledger of the JWKS')
    const all = keys.published()
    expect(await problemWith(all.map((key) => ({ ...key, purpose: 'receipt' })))).toBe(
      'the key that it names is not for assertions',
    )
    expect(await problemWith(all.map((key) => ({ ...key, revokedAtMs: 1 })))).toBe('the key that it names is revoked')
    const late = 'the key that it names was not in use at its timestamp'
    expect(await problemWith(all.map((key) => ({ ...key, retiredAtMs: key.activeFromMs + 1 })))).toBe(late)
    expect(await problemWith(all.map((key) => ({ ...key, activeFromMs: key.activeFromMs + 3_600_000 })))).toBe(late)
  })

  test('is refused when ledger or audience of the first line and the proof differ', async () => {
    const { lines, keys } = await makeExport(BODIES, createKeys(), AUDIENCE)
    const checked = await check(lines, jwksOf(keys, undefined))
    expect(checked).toEqual({ ok: false, problem: { line: 6, problem: 'its ledger_id is not that of the first line' } })
  })

  test.for([
    ['a token behind an account', [ledgerBody(), anAccount('alice', { GOLD: '5' }), TOKEN_BODY], 2],
    ['used keys behind no account', [ledgerBody(), TOKEN_BODY, USED_KEYS_BODY], 2],
    ['a second ledger', [ledgerBody(), TOKEN_BODY, ledgerBody()], 2],
    ['no ledger', [TOKEN_BODY, anAccount('alice', { GOLD: '5' })], 0],
  ] as const)('is refused with %s, even if it is signed', async ([, bodies, line]) => {
    const { lines, keys } = await makeExport(bodies)
    expect(await check(lines, jwksOf(keys))).toMatchObject({ ok: false, problem: { line } })
  })
})
