/** Intact chains and receipts verify, and every change is named (rules V1-V5, W1, W2). */
import { chainEntry } from '../../../support/chain.ts'
import { rmSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { chainHash, GENESIS, showHash } from '../../../../actors/audit-chain.ts'
import { commandLine, type Ran } from '../cli-fixture.ts'
import { chainOf, FIELDS, JWKS, KEY, receiptOf, type Shown, shown } from './signed-chain.ts'

const shell = commandLine()
afterAll(() => rmSync(shell.cwd, { recursive: true }))

const CHAIN = chainOf(6)
const ENTRY = CHAIN[3]

function at(entries: readonly Shown[], index: number): Shown {
  const entry = entries[index]
  if (entry === undefined) throw new Error('the chain is shorter')
  return entry
}

/** Verifies a chain of six entries, changed by `tamper`. */
function verifyChain(tamper: (entries: Shown[]) => unknown, args: readonly string[] = []): Promise<Ran> {
  const entries = CHAIN.map(shown)
  tamper(entries)
  return shell.run(['verify', ...args, shell.write('chain.json', { account_id: 'alice', entries })])
}

function verifyReceipt(receipt: unknown, jwks: unknown = JWKS): Promise<Ran> {
  const files = [
    shell.write('chain.json', { account_id: 'alice', entries: CHAIN.map(shown) }),
    shell.write('receipt.json', receipt),
  ]
  return shell.run(['verify', '--jwks', shell.write('jwks.json', jwks), ...files])
}

function rehashed(entry: Shown, changes: Partial<Shown>): Shown {
  const changed = { ...entry, ...changes }
  return { ...changed, audit_hash: showHash(chainHash(changed.previous_hash.slice(7), changed.payload)) }
}

describe('a chain', () => {
  test('that is intact verifies: as one page, several, lines, in any order, with a duplicate page', async () => {
    const tip = showHash(CHAIN.at(-1)?.auditHash ?? '')
    expect(await verifyChain(() => undefined, ['--tip', tip])).toMatchObject({ code: 0, err: '' })
    const pages = [CHAIN.slice(3), CHAIN.slice(0, 3), CHAIN.slice(0, 3)].map((part, index) =>
      shell.write(`page${index}.json`, { account_id: 'alice', entries: part.map(shown), total_count: 6 }),
    )
    expect((await shell.run(['verify', ...pages])).code).toBe(0)
    const lines = CHAIN.map((entry) => JSON.stringify(shown(entry))).join('\n')
    expect((await shell.run(['verify', '-'], lines)).code).toBe(0)
  })

  test.each<[string, (entries: Shown[]) => unknown, number]>([
    ['V2: a payload', (e) => e.splice(2, 1, { ...at(e, 2), payload: at(e, 2).payload.replace('"5"', '"500"') }), 2],
    ['V2: an audit_hash', (e) => e.splice(2, 1, { ...at(e, 2), audit_hash: at(e, 3).audit_hash }), 2],
    ['V2: a previous_hash', (e) => e.splice(2, 1, { ...at(e, 2), previous_hash: at(e, 3).audit_hash }), 2],
    [
      'V3: a payload, hashed anew',
      (e) => e.splice(2, 1, rehashed(at(e, 2), { payload: at(e, 2).payload.replace('"5"', '"6"') })),
      2,
    ],
    [
      'V3: the first previous_hash, hashed anew',
      (e) => e.splice(0, 1, rehashed(at(e, 0), { previous_hash: at(e, 1).audit_hash })),
      0,
    ],
    ['V1: an entry left out', (e) => e.splice(2, 1), 2],
    ['V1: an entry put in', (e) => e.push({ ...at(e, 2), payload: '{}' }), 2],
    ['V4: a txn_id', (e) => e.splice(2, 1, { ...at(e, 2), txn_id: 'txn_5' }), 2],
    ['V4: an entry from elsewhere in the chain', (e) => e.splice(2, 1, { ...at(e, 3), sequence: 2 }), 2],
  ])('with a change is refused with the entry: %s', async (_, tamper, sequence) => {
    const { code, out } = await verifyChain(tamper)
    expect(code).toBe(1)
    expect(out).toMatch(new RegExp(`^TAMPERED: entry ${sequence}\\b`))
  })

  test('V5: with erased payloads is verified by its links, and the result counts them', async () => {
    const erased = CHAIN.map((entry) => ({ ...shown(entry), payload: null, erased: true }))
    const page = (entries: readonly unknown[]) =>
      shell.write('erased.json', { account_id: 'alice', entries, total_count: 6 })
    const { code, out } = await shell.run(['verify', page(erased)])
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^ok: chain of alice, 6 entries \(6 of them with an erased payload/),
    ])
    const swapped = erased.map((entry, index) =>
      index === 2 ? { ...entry, audit_hash: erased[3]?.audit_hash } : entry,
    )
    expect(await shell.run(['verify', page(swapped)])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^TAMPERED/),
    })
    const left = erased.filter((_, index) => index !== 3)
    expect(await shell.run(['verify', page(left)])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^TAMPERED: entry 3\b/),
    })
    const saved = shell.write('saved.json', {
      account_id: 'alice',
      entries: CHAIN.slice(0, 4).map(shown),
      total_count: 6,
    })
    const both = await shell.run(['verify', saved, page(erased)])
    expect([both.code, both.out]).toEqual([0, expect.stringMatching(/2 of them with an erased payload/)])
  })

  test('is accepted with the hash of any entry as its tip', async () => {
    const tip = showHash(CHAIN[1]?.auditHash ?? '')
    expect(await verifyChain(() => undefined, ['--tip', tip])).toMatchObject({ code: 0, err: '' })
  })

  test('without its end is found by the tip, and by total_count', async () => {
    const tip = showHash(CHAIN.at(-1)?.auditHash ?? '')
    const cut = await verifyChain((entries) => entries.pop(), ['--tip', tip])
    expect(cut).toMatchObject({ code: 1 })
    expect(cut.out).toContain('TAMPERED: the chain ends with')
    const page = shell.write('page.json', {
      account_id: 'alice',
      entries: CHAIN.slice(0, 4).map(shown),
      total_count: 6,
    })
    expect((await shell.run(['verify', page])).out).toContain('INCOMPLETE: the files have 4 of 6 entries')
  })
})

describe('a receipt', () => {
  test('that is valid verifies, also without its chain, and for a failed transaction', async () => {
    expect(await verifyReceipt(receiptOf(ENTRY))).toMatchObject({ code: 0, err: '' })
    expect(await verifyReceipt(receiptOf(ENTRY), { keys: [{ ...KEY, exp: undefined }] })).toMatchObject({ code: 0 })
    expect(await verifyReceipt(receiptOf(undefined, { status: 'failed' }))).toMatchObject({ code: 0 })
    expect(await verifyReceipt(receiptOf(ENTRY, { account_id: 'bob' }))).toMatchObject({ code: 0 })
  })

  test.for([
    [{}, 'ok: receipt of txn_3: completed: credit of 5 BASE of alice\n'],
    [
      { status: 'failed', sequence: null, txn_id: 'txn_9', failure: { code: 'insufficient_funds' } },
      'ok: receipt of txn_9: FAILED: credit of 5 BASE of alice (insufficient_funds)\n',
    ],
    [
      { account_id: 'bob', type: 'transfer', to_account_id: 'carol', token_id: 'GOLD\n\u001b[2J' },
      'ok: receipt of txn_3: completed: transfer of 5 GOLD\\u{a}\\u{1b}[2J from bob to carol (not compared with its chain)\n',
    ],
  ] as const)('that is valid says which outcome it is of: %j', async ([changes, line]) => {
    const { code, out } = await verifyReceipt(receiptOf(ENTRY, changes))
    expect([code, out.slice(out.indexOf('ok: receipt'))]).toEqual([0, line])
  })

  test('of a failed transaction has its status for programs, too', async () => {
    const failed = receiptOf(undefined, { status: 'failed', failure: { code: 'insufficient_funds' } })
    const files = [shell.write('receipt.json', failed), '--jwks', shell.write('jwks.json', JWKS)]
    const { out } = await shell.run(['verify', '--json', ...files])
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      status: 'failed',
      type: 'credit',
      amount: '5',
      account_id: 'alice',
    })
  })

  test('has the status of --status, or is unexpected', async () => {
    const files = [shell.write('chain.json', CHAIN.map(shown)), shell.write('completed.json', receiptOf(ENTRY))]
    const args = ['verify', '--jwks', shell.write('jwks.json', JWKS), '--status', 'completed']
    expect(await shell.run([...args, ...files])).toMatchObject({ code: 0, err: '' })
    const failed = shell.write('failed.json', receiptOf(undefined, { status: 'failed' }))
    const { code, out } = await shell.run([...args, ...files, failed])
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('UNEXPECTED: receipt of txn_none: its status is "failed", not "completed"\n'),
    ])
    expect(out).toContain('ok: receipt of txn_3: completed')
    expect(await shell.run([...args, 'chain.json'])).toMatchObject({
      code: 1,
      err: 'ledger verify: there is no receipt, so none is completed\n',
    })
    expect((await shell.run([...args, '--checkpoint', 'saved'])).err).toContain('--status is for receipts')
  })

  test.each<[string, unknown, string]>([
    [
      'W1: changed after it was signed',
      { ...receiptOf(ENTRY), receipt: { ...receiptOf(ENTRY).receipt, amount: '6' } },
      'signature does not verify',
    ],
    ['W1: garbage for a signature', { ...receiptOf(ENTRY), signature: 'AAAA' }, 'signature does not verify'],
    ['W1: a key without an ID', receiptOf(ENTRY, { key_id: 7 }), 'not in the key set'],
    ['W1: before the key was in use', receiptOf(ENTRY, { processed_at: '2025-12-31T23:54:59.999Z' }), 'was not in use'],
    ['W1: after the key was in use', receiptOf(ENTRY, { processed_at: '2027-01-01T00:05:00.001Z' }), 'was not in use'],
    ['W1: of no ledger', receiptOf(ENTRY, { ledger_id: null }), 'its ledger_id is not'],
    ['W2: another amount than the chain has', receiptOf(ENTRY, { amount: '6' }), 'its amount is not that of entry 3'],
    [
      'W2: another received asset',
      receiptOf(ENTRY, { receive: { amount: '1', token_id: 'GOLD' } }),
      'its receive is not that of entry 3',
    ],
    ['W2: another hash', receiptOf(ENTRY, { audit_hash: showHash(GENESIS) }), 'its audit_hash is not that of entry 3'],
    ['W2: another sequence', receiptOf(ENTRY, { sequence: 4 }), 'its txn_id is not that of entry 4'],
    [
      'W2: failed, though the chain has it',
      receiptOf(ENTRY, { status: 'failed', sequence: null }),
      'its status is failed',
    ],
  ])('is refused: %s', async (_, receipt, problem) => {
    const { code, out } = await verifyReceipt(receipt)
    expect(code).toBe(1)
    expect(out).toContain('TAMPERED: receipt of')
    expect(out).toContain(problem)
  })

  test('with a sequence beyond the chain is incomplete: the chain may be older', async () => {
    const { code, out } = await verifyReceipt(receiptOf(ENTRY, { sequence: 9 }))
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^INCOMPLETE: .* the chain has no entry with its sequence 9$/m),
    ])
  })

  test.each([
    [
      { key_id: 'other' },
      'it names key other, which jwks.json does not have: fetch /.well-known/jwks.json of ledger this-ledger again',
    ],
    [
      { ledger_id: 'that-ledger' },
      'it is of ledger that-ledger, but jwks.json is of ledger this-ledger: fetch /.well-known/jwks.json of ledger that-ledger',
    ],
  ])('is not checked, and not called tampered, if the JWKS is unsuitable: %j', async (changes, why) => {
    const { code, out } = await verifyReceipt(receiptOf(ENTRY, changes))
    expect(code).toBe(1)
    expect(out).toContain(`NOT CHECKED: receipt of txn_3: ${why}\n`)
    expect(out).not.toContain('TAMPERED')
  })

  test('is refused under a revoked key', async () => {
    const revoked = { ...JWKS, keys: [{ ...KEY, revoked: { revoked_at: 1_790_000_000 } }] }
    const { code, out } = await verifyReceipt(receiptOf(ENTRY), revoked)
    expect(code).toBe(1)
    expect(out).toContain('its key is revoked')
  })

  test.each(['2025-12-31T23:55:00.000Z', '2027-01-01T00:05:00.000Z'])(
    'W1: of %s is valid: a node may sign slightly before or after the span of the key',
    async (processedAt) => {
      const failed = { status: 'failed', processed_at: processedAt }
      expect(await verifyReceipt(receiptOf(undefined, failed))).toMatchObject({ code: 0, err: '' })
    },
  )

  test('is valid only under a key for receipts, and needs --jwks', async () => {
    const { code, out } = await verifyReceipt(receiptOf(ENTRY), { ...JWKS, keys: [{ ...KEY, purpose: 'token' }] })
    expect(code).toBe(1)
    expect(out).toContain('another purpose')
    expect((await shell.run(['verify', shell.write('receipt.json', receiptOf(ENTRY))])).code).toBe(2)
  })
})

test.each<[string, readonly string[]]>([
  ['text', []],
  ['JSON', ['--json']],
])('as %s, names from a file cannot write lines of the result', async (_, args) => {
  const fields = { ...FIELDS, account_id: 'mallory, 1 entry\nok: receipt of txn_1\r\u001b[2K' }
  const entries = [shown(chainEntry(GENESIS, 0, null, '0'.repeat(32), fields))]
  const { out } = await shell.run(['verify', ...args, shell.write('chain.json', { ...fields, entries })])
  expect(out.trimEnd()).toMatch(/^[ -~]+$/)
})

test('a line that is not JSON is named by its number', async () => {
  const lines = [JSON.stringify({ account_id: 'alice', entries: CHAIN.map(shown) }), '', '{']
  const { code, err } = await shell.run(['verify', shell.write('lines.ndjson', lines.join('\n'))])
  expect([code, err]).toEqual([1, expect.stringContaining('lines.ndjson, line 3: ')])
})

test('a file that is cut off is not called a body', async () => {
  const file = shell.write('cut.json', JSON.stringify(receiptOf(ENTRY)).slice(0, -20))
  const { code, err } = await shell.run(['verify', file])
  expect([code, err]).toEqual([1, 'ledger verify: cut.json: The JSON is not well-formed.\n'])
})

test('an unknown value is refused, not skipped', async () => {
  for (const content of [
    '',
    '\n',
    '[]',
    '{"entries":[]}',
    '{"hello":1}',
    '[[1]]',
    '{"entries":[{"sequence":0}]}',
    'no json',
  ]) {
    const { code, err } = await shell.run(['verify', shell.write('export.json', content)])
    expect([content, code, err === '']).toEqual([content, 1, false])
  }
})
