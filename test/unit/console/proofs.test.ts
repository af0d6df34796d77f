/** Findings of the console: true figures verify, and a change of any is found and named. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import type {
  AuditEntry,
  GroupLeg,
  KeySet,
  OwnershipEntry,
  Receipt,
  SettlementGroup,
  Statement,
  TokenBalance,
  Transaction,
} from '../../../api/client/index.ts'
import { balanceFinding } from '../../../api/console/proofs/balance-finding.ts'
import { chainFinding } from '../../../api/console/proofs/chain-finding.ts'
import { groupFinding } from '../../../api/console/proofs/group-finding.ts'
import { keysFinding, keySetIn } from '../../../api/console/proofs/keys-finding.ts'
import { ownershipFinding } from '../../../api/console/proofs/ownership-finding.ts'
import { receiptFinding } from '../../../api/console/proofs/receipt-finding.ts'
import { statementFinding } from '../../../api/console/proofs/statement-finding.ts'
import { EXAMPLES } from '../../../api/openapi/examples.ts'

function exampleOf<Shown>(operation: string, name: string): Shown {
  const example = EXAMPLES.find((one) => one.operation === operation && one.name === name)
  if (example?.answer?.body === undefined) throw new Error(`there is no example ${name}`)
  return structuredClone(example.answer.body) as object as Shown
}

const keySet = exampleOf<KeySet>('getKeySet', 'keys')
const { entries } = exampleOf<{ entries: readonly AuditEntry[] }>('listAuditChain', 'alice')
const receipt = exampleOf<Receipt>('getReceipt', 'completed')
const statement = exampleOf<Statement>('getStatement', 'bob')
const accountId = receipt.receipt.account_id
const subject = { accountId, tip: entries.at(-1)?.audit_hash ?? '' }

/** A ledger that signs any receipt. */
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ownKeys = {
  ledger_id: 'ours',
  keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'ES256', purpose: 'receipt', nbf: 0 }],
} as object as KeySet

function signedReceipt(fields: JsonObject): Receipt {
  const payload = {
    account_id: 'alice',
    amount: '1',
    status: 'completed',
    ledger_id: 'ours',
    key_id: 'k',
    processed_at: '2026-11-29T00:00:00.000Z',
    ...fields,
  }
  const signature = sign('sha256', Buffer.from(canonicalJson(payload)), privateKey).toString('base64')
  return { receipt: payload, signature } as object as Receipt
}

function receiptsOf(...receipts: readonly Receipt[]): (txnId: string) => Promise<Receipt> {
  return (txnId) => {
    const found = receipts.find((one) => one.receipt.txn_id === txnId)
    return found === undefined ? Promise.reject(new Error(`no receipt of ${txnId}`)) : Promise.resolve(found)
  }
}

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

  test.for([
    ['account', { accountId: 'other' }],
    ['token', { tokenId: 'OTHER' }],
    ['beginning', { from: '2020-01-01' }],
    ['end', { to: '2020-01-01' }],
  ] as const)('does not verify with another %s', async ([, other]) => {
    const found = await statementFinding([statement], keySet, true, { ...asked, ...other })
    expect(found).toMatchObject({ outcome: 'tampered' })
  })
})

describe('the owners of an NFT', () => {
  const nft = { class_id: 'cls', instance_id: 'one' }
  const entry = (from: string | null, to: string, txn_id: string): OwnershipEntry => ({
    from,
    to,
    txn_id,
    type: from === null ? 'mint' : 'transfer',
    timestamp: '',
  })
  const history = [entry(null, 'alice', 't1'), entry('alice', 'bob', 't2')]
  const claim = { classId: 'cls', instanceId: 'one', owner: 'bob', status: 'active', history } as const
  const mint = signedReceipt({ ...nft, txn_id: 't1', type: 'mint' })
  const transfer = signedReceipt({ ...nft, txn_id: 't2', type: 'transfer', to_account_id: 'bob' })

  test('verify if a receipt proves each change', async () => {
    expect(await ownershipFinding(claim, ownKeys, receiptsOf(mint, transfer))).toMatchObject({
      outcome: 'verified',
      proved: expect.arrayContaining(['alice gave it to bob.']),
    })
  })

  test.for([
    ['the owner', { ...claim, owner: 'carol' }, transfer, 'The owner: the history ends with bob'],
    [
      'a sender',
      { ...claim, history: [history[0], entry('carol', 'bob', 't2')] },
      transfer,
      'its sender is not the owner',
    ],
    [
      'a receiver',
      claim,
      signedReceipt({ ...nft, txn_id: 't2', type: 'transfer', to_account_id: 'eve' }),
      'another receiver',
    ],
    ['the NFT', claim, signedReceipt({ ...nft, instance_id: 'two', txn_id: 't2', type: 'transfer' }), 'of another NFT'],
    [
      'an outcome',
      claim,
      signedReceipt({ ...nft, txn_id: 't2', type: 'transfer', status: 'failed' }),
      'transaction failed',
    ],
    ['a type', claim, signedReceipt({ ...nft, txn_id: 't2', type: 'mint' }), 'its receipt is of a mint'],
    ['its status', { ...claim, status: 'burned' }, transfer, 'The status: the page shows burned'],
    [
      'the first owner',
      { ...claim, history: [entry(null, 'carol', 't1'), entry('carol', 'bob', 't2')] },
      transfer,
      'Entry 1 of the history (t1): its receipt names another receiver',
    ],
    ['a signature', claim, { ...transfer, signature: mint.signature }, 'signature does not verify'],
  ] as const)('are found to be changed by %s', async ([, changed, other, problem]) => {
    const given = { ...changed, history: changed.history as readonly OwnershipEntry[] }
    expect(await ownershipFinding(given, ownKeys, receiptsOf(mint, other))).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining(problem),
    })
  })
})

describe('a burned NFT', () => {
  const nft = { class_id: 'cls', instance_id: 'one' }
  const history: readonly OwnershipEntry[] = [
    { from: null, to: 'alice', txn_id: 't1', type: 'mint', timestamp: '' },
    { from: 'alice', to: 'alice', txn_id: 't2', type: 'burn', timestamp: '' },
  ]
  const claim = { classId: 'cls', instanceId: 'one', owner: 'alice', history }
  const receipts = receiptsOf(
    signedReceipt({ ...nft, txn_id: 't1', type: 'mint' }),
    signedReceipt({ ...nft, txn_id: 't2', type: 'burn' }),
  )

  test('verifies as burned, and not as active', async () => {
    expect(await ownershipFinding({ ...claim, status: 'burned' }, ownKeys, receipts)).toMatchObject({
      outcome: 'verified',
      proved: expect.arrayContaining(['alice burned it.']),
    })
    expect(await ownershipFinding({ ...claim, status: 'active' }, ownKeys, receipts)).toMatchObject({
      outcome: 'tampered',
      problem: expect.stringContaining('The status'),
    })
  })
})

describe('the legs of a group', () => {
  const leg: GroupLeg = {
    account_id: 'alice',
    type: 'debit',
    amount: '5',
    token_id: 'GOLD',
    leg_status: 'completed',
    txn_id: 't1',
  }
  const group = { group_id: 'g', expected_legs: 1, legs: [leg] } as object as SettlementGroup
  const signedLeg = signedReceipt({ txn_id: 't1', type: 'debit', amount: '5', token_id: 'GOLD', group_id: 'g' })

  test('verify by their receipts', async () => {
    expect(await groupFinding(group, ownKeys, receiptsOf(signedLeg))).toMatchObject({ outcome: 'verified' })
  })

  test('are tampered with if one differs from its receipt', async () => {
    const changed = { ...group, legs: [{ ...leg, amount: '6' }] }
    expect(await groupFinding(changed, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      outcome: 'tampered',
      problem: 'Leg 1 (t1): its amount is not that of its receipt.',
    })
    expect(await groupFinding({ ...group, group_id: 'h' }, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      problem: expect.stringContaining('its group'),
    })
  })

  test('are tampered with if one failed and the page shows it as completed', async () => {
    const failed = signedReceipt({ ...signedLeg.receipt, status: 'failed' } as object as JsonObject)
    expect(await groupFinding(group, ownKeys, receiptsOf(failed))).toMatchObject({
      outcome: 'tampered',
      problem: 'Leg 1 (t1): its status is not that of its receipt.',
    })
    const shown = { ...group, legs: [{ ...leg, leg_status: 'failed' as const }] }
    expect(await groupFinding(shown, ownKeys, receiptsOf(failed))).toMatchObject({ outcome: 'verified' })
  })

  test('say how many of them have a receipt', async () => {
    const { txn_id: _, ...open } = leg
    const half = { ...group, expected_legs: 3, legs: [leg, { ...open, leg_status: 'expected' as const }] }
    expect(await groupFinding(half, ownKeys, receiptsOf(signedLeg))).toMatchObject({
      outcome: 'verified',
      proved: expect.arrayContaining(['Receipts prove 1 of 3 legs.']),
      unproved: expect.arrayContaining([
        expect.stringContaining('Leg 2:'),
        expect.stringContaining('1 more legs'),
        expect.stringContaining('hash of the terms'),
      ]),
    })
  })

  test('prove nothing while none is final', async () => {
    const { txn_id: _, ...open } = leg
    const waiting = { ...group, legs: [{ ...open, leg_status: 'expected' as const }] }
    expect(await groupFinding(waiting, ownKeys, receiptsOf())).toMatchObject({ outcome: 'unproved' })
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
