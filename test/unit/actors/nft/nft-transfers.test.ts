/** A transfer of an NFT is in both chains or in neither, and the NFT always has one owner (F1, F2, O2, O3). */
import { beforeEach, describe, expect, test } from 'vitest'
import { chainHash } from '../../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import { codeOf, handing, type World } from '../../../model/mini-clients.ts'
import { stepAccount } from '../../../support/accounts.ts'
import { OF_ACCOUNT, STAMP } from '../../../support/arriving-accounts.ts'
import { burning, expectAtRest, Gems } from './gems.ts'

let gems: Gems
let ledger: World
let ruby: string

beforeEach(() => {
  gems = new Gems()
  ;({ ledger, ruby } = gems)
})

describe('a transfer', () => {
  test('is one entry and one transaction on each side, under one group ID, each naming the other', () => {
    const metadata = { note: 'for you' }
    const sent = ledger.settled({ ...handing(ruby, 'ann', 'bob'), metadata })
    const received = ledger.transaction(sent.counterTxnId ?? '')
    expect(sent).toMatchObject({ status: 'completed', toAccountId: 'bob', origin: 'client', metadata })
    expect(sent.groupId).toMatch(/^[0-9a-f-]{36}$/)
    expect(received).toMatchObject({
      accountId: 'bob',
      type: 'credit',
      amount: '1',
      tokenId: ruby,
      status: 'completed',
      origin: 'ledger',
      groupId: sent.groupId,
      fromAccountId: 'ann',
      counterTxnId: sent.txnId,
      compensates: null,
      metadata,
    })
    const asset = { class_id: gems.classId, instance_id: 'ruby', amount: '1', group_id: sent.groupId, metadata }
    expect(ledger.lastEntry('ann')).toMatchObject({ ...asset, type: 'transfer', counter_txn_id: received.txnId })
    expect(ledger.lastEntry('bob')).toMatchObject({ ...asset, type: 'credit', counter_txn_id: sent.txnId })
    expect(ledger.ownersOf(ruby)).toEqual([
      ['mint', 'ann'],
      ['transfer', 'bob'],
    ])
    expectAtRest(gems, 'bob')
  })

  test('F1: is its sender’s, held, until its receiver has it in its chain; and only then is it said to be done', () => {
    const txnId = ledger.submit(handing(ruby, 'ann', 'bob'))
    const seen: string[] = []
    do {
      const { owner, status } = ledger.nftSeen(ruby) ?? { owner: 'unknown', status: 'none' }
      const entered = ledger.entries.get('bob')?.length === 4
      seen.push(
        `${status} ${owner}, bob has ${entered ? 'it' : 'nothing'}, ann’s is ${ledger.transaction(txnId).status}`,
      )
    } while (ledger.deliver())
    expect(seen).toEqual([
      'active ann, bob has nothing, ann’s is pending',
      'held ann, bob has nothing, ann’s is pending',
      'held ann, bob has it, ann’s is pending',
      'active bob, bob has it, ann’s is pending',
      'active bob, bob has it, ann’s is completed',
    ])
  })

  test('F2: counts at its receiver from acceptance, and keeps the receiver from closing', () => {
    ledger.submit(handing(ruby, 'ann', 'cid'))
    ledger.deliver()
    ledger.deliver()
    expect(ledger.counts('cid').owned).toBe(1)
    expect(codeOf(ledger.change('cid', { status: 'closed' }))).toBe('account_not_empty')
    expect(codeOf(ledger.change('ann', { status: 'closed' }))).toBe('account_not_empty')
    ledger.drain()
    expect(ledger.change('ann', { status: 'closed' }).kind).toBe('status_changed')
  })

  // Each step takes a millisecond: the submission one, the instance one, the receiver one.
  test.for<[string, () => unknown, number]>([
    ['to a frozen account', () => ledger.change('cid', { status: 'frozen' }), 60_000],
    ['of an owner that is frozen after it was entered', () => ledger.change('ann', { status: 'frozen' }), 60_000],
    ['that its receiver sees a millisecond before its time', () => undefined, 4],
    [
      'that its receiver has seen before its time',
      () => (ledger.deliver(), ledger.deliver(), ledger.pass(60_000)),
      100,
    ],
  ])('%s arrives', ([, meanwhile, livesMs]) => {
    const txnId = ledger.submit({ ...handing(ruby, 'ann', 'cid'), expiresAtMs: ledger.nowMs + livesMs })
    meanwhile()
    ledger.drain()
    expect(ledger.transaction(txnId).status).toBe('completed')
    expectAtRest(gems, 'cid')
  })
})

describe('a transfer fails', () => {
  // Why it fails whatever is ordered of an NFT: nft-failures.test.ts.
  test.for<[string, () => unknown, number]>([
    ['incoming_refused', () => ledger.change('cid', { incoming: 'refuse' }), 60_000],
    ['account_closed', () => ledger.change('cid', { status: 'closed' }), 60_000],
    ['expired', () => undefined, 3],
  ])('%s: because of its receiver; the owner keeps the NFT, and no chain has an entry', ([code, spoil, livesMs]) => {
    spoil()
    const lengths = () => ['ann', 'cid'].map((name) => [name, ledger.entries.get(name)?.length])
    const before = lengths()
    const failed = ledger.settled({ ...handing(ruby, 'ann', 'cid'), expiresAtMs: ledger.nowMs + livesMs })
    expect(failed).toMatchObject({ status: 'failed', failure: { code }, auditHash: null })
    expect(lengths()).toEqual(before)
    expectAtRest(gems, 'ann')
  })

  test('account_closed: to an account that does not exist', () => {
    const sent = { txnId: 'txn_1', nftId: ruby, fromAccountId: 'ann', groupId: null, metadata: null } as const
    const message = {
      ...STAMP,
      ...OF_ACCOUNT,
      ...sent,
      type: 'receive_nft',
      expiresAtMs: null,
      compensates: null,
    } as const
    const reply = { type: 'nft_received', txnId: 'txn_1', failure: { code: 'account_closed' }, counterTxnId: null }
    expect(stepAccount(null, message)).toMatchObject({ state: null, effects: [{ envelope: { message: reply } }] })
  })
})

describe('a history', () => {
  test('O3: each entry’s hash covers the one before, and its payload says all that is shown', () => {
    ledger.settled(handing(ruby, 'ann', 'bob'))
    ledger.settled(handing(ruby, 'bob', 'cid'))
    ledger.settled(burning(ruby, 'cid'))
    const events = ledger.nftEvents.get(ruby) ?? []
    expect(ledger.ownersOf(ruby)).toEqual([
      ['mint', 'ann'],
      ['transfer', 'bob'],
      ['transfer', 'cid'],
      ['burn', 'cid'],
    ])
    for (const [number, { type, from, to, txnId, atMs, previousHash, eventHash, payload }] of events.entries()) {
      expect(eventHash).toBe(chainHash(previousHash, payload))
      expect(previousHash).toBe(events[number - 1]?.eventHash ?? '0'.repeat(64))
      const shown = JSON.parse(payload) as JsonObject
      expect(shown).toMatchObject({ class_id: gems.classId, instance_id: 'ruby', format: 1, number, type, from, to })
      expect(shown).toMatchObject({ txn_id: txnId, timestamp: new Date(atMs).toISOString() })
      expect(shown['salt']).toMatch(/^[0-9a-f]{32}$/)
      expect(canonicalJson(shown)).toBe(payload)
      expect(ledger.transaction(txnId).tokenId).toBe(ruby)
    }
    expect(ledger.instance(ruby)).toMatchObject({ events: 4, tip: events.at(-1)?.eventHash })
  })

  test('A4: its times never decrease, whatever its homes’ clocks show', () => {
    for (const [from, to] of [
      ['ann', 'bob'],
      ['bob', 'cid'],
      ['cid', 'ann'],
    ] as const) {
      ledger.nowMs -= 60_000
      ledger.settled(handing(ruby, from, to))
    }
    const times = (ledger.nftEvents.get(ruby) ?? []).map(({ atMs }) => atMs)
    expect(times).toHaveLength(4)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(ledger.instance(ruby)).toMatchObject({ acquiredAtMs: times.at(-1), lastTimeMs: times.at(-1) })
    for (const name of ['ann', 'bob', 'cid']) {
      const entries = (ledger.entries.get(name) ?? []).map(({ payload }) => JSON.parse(payload) as JsonObject)
      const processed = entries.flatMap(({ processed_at: at }) => (typeof at === 'string' ? [Date.parse(at)] : []))
      expect(processed).toEqual(processed.toSorted((a, b) => a - b))
    }
  })

  test('D11: `acquired` is when it changed hands last, `minted` stays', () => {
    const { mintedAtMs } = ledger.instance(ruby) ?? {}
    ledger.nowMs += 5_000
    ledger.settled(handing(ruby, 'ann', 'bob'))
    const { acquiredAtMs } = ledger.instance(ruby) ?? { acquiredAtMs: 0 }
    expect(acquiredAtMs).toBe(ledger.nftEvents.get(ruby)?.[1]?.atMs)
    expect(ledger.instance(ruby)?.mintedAtMs).toBe(mintedAtMs)
    ledger.change('cid', { incoming: 'refuse' })
    ledger.settled(handing(ruby, 'bob', 'cid'))
    expect(ledger.instance(ruby)?.acquiredAtMs).toBe(acquiredAtMs)
  })
})

describe('a burn', () => {
  test('D11: ends it: it is readable, with its last owner, and no account counts it', () => {
    ledger.settled(handing(ruby, 'ann', 'cid'))
    const burned = ledger.settled(burning(ruby, 'cid'))
    expect(burned).toMatchObject({ status: 'completed', type: 'burn', amount: '1', toAccountId: null })
    expect(ledger.nftSeen(ruby)).toMatchObject({ owner: 'cid', status: 'burned' })
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({ type: 'burn', from: 'cid', to: 'cid' })
    expect(ledger.counts('cid')).toEqual({ owned: 0, promised: 0 })
    expect(ledger.lastEntry('cid')).toMatchObject({ type: 'burn', class_id: gems.classId, instance_id: 'ruby' })
    expect(ledger.change('cid', { status: 'closed' }).kind).toBe('status_changed')
  })

  test('is done before it is said: while it is under way another order finds it burned', () => {
    const first = ledger.submit(burning(ruby, 'ann'))
    const second = ledger.submit(burning(ruby, 'ann'))
    ledger.deliver()
    expect([ledger.nftSeen(ruby)?.status, ledger.transaction(first).status]).toEqual(['burned', 'pending'])
    ledger.drain()
    expect(ledger.transaction(first).status).toBe('completed')
    expect(ledger.transaction(second).failure?.code).toBe('not_owner')
  })
})
