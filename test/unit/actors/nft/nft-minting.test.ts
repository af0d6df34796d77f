/** The issuer orders a mint and the instance's home decides it: the mint completes as a whole or fails (B1, B2, O1). */
import { beforeEach, describe, expect, test } from 'vitest'
import { Holds } from '../../../../actors/account/holds.ts'
import { type Hold, holdId } from '../../../../actors/account/state.ts'
import { MAX_MINTS_UNDER_WAY, MAX_PENDING } from '../../../../actors/account/submission.ts'
import { MAX_ASSETS } from '../../../../actors/account/turn.ts'
import { accountAddress } from '../../../../actors/address.ts'
import { GENESIS } from '../../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import { receiptOf } from '../../../../actors/account/receipt.ts'
import { FORGED, LEDGER_ID } from '../../../model/mini-ledger.ts'
import { codeOf, handing, type Mint, World } from '../../../model/mini-clients.ts'
import { KEY, mintCommand } from '../../../support/accounts.ts'
import { burning, offering } from './gems.ts'

let ledger: World
let classId: string

/** Ann is the issuer. */
beforeEach(() => {
  ledger = new World()
  ledger.open('ann', 'bob')
  classId = ledger.classOf('ann')
})

function ruby(fields: Partial<Mint> = {}): Mint {
  return { accountId: 'ann', classId, instanceId: 'ruby', ...fields }
}

function id(instanceId = 'ruby'): string {
  return `${classId}/${instanceId}`
}

/** The answer to a mint of which nothing has been delivered. */
function begun(fields: Partial<Mint> = {}) {
  return ledger.ask(accountAddress('ann'), mintCommand(ruby(fields)))
}

function onlyTransactionOf(accountId: string) {
  const [first, ...others] = [...ledger.transactions.values()].filter((known) => known.accountId === accountId)
  if (first === undefined || others.length > 0) throw new Error(`${accountId} has not one transaction.`)
  return first
}

describe('a mint', () => {
  test('to the issuer makes one entry, one transaction and one entry of the history', () => {
    const metadata = { color: 'red', weight: 1.5 }
    const answer = ledger.mint(ruby({ metadata }))
    const { txnId, payloadHash, ...transaction } = onlyTransactionOf('ann')
    const instance = { classId, instanceId: 'ruby', owner: 'ann', status: 'active', metadata }
    expect(ledger.nftSeen(id())).toMatchObject(instance)
    const shown = { instance: ledger.nftSeen(id()), txnId, payloadHash }
    expect(answer).toEqual({ kind: 'minted', ...shown, replayed: false, mismatch: false })
    expect(transaction).toMatchObject({
      type: 'mint',
      amount: '1',
      tokenId: id(),
      status: 'completed',
      origin: 'client',
      groupId: null,
      metadata: null,
      toAccountId: null,
      fromAccountId: null,
      counterTxnId: null,
      sequence: 1,
      keyId: KEY.keyId,
    })
    expect(ledger.account('ann')).toMatchObject({ sequence: 1, completedCount: 1, failedCount: 0 })
    expect(ledger.counts('ann')).toEqual({ owned: 1, promised: 0 })
    expect(ledger.nftEvents.get(id())).toMatchObject([
      { number: 0, type: 'mint', from: null, to: 'ann', txnId, previousHash: GENESIS },
    ])
  })

  test('to another account makes two entries and two transactions that name each other', () => {
    ledger.mint(ruby({ owner: 'bob', metadata: { color: 'red' } }))
    const [anns, bobs] = [onlyTransactionOf('ann'), onlyTransactionOf('bob')]
    expect(anns).toMatchObject({ type: 'mint', toAccountId: 'bob', counterTxnId: bobs.txnId, status: 'completed' })
    expect(bobs).toMatchObject({
      type: 'credit',
      amount: '1',
      tokenId: id(),
      fromAccountId: 'ann',
      counterTxnId: anns.txnId,
      origin: 'ledger',
      status: 'completed',
      metadata: null,
      groupId: null,
    })
    expect([ledger.counts('ann'), ledger.counts('bob')]).toEqual([
      { owned: 0, promised: 0 },
      { owned: 1, promised: 0 },
    ])
    expect(ledger.ownersOf(id())).toEqual([['mint', 'bob']])
    expect(ledger.nftSeen(id())?.owner).toBe('bob')
  })

  test('has its class and instance in entries and receipts, and no token or balance', () => {
    ledger.mint(ruby({ owner: 'bob' }))
    for (const accountId of ['ann', 'bob']) {
      const entry = ledger.lastEntry(accountId) as JsonObject
      const receipt = receiptOf(onlyTransactionOf(accountId), LEDGER_ID, 'receipt-key')
      for (const shown of [entry, receipt]) {
        expect(shown).toMatchObject({ class_id: classId, instance_id: 'ruby', amount: '1' })
        for (const member of ['token_id', 'balance', 'incoming']) expect(shown).not.toHaveProperty(member)
        expect(JSON.stringify(shown)).not.toContain(id())
      }
      expect(canonicalJson(entry)).toBe(ledger.entries.get(accountId)?.at(-1)?.payload)
    }
  })

  test('B2: is invisible until it is decided', () => {
    expect(begun({ owner: 'bob' })).toBe('deferred')
    while (ledger.deliver()) {
      const done = ledger.undelivered().length === 0
      expect(ledger.nftSeen(id()) === undefined).toBe(ledger.instance(id())?.status !== 'active')
      expect([...ledger.transactions.values()].some(({ accountId }) => accountId === 'ann')).toBe(done)
      expect(ledger.account('ann')).toMatchObject({ sequence: done ? 1 : 0, completedCount: done ? 1 : 0 })
    }
    expect(ledger.nftSeen(id())).toBeDefined()
  })

  test('completes although its account is frozen after the order', () => {
    begun()
    ledger.change('ann', { status: 'frozen' })
    ledger.drain()
    expect(ledger.nftSeen(id())?.owner).toBe('ann')
  })

  test('is listed under the time of its order; it was minted when its owner had accepted it, as its history says', () => {
    const before = ledger.nowMs
    begun({ owner: 'bob' })
    ledger.nowMs += 5_000
    ledger.drain()
    const { createdAtMs, processedAtMs } = onlyTransactionOf('ann')
    expect(createdAtMs).toBe(before + 1)
    expect(processedAtMs).toBeGreaterThan(before + 5_000)
    const { atMs } = ledger.nftEvents.get(id())?.[0] ?? {}
    expect(atMs).toBeGreaterThan(before + 5_000)
    expect(ledger.instance(id())).toMatchObject({ mintedAtMs: atMs, acquiredAtMs: atMs })
  })
})

describe('a mint is refused', () => {
  /** Everything is wrong; each change puts the first thing right that is wrong still. */
  const REMEDIES: readonly (readonly [string, string | null, (fields: Mint) => Mint])[] = [
    ['account_not_found', null, (fields) => ({ ...fields, accountId: 'new' })],
    ['account_keyless', null, (fields) => ({ ...fields, accountId: 'bob' })],
    ['signature_mismatch', null, (fields) => ({ ...fields, signature: 'signature' })],
    ['wrong_ledger', 'ledger_id', (fields) => ({ ...fields, ledgerId: LEDGER_ID })],
    ['class_not_found', 'class_id', (fields) => ({ ...fields, classId, metadataVerdict: 'unchecked' })],
    ['not_issuer', null, (fields) => ({ ...fields, accountId: 'ann' })],
    ['metadata_unchecked', null, (fields) => ({ ...fields, metadataVerdict: 'invalid' })],
    ['metadata_invalid', 'metadata', (fields) => ({ ...fields, metadataVerdict: 'valid' })],
    ['owner_not_found', 'owner', (fields) => ({ ...fields, owner: 'ann' })],
    ['account_not_active', null, (fields) => (ledger.change('ann', { status: 'active' }), fields)],
  ]

  test('in the order of D7, for one thing at a time, naming its field, and each time nothing has happened', () => {
    ledger.classify({ name: 'Deeds', issuer: 'new' })
    ledger.change('ann', { status: 'frozen' })
    let fields: Mint = {
      accountId: 'unknown',
      classId: 'cls_00000000000000000000000000',
      instanceId: 'ruby',
      owner: 'ghost',
      ledgerId: 'another',
      signature: FORGED,
      metadataVerdict: 'invalid',
      idempotencyKey: 'once',
    }
    for (const [code, field, remedy] of REMEDIES) {
      const before = [...ledger.states]
      expect(ledger.mint(fields)).toMatchObject({ code, ...(field === null ? undefined : { field }) })
      expect([code, [...ledger.states], ledger.undelivered()]).toEqual([code, before, []])
      fields = remedy(fields)
    }
    expect(ledger.transactions.size).toBe(0)
    expect(ledger.mint(fields)).toMatchObject({ kind: 'minted', replayed: false })
  })

  test('in production where it does not say for which ledger it is', () => {
    ledger = new World({ production: true })
    ledger.open('ann')
    classId = ledger.classOf('ann')
    expect(codeOf(ledger.mint(ruby()))).toBe('wrong_ledger')
    expect(ledger.mint(ruby({ ledgerId: LEDGER_ID })).kind).toBe('minted')
  })

  test.for([
    [MAX_MINTS_UNDER_WAY, 'mints', mintHold],
    [MAX_PENDING, 'things', issueHold],
  ] as const)('by an account that has %i %s undecided, and not by one that has one less', ([most, , holdOf]) => {
    const fill = (count: number): void => {
      const holds = Array.from({ length: count }, (_, index) => holdOf(`fill-${index}`))
      const named = Holds.of(holds.map((hold) => [holdId(hold), hold]))
      ledger.states.set('ann', { ...ledger.account('ann'), holds: named })
    }
    fill(most)
    expect(begun()).toMatchObject({ kind: 'refused', code: 'pending_limit' })
    fill(most - 1)
    expect(begun()).toBe('deferred')
  })

  function mintHold(idempotencyKey: string): Hold {
    begun({ instanceId: 'opal', idempotencyKey: 'opal' })
    const [hold] = ledger.account('ann').holds.values()
    if (hold?.kind !== 'mint') throw new Error('Nothing is being minted.')
    return { ...hold, idempotencyKey }
  }

  function issueHold(tokenId: string): Hold {
    return { kind: 'issue', tokenId, totalSupply: '0' }
  }
})

describe('an instance that exists', () => {
  const STAGES: readonly (readonly [string, () => unknown])[] = [
    ['is being minted', () => begun()],
    ['is active', () => ledger.minted(ruby())],
    ['is held', () => (ledger.minted(ruby()), ledger.settled(offering(id(), 'ann', 'bob')))],
    ['is another’s', () => (ledger.minted(ruby()), ledger.settled(handing(id(), 'ann', 'bob')))],
    ['was burned', () => (ledger.minted(ruby()), ledger.settled(burning(id(), 'ann')))],
  ]

  test.for(STAGES)('and %s is not minted again', ([, make]) => {
    make()
    const again = ledger.mint(ruby({ metadata: { second: true }, owner: 'bob' }))
    expect(again).toMatchObject({ kind: 'refused', code: 'instance_exists', field: 'instance_id' })
    expect(ledger.instance(id())?.metadata).toEqual({})
    expect(ledger.ownersOf(id()).filter(([type]) => type === 'mint')).toEqual([['mint', 'ann']])
    expect([...ledger.transactions.values()].filter(({ type }) => type === 'mint')).toHaveLength(1)
    expect([...ledger.account('ann').holds.values()].some(({ kind }) => kind === 'mint')).toBe(false)
  })

  test('does not prevent the same instance ID in another class', () => {
    ledger.minted(ruby())
    const deeds = ledger.classOf('ann', { name: 'Deeds' })
    expect(ledger.mint(ruby({ classId: deeds })).kind).toBe('minted')
  })
})

describe('a mint that its owner refuses', () => {
  const counting = (nftCount: number) => (owner: string) =>
    void ledger.states.set(owner, { ...ledger.account(owner), nftCount })
  const wishing = (incoming: 'accept' | 'refuse') => (owner: string) => void ledger.change(owner, { incoming })

  const UNWILLING: readonly (readonly [string, string, (owner: string) => void, (owner: string) => void])[] = [
    ['refuses what comes in', 'account_refuses', wishing('refuse'), wishing('accept')],
    [`has ${MAX_ASSETS} assets`, 'asset_limit', counting(MAX_ASSETS), counting(0)],
  ]

  test.for(UNWILLING)('because it %s leaves nothing; once it would, the same key mints', ([, code, spoil, mend]) => {
    for (const owner of ['bob', 'ann']) {
      spoil(owner)
      const fields = ruby({ owner, instanceId: `for-${owner}`, idempotencyKey: `to ${owner}` })
      const { sequence, failedCount } = ledger.account(owner)
      expect(ledger.mint(fields)).toMatchObject({ kind: 'refused', code, field: 'owner' })
      expect(ledger.instance(id(`for-${owner}`))).toBe(undefined)
      expect(ledger.nftEvents.has(id(`for-${owner}`))).toBe(false)
      expect(ledger.account(owner)).toMatchObject({ sequence, failedCount, nftRoom: 0 })
      expect(ledger.account('ann').holds.size).toBe(0)
      expect(ledger.transactions.size).toBe(owner === 'bob' ? 0 : 2)
      mend(owner)
      expect(ledger.mint(fields)).toMatchObject({ kind: 'minted', replayed: false, instance: { owner } })
    }
  })

  test('because it closed after the order leaves nothing', () => {
    begun({ owner: 'bob', idempotencyKey: 'once' })
    ledger.change('bob', { status: 'closed' })
    ledger.drain()
    expect(ledger.concluded.get('ann mint once')).toMatchObject({ code: 'account_closed', field: 'owner' })
    expect(ledger.instance(id())).toBe(undefined)
    expect(ledger.transactions.size).toBe(0)
    expect(ledger.account('ann').holds.size).toBe(0)
  })
})
