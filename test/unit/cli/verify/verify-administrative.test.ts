/** Pages of the administrative chain are verified offline, and every change is named (rules V1-V4). */
import { generateKeyPairSync, sign } from 'node:crypto'
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { chainHash, GENESIS, showHash } from '../../../../actors/audit-chain.ts'
import { administrativeEntry, type NewAdministrativeEntry } from '../../../../runtime/audit/administrative-entry.ts'
import { canonical, type Members } from '../../../support/client/client-keys.ts'
import { commandLine } from '../cli-fixture.ts'

const LEDGER = 'this-ledger'
const AT = '2026-02-01T12:00:00.000Z'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { x, y } = publicKey.export({ format: 'jwk' })
const KEY = { kid: 'K'.repeat(43), purpose: 'assertion', x, y, nbf: Date.parse('2026-01-01T00:00:00Z') / 1000 }
const JWKS = { ledger_id: LEDGER, keys: [KEY] }

interface Shown {
  readonly sequence: number
  readonly previous_hash: string
  readonly audit_hash: string
  readonly payload: string | null
}

interface Page {
  readonly ledger_id: string
  readonly entries: readonly Shown[]
  readonly total_count: number
  readonly head?: Members
}

function chainOf(length: number, changes: Partial<NewAdministrativeEntry> = {}): readonly Shown[] {
  const entries: Shown[] = []
  let previousHash = GENESIS
  for (let sequence = 0; sequence < length; sequence += 1) {
    const entry = administrativeEntry({
      ledgerId: LEDGER,
      sequence,
      previousHash,
      accountRef: null,
      atMs: Date.parse(AT),
      salt: '5'.repeat(32),
      clientId: 'admin',
      act: 'revokeClient',
      details: { client_id: `client-${sequence}` },
      of: null,
      ...changes,
    })
    previousHash = entry.auditHash
    entries.push({
      sequence,
      previous_hash: showHash(entry.previousHash),
      audit_hash: showHash(entry.auditHash),
      payload: entry.payload,
    })
  }
  return entries
}

const CHAIN = chainOf(6)
const TIP = CHAIN.at(-1)?.audit_hash ?? ''

function headOf(entries: readonly Shown[], changes: Members = {}, key = privateKey): Members {
  const last = entries.at(-1)
  const head = {
    type: 'administrative_chain',
    ledger_id: LEDGER,
    sequence: last?.sequence ?? 0,
    audit_hash: last?.audit_hash ?? '',
    total_count: 6,
    at: AT,
    key_id: KEY.kid,
    ...changes,
  }
  return { ...head, signature: sign('sha256', Buffer.from(canonical(head)), key).toString('base64') }
}

/** A time, in milliseconds after that of the pages. */
function later(ms: number): string {
  return new Date(Date.parse(AT) + ms).toISOString()
}

function pageOf(entries: readonly Shown[], changes: Partial<Page> = {}): Page {
  return { ledger_id: LEDGER, entries, total_count: 6, head: headOf(entries), ...changes }
}

const shell = commandLine()
afterAll(() => rmSync(shell.cwd, { recursive: true }))

async function verified(pages: readonly object[], jwks: object = JWKS, args: readonly string[] = []) {
  shell.write('jwks.json', jwks)
  shell.write('acts.json', pages)
  const { code, out } = await shell.run(['verify', ...args, '--jwks', 'jwks.json', 'acts.json'])
  return { code, out }
}

/** Replaces entry 2 of the chain; the page is signed. */
function changed(change: Partial<Shown>): readonly Page[] {
  return [pageOf(CHAIN.map((entry) => (entry.sequence === 2 ? { ...entry, ...change } : entry)))]
}

/** An entry 2 that has its hash. */
function rehashed(payload: string): Partial<Shown> {
  return { payload, audit_hash: showHash(chainHash((CHAIN[2]?.previous_hash ?? '').slice(7), payload)) }
}

const PAYLOAD = CHAIN[2]?.payload ?? ''
const OK = `ok: administrative chain of ledger ${LEDGER}: 6 entries up to ${TIP}, signed by key ${KEY.kid} at ${AT}\n`

describe('the administrative chain', () => {
  test('verifies as one page, or as several in any order, with entries that two pages have', async () => {
    expect(await verified([pageOf(CHAIN)])).toEqual({ code: 0, out: OK })
    const parts = [CHAIN.slice(3), CHAIN.slice(0, 3), CHAIN.slice(1, 4)].map((entries) => pageOf(entries))
    expect(await verified([...parts, { ledger_id: LEDGER, entries: [], total_count: 6 }])).toEqual({ code: 0, out: OK })
  })

  test('has its end and its signer for programs', async () => {
    const { out } = await verified([pageOf(CHAIN)], JWKS, ['--json'])
    const facts = { ledger_id: LEDGER, entries: 6, tip: TIP, key_id: KEY.kid, at: AT }
    expect(JSON.parse(out)).toMatchObject({ ok: true, verdict: 'ok', ...facts })
  })

  test.for([
    [{ payload: PAYLOAD.replace('client-2', 'client-9') }, 'its audit_hash is not the hash of its previous_hash'],
    [{ payload: null }, 'its payload is null: its stored text was changed, or cannot be read'],
    [{ previous_hash: TIP }, 'its audit_hash is not the hash of its previous_hash'],
    [rehashed(PAYLOAD.replace(LEDGER, 'another')), 'its payload has another ledger_id'],
    [rehashed(PAYLOAD.replace('"sequence":2', '"sequence":3')), 'its payload has another sequence'],
    [rehashed(PAYLOAD.replace('"administrative"', '"account"')), 'its payload has another type'],
    [rehashed(` ${PAYLOAD}`), 'its payload is not the canonical form'],
  ] as const)('V1: with a change in entry 2 is refused with the entry: %j', async ([change, problem]) => {
    expect(await verified(changed(change))).toEqual({
      code: 1,
      out: expect.stringMatching(`^TAMPERED: administrative entry 2: ${problem}`),
    })
  })

  test('V1: with an entry that was hashed anew is refused with the next entry', async () => {
    const { code, out } = await verified(changed(rehashed(PAYLOAD.replace('client-2', 'client-9'))))
    expect([code, out]).toEqual([1, expect.stringMatching('^TAMPERED: administrative entry 3: its previous_hash')])
  })

  test('V1: with swapped entries, or one left out of a page, is refused', async () => {
    const [first, second, ...rest] = CHAIN
    const swapped = [second, first, ...rest].flatMap((entry) => entry ?? [])
    expect(await verified([pageOf(swapped)])).toEqual({
      code: 1,
      out: 'TAMPERED: administrative entry 0: it is where its page should have entry 2\n',
    })
    expect(await verified([pageOf(CHAIN.filter(({ sequence }) => sequence !== 2))])).toEqual({
      code: 1,
      out: 'TAMPERED: administrative entry 3: it is where its page should have entry 2\n',
    })
  })

  test.for([
    [{ audit_hash: CHAIN[4]?.audit_hash ?? '' }, 'its audit_hash is not that of the page'],
    [{ sequence: 4 }, 'its sequence is not that of the page'],
    [{ type: 'proof-of-liabilities' }, 'its type is not that of the page'],
    [{ ledger_id: 'another' }, 'its ledger_id is not that of the page'],
    [{ at: '2025-12-31T00:00:00.000Z' }, 'its key was not in use at its at'],
    [{ total_count: 5 }, 'its total_count is too small for its sequence'],
  ] as const)('V2: with a signed head of other members is refused: %j', async ([change, problem]) => {
    const { code, out } = await verified([pageOf(CHAIN, { head: headOf(CHAIN, change) })])
    expect([code, out]).toEqual([1, expect.stringMatching(`^TAMPERED: head of administrative entry 5: ${problem}`)])
  })

  test('V2: of another signer is refused', async () => {
    const forged = await verified([pageOf(CHAIN, { head: headOf(CHAIN, {}, other.privateKey) })])
    expect(forged).toEqual({ code: 1, out: expect.stringMatching('^TAMPERED: .*: its signature does not verify\n') })
    const unknown = await verified([pageOf(CHAIN, { head: headOf(CHAIN, { key_id: 'L'.repeat(43) }) })])
    expect(unknown).toEqual({ code: 1, out: expect.stringMatching('^NOT CHECKED: .*: it names key L') })
    const wrongPurpose = await verified([pageOf(CHAIN)], { ...JWKS, keys: [{ ...KEY, purpose: 'receipt' }] })
    expect(wrongPurpose).toEqual({ code: 1, out: expect.stringMatching('^TAMPERED: .*: its key has another purpose') })
    const revoked = await verified([pageOf(CHAIN)], { ...JWKS, keys: [{ ...KEY, revoked: { revoked_at: 1 } }] })
    expect(revoked).toEqual({ code: 1, out: expect.stringMatching('^TAMPERED: .*: its key is revoked') })
  })

  test('V2: with a page that is not signed is incomplete, such as that of one account', async () => {
    const { head: _, total_count: __, ...unsigned } = pageOf(CHAIN.filter(({ sequence }) => sequence % 2 === 1))
    expect(await verified([pageOf(CHAIN.slice(0, 3)), unsigned])).toEqual({
      code: 1,
      out: 'INCOMPLETE: head of administrative entry 5: the page is not signed, as those of account_id: give pages of all acts\n',
    })
  })

  test('V2: of another ledger is not checked, also beside that of this ledger', async () => {
    const theirs = chainOf(2, { ledgerId: 'another' })
    const page = pageOf(theirs, {
      ledger_id: 'another',
      total_count: 2,
      head: headOf(theirs, { ledger_id: 'another', total_count: 2 }),
    })
    expect(await verified([pageOf(CHAIN), page])).toEqual({
      code: 1,
      out: expect.stringMatching(
        /^ok: .*\nNOT CHECKED: .* it is of ledger another, but jwks.json is of ledger this-ledger/,
      ),
    })
  })

  test.for([
    ['administrative entry 0 is missing', [CHAIN.slice(2)]],
    ['administrative entry 2 is missing', [CHAIN.slice(0, 2), CHAIN.slice(3)]],
    ['the files have 4 of 6 administrative entries', [CHAIN.slice(0, 2), CHAIN.slice(2, 4)]],
  ] as const)('V3: without a page is incomplete: %s', async ([problem, parts]) => {
    const { code, out } = await verified(parts.map((entries) => pageOf(entries)))
    expect([code, out]).toEqual([1, `INCOMPLETE: ${problem}: give all pages\n`])
  })

  test('V3: lacks entries that only the signed count names', async () => {
    const given = CHAIN.slice(0, 3)
    const missing = 'INCOMPLETE: the files have 3 of 6 administrative entries: give all pages\n'
    expect(await verified([pageOf(given, { total_count: 3 })])).toEqual({ code: 1, out: missing })
    const earlier = pageOf(given, { head: headOf(given, { total_count: 3, at: later(-1) }) })
    expect((await verified([earlier])).code).toBe(0)
    const emptied = pageOf([], { total_count: 3, head: headOf(CHAIN) })
    expect(await verified([earlier, emptied])).toEqual({ code: 1, out: missing })
    expect(await verified([emptied])).toEqual({ code: 1, out: missing.replace('3 of', '0 of') })
  })

  test('V2: with a head of an emptied page that names another entry, or is not signed, is refused', async () => {
    const moved = headOf(CHAIN, { audit_hash: CHAIN[4]?.audit_hash ?? '' })
    expect(await verified([pageOf(CHAIN), pageOf([], { head: moved })])).toEqual({
      code: 1,
      out: 'TAMPERED: head of administrative entry 5: its audit_hash is not that of the entry\n',
    })
    const forged = await verified([pageOf(CHAIN), pageOf([], { head: headOf(CHAIN, {}, other.privateKey) })])
    expect(forged).toEqual({ code: 1, out: expect.stringMatching('^TAMPERED: .*: its signature does not verify\n') })
  })

  test('V4: that went back between two signatures is refused, whatever the order of the pages', async () => {
    const shorter = CHAIN.slice(0, 4)
    const after = pageOf(shorter, { head: headOf(shorter, { total_count: 4, at: later(60_000) }) })
    const back = `the administrative chain went back: it had 6 entries at ${AT}, and 4 at ${later(60_000)}`
    for (const pages of [
      [pageOf(CHAIN), after],
      [after, pageOf(CHAIN)],
      [after, pageOf([], { head: headOf(CHAIN) })],
    ]) {
      expect(await verified(pages)).toEqual({ code: 1, out: `TAMPERED: ${back}\n` })
    }
  })

  test('V4: may grow between pages, and edges may sign at once what they read one after the other', async () => {
    const first = CHAIN.slice(0, 3)
    const grown = pageOf(first, { head: headOf(first, { total_count: 5, at: later(-60_000) }) })
    const atOnce = pageOf(first, { head: headOf(first, { total_count: 5, at: later(2_000) }) })
    expect(await verified([pageOf(CHAIN), grown, atOnce])).toEqual({ code: 0, out: OK })
  })

  test('V3: with another beginning is refused', async () => {
    const [, later] = CHAIN
    const payload = CHAIN[0]?.payload ?? ''
    const previous = later?.audit_hash ?? ''
    const first = {
      sequence: 0,
      previous_hash: previous,
      payload,
      audit_hash: showHash(chainHash(previous.slice(7), payload)),
    }
    const { code, out } = await verified([pageOf([first], { total_count: 1 })])
    expect([code, out]).toEqual([1, expect.stringMatching('^TAMPERED: administrative entry 0: its previous_hash')])
  })

  test('V3: with pages of two histories is refused, although each is signed', async () => {
    const second = chainOf(6, { salt: '6'.repeat(32) })
    const { code, out } = await verified([pageOf(CHAIN.slice(0, 3)), pageOf(second.slice(3))])
    expect([code, out]).toEqual([1, expect.stringMatching('^TAMPERED: administrative entry 3: its previous_hash')])
    const both = await verified([pageOf(CHAIN), pageOf(second.slice(2))])
    expect(both.out).toBe('TAMPERED: administrative entry 2: two pages have different entries of this sequence\n')
  })

  test('needs --jwks, and well-formed pages', async () => {
    const file = shell.write('acts.json', pageOf(CHAIN))
    expect(await shell.run(['verify', file])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--jwks is missing'),
    })
    const malformed = shell.write(
      'malformed.json',
      pageOf(CHAIN, { entries: [{ ...CHAIN[0], audit_hash: 'x' } as Shown] }),
    )
    expect(await shell.run(['verify', malformed])).toMatchObject({
      code: 1,
      err: expect.stringContaining('not a page of the administrative chain (wrong: entries.0.audit_hash)'),
    })
    const { total_count: _, ...uncounted } = headOf(CHAIN)
    expect(
      await shell.run(['verify', shell.write('uncounted.json', pageOf(CHAIN, { head: uncounted }))]),
    ).toMatchObject({ code: 1, err: expect.stringContaining('(wrong: head.total_count)') })
  })
})
