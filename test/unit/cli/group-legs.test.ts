/** A leg is written as the command that would do it. */
import { expect, test } from 'vitest'
import { legOf } from '../../../infra/cli/daily/group-create.ts'
import { commandLine } from './cli-fixture.ts'

function leg(text: string): unknown {
  return legOf(text.split(' '))
}

test('orders of one account', () => {
  expect(leg('debit alice 5 GOLD')).toEqual({ account_id: 'alice', type: 'debit', amount: '5', token_id: 'GOLD' })
  expect(leg('credit a:b@c 0.5')).toEqual({ account_id: 'a:b@c', type: 'credit', amount: '0.5' })
  expect(leg('mint alice 5 GOLD')).toMatchObject({ type: 'mint' })
  expect(leg('burn alice 5 GOLD')).toMatchObject({ type: 'burn' })
})

test('transfers of a token and of an NFT, and the burning of an NFT', () => {
  const nft = { amount: '1', class_id: 'cls_1', instance_id: 'dawn' }
  expect(leg('transfer alice bob 5 GOLD')).toEqual({
    account_id: 'alice',
    type: 'transfer',
    to_account_id: 'bob',
    amount: '5',
    token_id: 'GOLD',
  })
  expect(leg('nft transfer alice bob cls_1 dawn')).toEqual({
    account_id: 'alice',
    type: 'transfer',
    to_account_id: 'bob',
    ...nft,
  })
  expect(leg('nft burn alice cls_1 dawn')).toEqual({ account_id: 'alice', type: 'burn', ...nft })
})

test.each([
  'debit alice',
  'debit alice 5 GOLD more',
  'transfer alice bob',
  'transfer alice bob 5 GOLD more',
  'nft transfer alice bob cls_1',
  'nft transfer alice bob cls_1 dawn more',
  'nft burn alice cls_1',
  'nft mint cls_1 dawn',
  'exchange alice 5',
])('%j is no leg', (text) => {
  expect(leg(text)).toBeUndefined()
})

test('wrong legs, and a single one, are wrong usage', async () => {
  const { run } = commandLine()
  const wrong = await run(['group', 'create', '--leg', 'debit alice'])
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("such as 'debit ACCOUNT AMOUNT [TOKEN]'")])
  const single = await run(['group', 'create', '--leg', 'debit alice 5'])
  expect([single.code, single.err]).toEqual([2, expect.stringContaining('give at least two --leg')])
})
