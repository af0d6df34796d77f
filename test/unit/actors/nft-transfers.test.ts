/** Goal: an NFT goes from hand to hand like value does: both sides have it in their chains, or neither; and one owner has it (F1, F2, O2, O3). */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Submission } from '../../../actors/account/commands.ts'
import { chainHash } from '../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import {
  change,
  classOf,
  codeOf,
  counts,
  GROUP,
  handing,
  lastEntry,
  mint,
  minted,
  nftSeen,
  open,
  ownersOf,
  settled,
  submit,
} from '../../model/mini-clients.ts'
import { MiniLedger } from '../../model/mini-ledger.ts'

let ledger: MiniLedger
let classId: string
let ruby: string

/** Ann issues, and has a ruby. */
beforeEach(() => {
  ledger = new MiniLedger()
  open(ledger, 'ann', 'bob', 'cid')
  classId = classOf(ledger, 'ann')
  ruby = minted(ledger, { accountId: 'ann', classId, instanceId: 'ruby' })
})

function burning(id: string, accountId: string): Partial<Submission> & Pick<Submission, 'accountId'> {
  return { accountId, type: 'burn', amount: '1', tokenId: id }
}

/** Whose the ruby is, with nothing on its way. */
function expectFreeAt(owner: string): void {
  expect(nftSeen(ledger, ruby)).toMatchObject({ owner, status: 'active' })
  expect(ledger.undelivered()).toEqual([])
  for (const name of ['ann', 'bob', 'cid']) {
    expect([name, counts(ledger, name)]).toEqual([name, { owned: name === owner ? 1 : 0, promised: 0 }])
    expect(ledger.account(name).holds.size).toBe(0)
  }
}

describe('a transfer', () => {
  test('is one entry and one transaction on each side, under one group ID, each naming the other', () => {
    const metadata = { note: 'for you' }
    const sent = settled(ledger, { ...handing(ruby, 'ann', 'bob'), metadata })
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
    const asset = { class_id: classId, instance_id: 'ruby', amount: '1', group_id: sent.groupId, metadata }
    expect(lastEntry(ledger, 'ann')).toMatchObject({ ...asset, type: 'transfer', counter_txn_id: received.txnId })
    expect(lastEntry(ledger, 'bob')).toMatchObject({ ...asset, type: 'credit', counter_txn_id: sent.txnId })
    expect(ownersOf(ledger, ruby)).toEqual([
      ['mint', 'ann'],
      ['transfer', 'bob'],
    ])
    expectFreeAt('bob')
  })

  test('F1: is its sender’s, held, until its receiver has it in its chain; and only then is it said to be done', () => {
    const txnId = submit(ledger, handing(ruby, 'ann', 'bob'))
    const seen: string[] = []
    do {
      const { owner, status } = nftSeen(ledger, ruby) ?? { owner: 'nobody', status: 'none' }
      const entered = ledger.entries.get('bob')?.length === 2
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

  test('F2: is counted by its receiver from its acceptance on, which then cannot be closed', () => {
    submit(ledger, handing(ruby, 'ann', 'bob'))
    ledger.deliver()
    ledger.deliver()
    expect(counts(ledger, 'bob').owned).toBe(1)
    expect(codeOf(change(ledger, 'bob', { status: 'closed' }))).toBe('account_not_empty')
    expect(codeOf(change(ledger, 'ann', { status: 'closed' }))).toBe('account_not_empty')
    ledger.drain()
    expect(change(ledger, 'ann', { status: 'closed' }).kind).toBe('status_changed')
  })

  test('may be passed on at once by its new owner, before the old one has heard that it is gone', () => {
    const anns = submit(ledger, handing(ruby, 'ann', 'bob'))
    for (let count = 0; count < 3; count += 1) ledger.deliver()
    expect(nftSeen(ledger, ruby)?.owner).toBe('bob')
    const bobs = submit(ledger, handing(ruby, 'bob', 'cid'))
    const home = `instance ${ruby}`
    for (const [from, to] of [
      ['bob', home],
      [home, 'cid'],
      ['cid', home],
      [home, 'bob'],
    ] as const) {
      expect(ledger.deliverFrom(from, to)).toBe(true)
      expect(ledger.transaction(anns).status).toBe('pending')
    }
    expect(ledger.transaction(bobs).status).toBe('completed')
    expect(ledger.deliverFrom(home, 'ann')).toBe(true)
    expect(ledger.transaction(anns).status).toBe('completed')
    expectFreeAt('cid')
  })

  test('to a frozen account arrives', () => {
    change(ledger, 'bob', { status: 'frozen' })
    expect(settled(ledger, handing(ruby, 'ann', 'bob')).status).toBe('completed')
  })
})

describe('a transfer fails', () => {
  function expectFails(fields: Parameters<typeof settled>[1], code: string): void {
    const { sequence, failedCount } = ledger.account(fields.accountId)
    expect(settled(ledger, fields)).toMatchObject({ status: 'failed', failure: { code }, auditHash: null })
    expect(ledger.account(fields.accountId)).toMatchObject({ sequence, failedCount: failedCount + 1 })
  }

  test('not_owner: by whoever does not own it, its issuer and its former owner among them', () => {
    expectFails(handing(ruby, 'cid', 'bob'), 'not_owner')
    expectFreeAt('ann')
    settled(ledger, handing(ruby, 'ann', 'bob'))
    expectFails(handing(ruby, 'ann', 'cid'), 'not_owner')
    expectFails(burning(ruby, 'ann'), 'not_owner')
    expectFreeAt('bob')
  })

  test('held: by its owner while another order has it; who does not own it is told only that', () => {
    const first = submit(ledger, handing(ruby, 'ann', 'bob'))
    const orders = [
      submit(ledger, handing(ruby, 'ann', 'cid')),
      submit(ledger, burning(ruby, 'ann')),
      submit(ledger, handing(ruby, 'cid', 'bob')),
      submit(ledger, burning(ruby, 'bob')),
    ]
    ledger.drain()
    expect(ledger.transaction(first).status).toBe('completed')
    // The receiver's order was heard before it was the owner.
    expect(orders.map((txnId) => ledger.transaction(txnId).failure?.code)).toEqual([
      'held',
      'held',
      'not_owner',
      'not_owner',
    ])
    expectFreeAt('bob')
  })

  test('expired: when the receiver looks after its time; not when it has looked before', () => {
    const late = submit(ledger, { ...handing(ruby, 'ann', 'bob'), expiresAtMs: ledger.nowMs + 100 })
    ledger.deliver()
    ledger.nowMs += 1_000
    ledger.drain()
    expect(ledger.transaction(late)).toMatchObject({ status: 'failed', failure: { code: 'expired' } })
    expectFreeAt('ann')
    const early = submit(ledger, { ...handing(ruby, 'ann', 'bob'), expiresAtMs: ledger.nowMs + 100 })
    ledger.deliver()
    ledger.deliver()
    ledger.nowMs += 1_000
    ledger.drain()
    expect(ledger.transaction(early).status).toBe('completed')
    expectFreeAt('bob')
  })

  test('expired: at the very moment, and not a millisecond before', () => {
    for (const [lastsMs, status] of [
      [2, 'failed'],
      [3, 'completed'],
    ] as const) {
      // Each step takes a millisecond: the submission one, the instance one, the receiver one.
      const fields = { ...handing(ruby, 'ann', 'bob'), expiresAtMs: ledger.nowMs + 1 + lastsMs }
      expect(settled(ledger, fields).status).toBe(status)
    }
  })

  test('incoming_refused, account_closed: because its receiver would not have it, and it stays where it is', () => {
    change(ledger, 'bob', { incoming: 'refuse' })
    expectFails(handing(ruby, 'ann', 'bob'), 'incoming_refused')
    expectFreeAt('ann')
    change(ledger, 'bob', { status: 'closed' })
    expectFails(handing(ruby, 'ann', 'bob'), 'account_closed')
    expectFreeAt('ann')
    expect(ledger.entries.get('bob')).toHaveLength(3)
  })

  test('account_frozen: at once, by a frozen owner, and its home hears nothing of it', () => {
    change(ledger, 'ann', { status: 'frozen' })
    for (const fields of [handing(ruby, 'ann', 'bob'), burning(ruby, 'ann')]) {
      const txnId = submit(ledger, fields)
      expect(ledger.transaction(txnId)).toMatchObject({ status: 'failed', failure: { code: 'account_frozen' } })
      expect(ledger.undelivered()).toEqual([])
    }
    expectFreeAt('ann')
  })

  test('not when its owner is frozen after it was entered', () => {
    const txnId = submit(ledger, handing(ruby, 'ann', 'bob'))
    change(ledger, 'ann', { status: 'frozen' })
    ledger.drain()
    expect(ledger.transaction(txnId).status).toBe('completed')
  })
})

describe('a history', () => {
  test('O3: each entry’s hash covers the one before, and its payload says all that is shown', () => {
    settled(ledger, handing(ruby, 'ann', 'bob'))
    settled(ledger, handing(ruby, 'bob', 'cid'))
    settled(ledger, burning(ruby, 'cid'))
    const events = ledger.nftEvents.get(ruby) ?? []
    expect(ownersOf(ledger, ruby)).toEqual([
      ['mint', 'ann'],
      ['transfer', 'bob'],
      ['transfer', 'cid'],
      ['burn', 'cid'],
    ])
    for (const [number, { type, from, to, txnId, atMs, previousHash, eventHash, payload }] of events.entries()) {
      expect(eventHash).toBe(chainHash(previousHash, payload))
      expect(previousHash).toBe(events[number - 1]?.eventHash ?? '0'.repeat(64))
      const shown = JSON.parse(payload) as JsonObject
      expect(shown).toMatchObject({ class_id: classId, instance_id: 'ruby', format: 1, number, type, from, to })
      expect(shown).toMatchObject({ txn_id: txnId, timestamp: new Date(atMs).toISOString() })
      expect(shown['salt']).toMatch(/^[0-9a-f]{32}$/)
      expect(canonicalJson(shown)).toBe(payload)
      expect(ledger.transaction(txnId).tokenId).toBe(ruby)
    }
    expect(ledger.instance(ruby)).toMatchObject({ events: 4, tip: events.at(-1)?.eventHash })
  })

  test('A4: time never goes back in it, whatever the clocks of its homes say', () => {
    for (const [from, to] of [
      ['ann', 'bob'],
      ['bob', 'cid'],
      ['cid', 'ann'],
    ] as const) {
      ledger.nowMs -= 60_000
      settled(ledger, handing(ruby, from, to))
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
    settled(ledger, handing(ruby, 'ann', 'bob'))
    const { acquiredAtMs } = ledger.instance(ruby) ?? { acquiredAtMs: 0 }
    expect(acquiredAtMs).toBe(ledger.nftEvents.get(ruby)?.[1]?.atMs)
    expect(ledger.instance(ruby)?.mintedAtMs).toBe(mintedAtMs)
    change(ledger, 'cid', { incoming: 'refuse' })
    settled(ledger, handing(ruby, 'bob', 'cid'))
    expect(ledger.instance(ruby)?.acquiredAtMs).toBe(acquiredAtMs)
  })
})

describe('a burn', () => {
  test('D11: ends it: it is readable, with its last owner, and counted by nobody', () => {
    settled(ledger, handing(ruby, 'ann', 'bob'))
    const burned = settled(ledger, burning(ruby, 'bob'))
    expect(burned).toMatchObject({ status: 'completed', type: 'burn', amount: '1', toAccountId: null })
    expect(nftSeen(ledger, ruby)).toMatchObject({ owner: 'bob', status: 'burned' })
    expect(ledger.nftEvents.get(ruby)?.at(-1)).toMatchObject({ type: 'burn', from: 'bob', to: 'bob' })
    expect(counts(ledger, 'bob')).toEqual({ owned: 0, promised: 0 })
    expect(lastEntry(ledger, 'bob')).toMatchObject({ type: 'burn', class_id: classId, instance_id: 'ruby' })
    expect(change(ledger, 'bob', { status: 'closed' }).kind).toBe('status_changed')
  })

  test('is done before it is said: while it is under way another order finds it burned', () => {
    const first = submit(ledger, burning(ruby, 'ann'))
    const second = submit(ledger, burning(ruby, 'ann'))
    ledger.deliver()
    expect([nftSeen(ledger, ruby)?.status, ledger.transaction(first).status]).toEqual(['burned', 'pending'])
    ledger.drain()
    expect(ledger.transaction(first).status).toBe('completed')
    expect(ledger.transaction(second).failure?.code).toBe('not_owner')
  })

  test('of what is burned, and everything else that is asked of it, fails with not_owner', () => {
    settled(ledger, burning(ruby, 'ann'))
    const before = ledger.instance(ruby)
    const exchange = { type: 'exchange', groupId: GROUP, receive: { tokenId: 'BASE', amount: '1' } } as const
    for (const fields of [
      burning(ruby, 'ann'),
      handing(ruby, 'ann', 'bob'),
      { ...handing(ruby, 'ann', 'bob'), ...exchange },
      handing(ruby, 'bob', 'ann'),
    ]) {
      expect(settled(ledger, fields).failure?.code).toBe('not_owner')
    }
    expect(ledger.instance(ruby)).toEqual(before)
    expect(codeOf(mint(ledger, { accountId: 'ann', classId, instanceId: 'ruby' }))).toBe('instance_exists')
  })
})
