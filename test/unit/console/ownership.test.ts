/** The owners of an NFT: each change has its receipt, and another history is found out. */
import { describe, expect, test } from 'vitest'
import type { OwnershipEntry } from '../../../api/client/index.ts'
import { ownershipFinding } from '../../../api/console/proofs/ownership-finding.ts'
import { ownKeys, receiptsOf, signedReceipt } from './signed-receipts.ts'

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

describe('an exchange of an NFT', () => {
  const nft = { class_id: 'cls', instance_id: 'one' }
  const [given, brought] = [
    { ...nft, amount: '1' },
    { token_id: 'GOLD', amount: '5' },
  ]
  const history: readonly OwnershipEntry[] = [
    { from: null, to: 'alice', txn_id: 't1', type: 'mint', timestamp: '' },
    { from: 'alice', to: 'bob', txn_id: 't2', type: 'transfer', timestamp: '' },
  ]
  const claim = { classId: 'cls', instanceId: 'one', owner: 'bob', status: 'active', history } as const
  const mint = signedReceipt({ ...nft, txn_id: 't1', type: 'mint' })
  const order = { txn_id: 't2', type: 'exchange' }

  test.for([
    ['of its giver', { ...given, account_id: 'alice', to_account_id: 'bob', receive: brought }],
    ['of its receiver', { ...brought, account_id: 'bob', to_account_id: 'alice', receive: given }],
  ] as const)('is proved by the receipt %s', async ([, parts]) => {
    const receipts = receiptsOf(mint, signedReceipt({ ...order, ...parts }))
    expect(await ownershipFinding(claim, ownKeys, receipts)).toMatchObject({ outcome: 'verified' })
  })

  test.for([
    ['receiver', { ...given, account_id: 'alice', to_account_id: 'eve', receive: brought }, 'another receiver'],
    ['known receiver', { ...given, account_id: 'alice', receive: brought }, 'another receiver'],
    ['sender', { ...brought, account_id: 'bob', to_account_id: 'eve', receive: given }, 'not name this sender'],
    ['known sender', { ...brought, account_id: 'bob', receive: given }, 'not name this sender'],
  ] as const)('is not proved by a receipt without this %s', async ([, parts, problem]) => {
    const receipts = receiptsOf(mint, signedReceipt({ ...order, ...parts }))
    expect(await ownershipFinding(claim, ownKeys, receipts)).toMatchObject({
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
