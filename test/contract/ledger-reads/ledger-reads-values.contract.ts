/** The contract of every LedgerReads for moves between accounts: pending transactions, tokens, settlement groups. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { groupViewOf, type GroupState, type GroupView } from '../../../actors/group/state.ts'
import { formatQuantity, parseQuantity, ZERO } from '../../../actors/money.ts'
import { tokenViewOf } from '../../../actors/token/state.ts'
import { ROWS_START_MS } from '../../support/postgres/ledger-rows.ts'
import { groupState, tokenState } from '../../support/postgres/ledger-rows-values.ts'
import { receiptText } from '../../support/receipt-text.ts'
import { aQuery, pagesOf, receiptSignatureOf, SEED_START_MS, type Seeded, viewedBy } from './ledger-reads-scene.ts'

const LATER_MS = SEED_START_MS + 6_500

export function movingTests(seeded: () => Seeded): void {
  test('a transaction that is pending becomes final where it stands, with a receipt and a time', async () => {
    const { reads, book, write, ledgerId } = seeded()
    await write([book.pend('dave.x', { atMs: LATER_MS, type: 'transfer', amount: '0.25', toAccountId: 'bob' })])
    const pending = book.transactions.at(-1)
    const txnId = pending?.txnId ?? ''
    expect(await reads.transaction(txnId)).toMatchObject({ status: 'pending', processedAtMs: null, auditHash: null })
    expect(await reads.receipt(txnId)).toBeUndefined()
    const feed = await reads.transactions(aQuery({ order: 'asc', limit: 1_000 }))
    await write([book.finish(txnId, { atMs: LATER_MS + 1 }), book.decide('bob', { atMs: LATER_MS })])
    const place = book.transactions.length - 2
    const final = book.transactions[place]
    if (final === undefined) throw new Error('it was written')
    expect(final).toMatchObject({ txnId, status: 'completed', processedAtMs: LATER_MS + 1 })
    expect(await reads.transaction(txnId)).toEqual(viewedBy(book)(final))
    expect(await reads.receipt(txnId)).toEqual({
      payload: receiptText(final, ledgerId, 'receipt-key'),
      signature: receiptSignatureOf(final).signature,
    })
    const later = await reads.transactions(aQuery({ order: 'asc', after: feed.next }))
    expect(later.transactions.map((view) => view.txnId)).toEqual([book.transactions.at(-1)?.txnId])
    const again = await reads.transactions(aQuery({ order: 'asc', limit: 1_000 }))
    expect(again.transactions[place]?.txnId).toBe(txnId)
  })

  test('a compensated transaction names its compensation, and its receipt stays as it was', async () => {
    const { reads, book, write } = seeded()
    await write([book.decide('dave.x', { atMs: LATER_MS + 10, amount: '2' })])
    const txnId = book.transactions.at(-1)?.txnId ?? ''
    const receipt = await reads.receipt(txnId)
    expect((await reads.transaction(txnId))?.compensatedBy).toBeNull()
    await write([book.compensate(txnId, 'txn_that_undid_it')])
    expect(await reads.transaction(txnId)).toMatchObject({ status: 'completed', compensatedBy: 'txn_that_undid_it' })
    expect(await reads.receipt(txnId)).toEqual(receipt)
  })

  test('D8: once a transaction is seen final, reads that begin then show all its effects', async () => {
    const { reads, book, write } = seeded()
    await write([book.pend('dave.x', { atMs: LATER_MS + 20, type: 'transfer', amount: '0.25', toAccountId: 'bob' })])
    const txnId = book.transactions.at(-1)?.txnId ?? ''
    const { balances, sequence } = book.account('dave.x')
    const before = balances.get('BASE')?.balance ?? ZERO
    const counted = async () => (await reads.transactions(aQuery({ accountId: 'dave.x', status: 'completed' }))).count
    const completed = (await counted())?.total ?? 0
    const writing = write([book.finish(txnId, { atMs: LATER_MS + 21 })])
    let seen = await reads.transaction(txnId)
    while (seen?.status === 'pending') seen = await reads.transaction(txnId)
    const [receipt, held, account, count] = await Promise.all([
      reads.receipt(txnId),
      reads.balances('dave.x'),
      reads.account('dave.x'),
      counted(),
    ])
    await writing
    expect(receipt).toBeDefined()
    const after = book.account('dave.x').balances.get('BASE')
    expect((after?.balance ?? ZERO) + parseQuantity('0.25')).toBe(before)
    expect(held).toMatchObject([{ tokenId: 'BASE', balance: formatQuantity(after?.balance ?? ZERO) }])
    expect(held?.[0]?.available).toBe(held?.[0]?.balance)
    expect(account?.sequence).toBe(sequence + 1)
    expect(count).toEqual({ total: completed + 1, exact: true })
  })

  test('a balance shows reserved and incoming amounts and its token’s decimals', async () => {
    const { reads, book, write } = seeded()
    const [yen, gold] = [
      tokenState({ status: 'crediting', id: 'jpy', tokenId: 'Jpy', decimals: 0 }),
      tokenState({ status: 'active', id: 'gold', tokenId: 'gold', decimals: 18 }),
    ]
    const [balance, reserved] = [parseQuantity('10.50'), parseQuantity('2.25')]
    await write([
      book.put(yen),
      book.put(gold),
      book.keep('dave.x', {
        EUR: { balance, reserved, incoming: parseQuantity('0.10'), updatedAtMs: LATER_MS },
        Jpy: { incoming: parseQuantity('7'), updatedAtMs: LATER_MS + 1 },
        gold: { updatedAtMs: LATER_MS + 2 },
      }),
    ])
    const shown = { tokenClass: 'fungible', balance: '0', available: '0', incoming: '0' }
    expect((await reads.balances('dave.x'))?.slice(1)).toEqual([
      {
        ...shown,
        tokenId: 'EUR',
        balance: '10.5',
        available: '8.25',
        incoming: '0.1',
        decimals: 2,
        updatedAtMs: LATER_MS,
      },
      { ...shown, tokenId: 'Jpy', incoming: '7', decimals: 0, updatedAtMs: LATER_MS + 1 },
      { ...shown, tokenId: 'gold', decimals: 18, updatedAtMs: LATER_MS + 2 },
    ])
  })

  test('an asset of which nothing was ever moved is not held, whatever room is kept for it', async () => {
    const { reads, book, write } = seeded()
    const room = parseQuantity('5')
    await write([
      book.keep('Zoe', { EUR: { room } }),
      book.keep('erin-y', { Jpy: { room }, unregistered: { room }, EUR: { room } }),
    ])
    expect(await reads.balances('Zoe')).toEqual([])
    expect((await reads.balances('erin-y'))?.map(({ tokenId }) => tokenId)).toEqual(['BASE', 'EUR'])
  })
}

const CLIENT = 'client of the groups'

export function actorTests(seeded: () => Seeded): void {
  tokenTests(seeded)
  groupTests(seeded)

  test('the open groups of a client are counted, without other clients’ and final ones', async () => {
    const { reads, book, write } = seeded()
    expect(await reads.openGroups(CLIENT)).toBe(0)
    const open = aGroup({ status: 'open', clientId: CLIENT })
    const over = { dueAtMs: null, finishedAtMs: LATER_MS }
    await write([
      book.put(open),
      book.put(aGroup({ status: 'registering', clientId: CLIENT })),
      book.put(aGroup({ status: 'open', clientId: `${CLIENT} too` })),
      book.put(aGroup({ status: 'settled', clientId: CLIENT, ...over })),
      book.put(aGroup({ status: 'reverted', clientId: CLIENT, ...over })),
      book.put(tokenState({ id: 'of-it', tokenId: 'OF-IT', clientId: CLIENT })),
    ])
    expect(await reads.openGroups(CLIENT)).toBe(2)
    await write([book.put({ ...open, version: 2, status: 'settling', dueAtMs: null })])
    expect(await reads.openGroups(CLIENT)).toBe(2)
    await write([book.put({ ...open, version: 3, status: 'settled', ...over })])
    expect(await reads.openGroups(CLIENT)).toBe(1)
    expect(await reads.openGroups('client')).toBe(0)
  })
}

function tokenTests(seeded: () => Seeded): void {
  test('a token is found by exactly its symbol, and only once its registration is final', async () => {
    const { reads, book, write } = seeded()
    const token = tokenState({ id: 'key-1', tokenId: 'Key-1', totalSupply: '12.5', decimals: 3 })
    await write([book.put(token)])
    expect(await reads.token('Key-1')).toBeUndefined()
    await write([book.put({ ...token, version: 2, status: 'crediting' })])
    expect(await reads.token('Key-1')).toEqual(tokenViewOf(token))
    await write([book.put({ ...token, version: 3, status: 'active', totalSupply: '13' })])
    expect(await reads.token('Key-1')).toEqual({ ...tokenViewOf(token), totalSupply: '13' })
    // The Kelvin sign's lower case is a Latin k.
    for (const other of ['key-1', 'KEY-1', '\u212Aey-1', 'Key-1 ', 'Key', '', 'BASE', 'Key-1\0']) {
      expect(await reads.token(other)).toBeUndefined()
    }
  })

  test('tokens come by symbol whatever its case, each once, with the exact total', async () => {
    const { reads, book, write } = seeded()
    const symbols = ['usd', 'Alpha', 'beta', 'Zulu', 'b-2', 'B-1', 'b.3']
    const tokens = symbols.map((tokenId, index) =>
      tokenState({
        id: tokenId.toLowerCase(),
        tokenId,
        status: index % 2 === 0 ? 'active' : 'crediting',
        issuer: `issuer of ${tokenId}`,
        createdAtMs: ROWS_START_MS + index,
      }),
    )
    const unfinished = tokenState({ id: 'alpha-1', tokenId: 'Alpha-1' })
    const before = (await reads.tokens(null, 1_000)).tokens
    await write([...tokens, unfinished].map((token) => book.put(token)))
    const place = (tokenId: string): string => tokenId.toLowerCase()
    const all = [...before, ...tokens.map(tokenViewOf)].sort((a, b) => (place(a.tokenId) < place(b.tokenId) ? -1 : 1))
    for (const limit of [1, 2, all.length, 100]) {
      const pages = await pagesOf((after: string | null) => reads.tokens(after, limit))
      for (const [index, page] of pages.entries()) {
        expect(page.tokens.length).toBeLessThanOrEqual(limit)
        expect(page.count).toEqual(index === 0 ? { total: all.length, exact: true } : null)
      }
      expect(pages.flatMap(({ tokens: shown }) => shown)).toEqual(all)
    }
    expect(await reads.tokens('zz', 10)).toEqual({ tokens: [], next: null, count: null })
    expect((await reads.tokens('ALPHA', 1)).tokens).toMatchObject([{ tokenId: 'B-1' }])
  })
}

function aGroup(changes: Partial<GroupState> = {}): GroupState {
  return groupState({ id: randomUUID(), ...changes })
}

const NOTHING: Omit<GroupView, 'groupId'> = {
  status: 'linked',
  termsHash: null,
  legs: [],
  compensations: [],
  partialFailures: [],
  createdAtMs: null,
  dueAtMs: null,
  finishedAtMs: null,
  failure: null,
}

function groupTests(seeded: () => Seeded): void {
  test('a registered group is shown in its present state, whatever transactions use its ID', async () => {
    const { reads, book, write } = seeded()
    const statuses = ['open', 'settling', 'settled', 'reverting', 'reverted'] as const
    for (const status of statuses) {
      const group = aGroup({ status, partialFailures: [{ txnId: 'txn_1', code: 'account_closed', detail: '"d"' }] })
      await write([book.put(group), book.decide('bob', { atMs: LATER_MS + 100, groupId: group.id })])
      const shown = await reads.group(group.id)
      expect(shown).toEqual(groupViewOf(group))
      expect(shown?.legs).toHaveLength(1)
      expect(await reads.group(group.id.toUpperCase())).toEqual(shown)
    }
  })

  test('D8: a group that is seen final is final for every read that begins then', async () => {
    const { reads, book, write } = seeded()
    const group = aGroup({ status: 'open' })
    await write([book.put(group)])
    const writing = write([
      book.put({ ...group, version: 2, status: 'settled', dueAtMs: null, finishedAtMs: LATER_MS }),
    ])
    let seen = await reads.group(group.id)
    while (seen?.status === 'open') seen = await reads.group(group.id)
    expect(seen).toMatchObject({ status: 'settled', finishedAtMs: LATER_MS, dueAtMs: group.timeoutAtMs })
    const reading = Array.from({ length: 8 }, () => reads.group(group.id))
    for (const later of await Promise.all(reading)) expect(later).toEqual(seen)
    await writing
  })

  test('a group that is not registered yet is nothing, or linked where something carries its ID', async () => {
    const { reads, book, write } = seeded()
    for (const status of ['registering', 'refusing'] as const) {
      const group = aGroup({ status })
      await write([book.put(group)])
      expect(await reads.group(group.id)).toBeUndefined()
      await write([book.pend('bob', { atMs: LATER_MS + 200, type: 'transfer', amount: '1', groupId: group.id })])
      expect(await reads.group(group.id)).toEqual({ groupId: group.id, ...NOTHING })
    }
  })

  test('an ID that was never registered is linked once a transaction carries it, and nothing before', async () => {
    const { reads, book, write } = seeded()
    const groupId = randomUUID()
    expect(await reads.group(groupId)).toBeUndefined()
    await write([book.decide('bob', { atMs: LATER_MS + 300, groupId, failed: true })])
    expect(await reads.group(groupId)).toEqual({ groupId, ...NOTHING })
    expect(await reads.group(groupId.toUpperCase())).toEqual({ groupId, ...NOTHING })
    for (const other of ['', 'x', `${groupId}0`, groupId.replaceAll('-', ''), `{${groupId}}`, 'a\0b', randomUUID()]) {
      expect(await reads.group(other)).toBeUndefined()
    }
  })

  test('a linked group shows what was compensated under its ID, and what could not be', async () => {
    const { reads, book, write } = seeded()
    const compensations = [{ compensates: 'txn_1', txnId: 'txn_2' }]
    const partialFailures = [{ txnId: 'txn_3', code: 'insufficient_funds', detail: 'd' }] as const
    const timeless = { dueAtMs: null, timeoutAtMs: null }
    const group = aGroup({ status: 'linked', legs: [], termsHash: '', compensations, partialFailures, ...timeless })
    await write([book.put(group)])
    expect(await reads.group(group.id)).toEqual({ groupId: group.id, ...NOTHING, compensations, partialFailures })
  })
}
