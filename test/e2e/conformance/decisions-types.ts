/** The six types of transactions: what each does to its account, and what it needs (D5). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Holder, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import {
  accepted,
  ended,
  free,
  funded,
  holdingOf,
  issued,
  keyed,
  moved,
  outcomeOf,
} from '../../support/client-moves.ts'
import { failureOf } from './cast.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export function typesChapter(suite: Suite): void {
  boundary(suite)
  between(suite)
  supply(suite)
}

function boundary(suite: Suite): void {
  const row = suite.chapter('D5 types')

  row('credit', 'adds, from outside; needs the grant of the client', async ({ transactor, ungranted }) => {
    const holder = await transactor.register('credit@types')
    await moved(transactor, holder, { type: 'credit', amount: '5' })
    expect(await holdingOf(transactor, holder.accountId)).toEqual(free('5'))
    expect(outcomeOf(await ungranted.submit(holder, keyed({ type: 'credit', amount: '5' })))).toBe('403 ERR_FORBIDDEN')
    await moved(ungranted, holder, { type: 'debit', amount: '1' })
    expect(await holdingOf(transactor, holder.accountId)).toEqual(free('4'))
  })

  row('debit', 'takes, to the outside; no more than is available', async ({ transactor }) => {
    const holder = await funded(transactor, 'debit@types', '5')
    await moved(transactor, holder, { type: 'debit', amount: '2.5' })
    expect(await holdingOf(transactor, holder.accountId)).toEqual(free('2.5'))
    expect(await failureOf(transactor, holder, { type: 'debit', amount: '2.6' })).toBe('insufficient_funds')
  })
}

function between(suite: Suite): void {
  const row = suite.chapter('D5 types')

  row('transfer', 'takes here and credits there, both or neither', async (stage) => {
    const { transactor } = stage
    const [from, to] = [await funded(transactor, 'from@types', '5'), await transactor.register('to@types')]
    const sent = await moved(transactor, from, { type: 'transfer', to_account_id: to.accountId, amount: '3' })
    const sides = await transactor.readAll(`/v1/transactions/group/${textOf(sent, 'group_id')}`, 'transactions')
    const credit = sides.find((side) => side['account_id'] === to.accountId) ?? {}
    expect(await transactor.read(`/v1/transactions/${textOf(credit, 'txn_id')}`)).toMatchObject({
      type: 'credit',
      status: 'completed',
      amount: '3',
      from_account_id: from.accountId,
      origin: 'ledger',
    })
    expect(await holdingOf(transactor, from.accountId)).toEqual(free('2'))
    expect(await holdingOf(transactor, to.accountId)).toEqual(free('3'))
    const nobody = { type: 'transfer', to_account_id: 'nobody@nowhere', amount: '1' }
    expect(outcomeOf(await transactor.submit(from, keyed(nobody)))).toBe('404 ERR_NOT_FOUND')
    const outwards = { type: 'transfer', group_id: randomUUID(), amount: '1' }
    await moved(transactor, from, outwards)
    expect(await holdingOf(transactor, from.accountId)).toEqual(free('1'))
    const [self, unnamed] = [
      { ...nobody, to_account_id: from.accountId },
      { type: 'transfer', amount: '1' },
    ]
    expect(outcomeOf(await transactor.submit(from, keyed(self)))).toBe('400 ERR_SELF_TRANSFER')
    expect(outcomeOf(await transactor.submit(from, keyed(unnamed)))).toBe('400 ERR_INVALID_GROUP_ID')
  })

  row('exchange', 'swaps with its mirror in one decision; waits, reserved, until that is in', async (stage) => {
    const { transactor } = stage
    const [alice, bob] = [await transactor.register('alice@types'), await transactor.register('bob@types')]
    await issued(transactor, 'TYPE-A', alice, '10')
    await issued(transactor, 'TYPE-B', bob, '10')
    const group = { type: 'exchange', group_id: randomUUID() }
    const [a, b] = [
      { token_id: 'TYPE-A', amount: '4' },
      { token_id: 'TYPE-B', amount: '6' },
    ]
    const offered = await accepted(transactor, alice, { ...group, ...a, to_account_id: bob.accountId, receive: b })
    await expect
      .poll(() => holdingOf(transactor, alice.accountId, 'TYPE-A'))
      .toEqual({ balance: '10', available: '6', incoming: '0' })
    const mirrored = await accepted(transactor, bob, { ...group, ...b, to_account_id: alice.accountId, receive: a })
    for (const receipt of [offered, mirrored]) {
      expect(await ended(transactor, receipt)).toMatchObject({ status: 'completed' })
    }
    expect(await holdings(stage, [alice, bob])).toEqual([
      ['6', '6'],
      ['4', '4'],
    ])
    const { group_id: _, ...ungrouped } = { ...group, ...a, to_account_id: bob.accountId, receive: b }
    expect(outcomeOf(await transactor.submit(alice, keyed(ungrouped)))).toBe('400 ERR_INVALID_GROUP_ID')
    const nothing = { ...group, amount: '1', to_account_id: bob.accountId, receive: b }
    expect(outcomeOf(await transactor.submit(alice, keyed(nothing)))).toBe('400 ERR_INVALID_TOKEN_ID')
    await moved(transactor, alice, { ...group, ...a, amount: '1' })
    expect(await holdingOf(transactor, alice.accountId, 'TYPE-A')).toEqual(free('5'))
  })
}

function supply(suite: Suite): void {
  const row = suite.chapter('D5 types')

  row('mint', 'adds and raises the supply; the issuer’s alone', async (stage) => {
    const { transactor } = stage
    const issuer = await transactor.register('mint@types')
    await issued(transactor, 'MINTED', issuer, '1')
    await moved(transactor, issuer, { type: 'mint', amount: '2', token_id: 'MINTED' })
    expect([await holdingOf(transactor, issuer.accountId, 'MINTED'), await supplyOf(stage, 'MINTED')]).toEqual([
      free('3'),
      '3',
    ])
    const order = { type: 'mint', amount: '2', token_id: 'MINTED' }
    expect(outcomeOf(await transactor.submit(stage.cast.carol, keyed(order)))).toBe('403 ERR_NOT_ISSUER')
    for (const tokenId of [{}, { token_id: 'BASE' }]) {
      const reply = await transactor.submit(issuer, keyed({ type: 'mint', amount: '2', ...tokenId }))
      expect([tokenId, outcomeOf(reply)]).toEqual([tokenId, '400 ERR_INVALID_TOKEN_ID'])
    }
  })

  row('burn', 'takes and lowers the supply; whoever holds it', async (stage) => {
    const { transactor } = stage
    const issuer = await transactor.register('burn@types')
    const holder = await transactor.register('burner@types')
    await issued(transactor, 'BURNED', issuer, '10')
    const toHolder = { type: 'transfer', to_account_id: holder.accountId, amount: '4', token_id: 'BURNED' }
    await moved(transactor, issuer, toHolder)
    const burn = { type: 'burn', token_id: 'BURNED' }
    await moved(transactor, holder, { ...burn, amount: '3' })
    expect([await holdingOf(transactor, holder.accountId, 'BURNED'), await supplyOf(stage, 'BURNED')]).toEqual([
      free('1'),
      '7',
    ])
    expect(await failureOf(transactor, holder, { ...burn, amount: '2' })).toBe('insufficient_funds')
    expect(outcomeOf(await transactor.submit(holder, keyed({ type: 'burn', amount: '1' })))).toBe(
      '400 ERR_INVALID_TOKEN_ID',
    )
  })
}

async function supplyOf({ viewer }: Stage, tokenId: string): Promise<unknown> {
  const token: Members = await viewer.read(`/v1/fungible-tokens/${tokenId}`)
  return token['total_supply']
}

/** Of TYPE-A and TYPE-B. */
function holdings({ transactor }: Stage, holders: readonly Holder[]): Promise<readonly (readonly string[])[]> {
  const balanceOf = async (holder: Holder, tokenId: string): Promise<string> => {
    return (await holdingOf(transactor, holder.accountId, tokenId)).balance
  }
  return Promise.all(
    holders.map((holder) => Promise.all(['TYPE-A', 'TYPE-B'].map((tokenId) => balanceOf(holder, tokenId)))),
  )
}
