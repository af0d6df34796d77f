/** Findings of the console: true figures verify, and a change of any is found and named. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type { AuditEntry, KeySet, Receipt, Statement, TokenBalance, Transaction } from '../../../api/client/index.ts'
import { balanceFinding } from '../../../api/console/proofs/balance-finding.ts'
import { chainFinding } from '../../../api/console/proofs/chain-finding.ts'
import { keysFinding, keySetIn } from '../../../api/console/proofs/keys-finding.ts'
import { receiptFinding } from '../../../api/console/proofs/receipt-finding.ts'
import { statementFinding } from '../../../api/console/proofs/statement-finding.ts'
import { exampleOf, ownKeys } from './signed-receipts.ts'

const keySet = exampleOf<KeySet>('getKeySet', 'keys')
const { entries } = exampleOf<{ entries: readonly AuditEntry[] }>('listAuditChain', 'alice')
const receipt = exampleOf<Receipt>('getReceipt', 'completed')
const statement = exampleOf<Statement>('getStatement', 'bob')
const accountId = receipt.receipt.account_id
const subject = { accountId, tip: entries.at(-1)?.audit_hash ?? '' }

describe('a chain', () => {
  test('verifies with the hash of its account, also if it has grown since', async () => {
    expect(await chainFinding(entries, subject)).toMatchObject({ outcome: 'verified' })
    expect(await chainFinding(entries, { accountId, tip: entries[0]?.audit_hash ?? '' })).toMatchObject({
      outcome: 'verified',
    })
  })

  test('is tampered with at the first changed entry, and if its end is missing', async () => {
    const changed = entries.map((entry) => (entry.sequence === 1 ? { ...entry, payload: '{}' } : entry))
    expect(await chainFinding(changed, subject)).toMatchObject({
      outcome: 'tampered',
      brokenAt: 1,
      problem: expect.stringContaining('Entry 1 of the chain: its audit_hash is not the hash'),
    })
    expect(await chainFinding(entries.slice(0, -1), subject)).toMatchObject({ outcome: 'tampered' })
    expect(await chainFinding([], subject)).toMatchObject({ outcome: 'unproved' })
  })
})

describe('a chain on a page', () => {
  test('is tampered with if it is of another account', async () => {
    expect(await chainFinding(entries, { ...subject, accountId: 'other' })).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('this page is of other'),
    })
  })

  test('is tampered with if the page shows an entry otherwise', async () => {
    expect(await chainFinding(entries, { ...subject, shown: entries })).toMatchObject({ outcome: 'verified' })
    const shown = entries.map((entry) => (entry.sequence === 1 ? { ...entry, payload: '{}' } : entry))
    expect(await chainFinding(entries, { ...subject, shown })).toMatchObject({ outcome: 'tampered', brokenAt: 1 })
  })
})

describe('balances', () => {
  const tokenOf = (payload: string | null): string => String((JSON.parse(payload ?? '{}') as JsonObject)['token_id'])
  const stating = entries.filter(({ payload }) => payload?.includes('balance_after'))
  const last = stating.at(-1)?.payload ?? '{}'
  const token = tokenOf(last)
  const stated = String((JSON.parse(last) as JsonObject)['balance_after'])
  const balanceOf = (balance: string): TokenBalance => ({ token_id: token, balance }) as TokenBalance

  test('verify if the last entry of each token states them, however zeros are written', async () => {
    expect(stating.length).toBeGreaterThan(0)
    const found = await balanceFinding(entries, subject, [balanceOf(stated)])
    expect(found).toMatchObject({
      outcome: 'verified',
      proved: expect.arrayContaining([expect.stringContaining(stated)]),
    })
  })

  test('are tampered with if one that the chain states is missing', async () => {
    expect(await balanceFinding(entries, subject, [])).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining(`shows 0, but the chain states ${stated}`),
    })
  })

  test('verify if an order came after they were read', async () => {
    const before = { accountId, tip: entries[0]?.audit_hash ?? '' }
    expect(await balanceFinding(entries, before, [])).toMatchObject({ outcome: 'verified' })
  })

  test('are tampered with if they differ, or if no entry knows the token', async () => {
    expect(await balanceFinding(entries, subject, [balanceOf(`1${stated}`)])).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining(`the chain states ${stated}`),
    })
    const unknown = { ...balanceOf('5'), token_id: 'UNKNOWN' }
    expect(await balanceFinding(entries, subject, [unknown])).toMatchObject({ outcome: 'tampered' })
  })
})

describe('a receipt', () => {
  test('verifies with the chain, and a chain that is not whole does not', async () => {
    expect(await receiptFinding(receipt, keySet, { entries })).toMatchObject({ outcome: 'verified' })
    const broken = await receiptFinding(receipt, keySet, { entries: entries.slice(1) })
    expect(broken).toMatchObject({ outcome: 'tampered', problem: expect.stringContaining('audit chain') })
  })

  test('does not verify a transaction that the page shows otherwise', async () => {
    const { receipt: signed } = receipt
    const shown = { ...signed, status: 'completed' } as object as Transaction
    expect(await receiptFinding(receipt, keySet, { shown })).toMatchObject({ outcome: 'verified' })
    expect(await receiptFinding(receipt, keySet, { shown: { ...shown, amount: '999' } })).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('its amount is not that of the signed receipt'),
    })
  })

  test('does not verify another transaction, and proves nothing about later ones', async () => {
    const shown = { ...receipt.receipt, status: 'completed' } as object as Transaction
    const other = { ...shown, metadata: { note: 'forged' } }
    expect(await receiptFinding(receipt, keySet, { shown: other })).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('its metadata is not that'),
    })
    expect(await receiptFinding(receipt, keySet, { shown, txnId: 'other' })).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('this page is of other'),
    })
    expect(await receiptFinding(receipt, keySet, { shown, txnId: shown.txn_id })).toMatchObject({
      outcome: 'verified',
      unproved: expect.arrayContaining([expect.stringContaining('refunded this one')]),
    })
  })

  test('of other keys proves nothing', async () => {
    expect(await receiptFinding(receipt, ownKeys, {})).toMatchObject({ outcome: 'unproved' })
  })
})

describe('a statement', () => {
  const asked = { accountId: statement.account_id, tokenId: statement.token_id, from: '', to: '' }

  test('verifies as a whole, and not in parts', async () => {
    expect(await statementFinding([statement], keySet, true, asked)).toMatchObject({ outcome: 'verified' })
    expect(await statementFinding([statement], keySet, false, asked)).toMatchObject({ outcome: 'unproved' })
    const changed = { ...statement, closing: '1' }
    expect(await statementFinding([changed], keySet, true, asked)).toMatchObject({ outcome: 'tampered' })
  })

  test('does not prove its end if the reader named none', async () => {
    const end = expect.stringContaining(`after ${statement.to}`) as string
    const open = await statementFinding([statement], keySet, true, asked)
    expect(open.unproved).toContainEqual(end)
    const to = '2026-11-29T09:18:00.000Z'
    const whole = { ...statement, to }
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const keys = { ...keySet, keys: keySet.keys.map((key) => ({ ...key, ...publicKey.export({ format: 'jwk' }) })) }
    const { signature: _, next_page_token: __, ...signed } = whole
    const signature = sign('sha256', Buffer.from(canonicalJson(signed as object as JsonObject)), privateKey)
    const page = { ...whole, signature: signature.toString('base64') }
    const found = await statementFinding([page], keys as KeySet, true, { ...asked, to })
    expect(found).toMatchObject({ outcome: 'verified' })
    expect(found.unproved).not.toContainEqual(end)
  })

  test.for([
    ['account', { accountId: 'other' }],
    ['token', { tokenId: 'OTHER' }],
    ['beginning', { from: '2020-01-01T00:00:00Z' }],
    ['end', { to: '2020-01-01T00:00:00Z' }],
  ] as const)('does not verify with another %s', async ([, other]) => {
    const found = await statementFinding([statement], keySet, true, { ...asked, ...other })
    expect(found).toMatchObject({ outcome: 'tampered' })
  })
})

describe('the public keys', () => {
  const [first] = keySet.keys

  test('are those of a copy if each key of it is served unchanged', () => {
    const older = { ...keySet, keys: keySet.keys.slice(1) }
    expect(keysFinding(keySet, keySet)).toMatchObject({ outcome: 'verified', unproved: [] })
    expect(keysFinding(keySet, older)).toMatchObject({
      outcome: 'verified',
      unproved: [expect.stringContaining(first?.kid ?? '?')],
    })
  })

  test('are not if a key is missing or changed, and of another ledger they prove nothing', () => {
    const changed = { ...keySet, keys: keySet.keys.map((key) => (key === first ? { ...key, x: 'other' } : key)) }
    expect(keysFinding(changed, keySet)).toMatchObject({ outcome: 'tampered' })
    expect(keysFinding({ ...keySet, keys: keySet.keys.slice(1) }, keySet)).toMatchObject({ outcome: 'tampered' })
    expect(keysFinding(keySet, { ...keySet, ledger_id: 'other' })).toMatchObject({ outcome: 'unproved' })
  })

  test('are not if a key ID is there twice or a revocation is dropped, and an empty copy proves nothing', () => {
    const revoked = keySet.keys.map((key) => ({ ...key, exp: 2, revoked: { revoked_at: 1 } }))
    const double = { ...keySet, keys: [...keySet.keys, { ...keySet.keys[0], x: 'other' } as (typeof keySet.keys)[0]] }
    expect(keysFinding({ ...keySet, keys: revoked }, keySet)).toMatchObject({ outcome: 'verified' })
    for (const [served, kept] of [
      [double, keySet],
      [keySet, double],
      [keySet, { ...keySet, keys: revoked }],
    ] as const) {
      expect(keysFinding(served, kept)).toMatchObject({ outcome: 'tampered' })
    }
    expect(keysFinding(keySet, { ...keySet, keys: [] })).toMatchObject({ outcome: 'unproved' })
    expect(keySetIn('{"ledger_id":"x","keys":[null]}')).toBeUndefined()
  })

  test('are read from a file; any other text is none', () => {
    expect(keySetIn(JSON.stringify(keySet))).toEqual(keySet)
    for (const text of ['', 'null', '{"keys":[]}', '{"ledger_id":"x","keys":1}']) expect(keySetIn(text)).toBeUndefined()
  })
})
