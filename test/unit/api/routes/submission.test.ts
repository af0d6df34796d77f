import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../actors/canonical-json.ts'
import { type Invalid, invalidProblem } from '../../../../api/http/problem.ts'
import { submissionErrors } from '../../../../api/schemas/requests/submission.ts'

const GOOD: JsonObject = {
  account_id: 'alice@bank',
  amount: '10.50',
  type: 'credit',
  signature: 'c2ln',
  idempotency_key: 'key 1',
}
const GROUP = '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a'
const NFT: JsonObject = { class_id: 'cls_1', instance_id: 'one', amount: '1' }
const PAID = 'txn_01M80E1PV6000010W1DNTF3NMN'
const USD: JsonObject = { amount: '2', token_id: 'USD' }
const SWAP: JsonObject = { type: 'exchange', token_id: 'EUR', group_id: GROUP, to_account_id: 'bob', receive: USD }

function errors(change: JsonObject, without: readonly string[] = []): string[] {
  const body = Object.fromEntries(Object.entries({ ...GOOD, ...change }).filter(([field]) => !without.includes(field)))
  return submissionErrors(body).map(({ field, code }) => `${field} ${code}`)
}

test.for([
  {},
  { type: 'debit', token_id: 'BASE' },
  { token_id: 'EUR' },
  { group_id: GROUP, terms_hash: `sha256:${'0a'.repeat(32)}` },
  { type: 'mint', token_id: 'EUR' },
  { type: 'burn', ...NFT },
  { type: 'exchange', group_id: GROUP, token_id: 'EUR' },
  {
    type: 'exchange',
    group_id: GROUP,
    token_id: 'EUR',
    to_account_id: 'bob',
    receive: { amount: '2', token_id: 'USD' },
  },
  { type: 'exchange', group_id: GROUP, ...NFT, to_account_id: 'bob', receive: { amount: '2', token_id: 'USD' } },
  { type: 'exchange', group_id: GROUP, token_id: 'EUR', to_account_id: 'bob', receive: NFT },
  { type: 'exchange', group_id: GROUP, ...NFT, to_account_id: 'bob', receive: { ...NFT, instance_id: 'two' } },
  { type: 'transfer', to_account_id: 'bob' },
  { type: 'transfer', to_account_id: 'bob', token_id: 'BASE', group_id: GROUP },
  { type: 'transfer', group_id: GROUP, token_id: 'EUR' },
  { type: 'transfer', to_account_id: 'bob', ...NFT },
  { type: 'transfer', refunds: PAID },
  { type: 'transfer', refunds: PAID, to_account_id: 'bob', group_id: GROUP, token_id: 'EUR' },
  { type: 'transfer', to_account_id: 'bob', group_id: GROUP, terms_hash: `sha256:${'0a'.repeat(32)}` },
] as JsonObject[])('the submission %j is accepted', (change) => {
  expect(errors(change)).toEqual([])
})

test.for([
  [{ terms_hash: `sha256:${'0a'.repeat(32)}` }, 'group_id ERR_INVALID_GROUP_ID'],
  [{ to_account_id: 'bob' }, 'to_account_id ERR_INVALID_FIELD'],
  [{ refunds: PAID }, 'refunds ERR_INVALID_FIELD'],
  [{ type: 'transfer', refunds: 'txn_1' }, 'refunds ERR_INVALID_FIELD'],
  [{ type: 'transfer', refunds: PAID, to_account_id: 'bob', ...NFT }, 'refunds ERR_INVALID_FIELD'],
  [
    { type: 'transfer', refunds: PAID, group_id: GROUP, terms_hash: `sha256:${'0a'.repeat(32)}` },
    'refunds ERR_INVALID_FIELD',
  ],
  [{ receive: { amount: '1' } }, 'receive ERR_INVALID_FIELD'],
  [{ instance_id: 'one' }, 'class_id ERR_INVALID_CLASS_ID'],
  [{ type: 'burn', class_id: 'cls_1', amount: '1' }, 'instance_id ERR_INVALID_FIELD'],
  [{ type: 'burn', ...NFT, amount: '2' }, 'amount ERR_INVALID_AMOUNT'],
  [{ type: 'burn', ...NFT, token_id: 'EUR' }, 'token_id ERR_INVALID_TOKEN_ID'],
  [{ ...NFT }, 'type ERR_INVALID_TYPE'],
  [{ type: 'mint', ...NFT }, 'type ERR_INVALID_TYPE'],
  [{ type: 'mint' }, 'token_id ERR_INVALID_TOKEN_ID'],
  [{ type: 'burn', token_id: 'BASE' }, 'token_id ERR_INVALID_TOKEN_ID'],
  [{ type: 'exchange', group_id: GROUP }, 'token_id ERR_INVALID_TOKEN_ID'],
  [{ type: 'exchange', token_id: 'EUR' }, 'group_id ERR_INVALID_GROUP_ID'],
  [{ type: 'exchange', token_id: 'EUR', group_id: GROUP, to_account_id: 'bob' }, 'receive ERR_INVALID_FIELD'],
  [{ type: 'exchange', token_id: 'EUR', group_id: GROUP, receive: USD }, 'to_account_id ERR_INVALID_ACCOUNT_ID'],
  [{ ...SWAP, to_account_id: 'alice@bank' }, 'to_account_id ERR_SELF_TRANSFER'],
  [{ ...SWAP, receive: 'USD' }, 'receive ERR_INVALID_FIELD'],
  [{ ...SWAP, receive: { amount: '1' } }, 'receive.token_id ERR_INVALID_TOKEN_ID'],
  [{ ...SWAP, receive: { amount: '1', token_id: 'BASE' } }, 'receive.token_id ERR_INVALID_TOKEN_ID'],
  [{ ...SWAP, receive: { amount: '1', token_id: 'EUR' } }, 'receive.token_id ERR_INVALID_TOKEN_ID'],
  [{ ...SWAP, receive: { ...USD, instance_id: 'one' } }, 'receive.class_id ERR_INVALID_CLASS_ID'],
  [{ ...SWAP, receive: { amount: '1', class_id: 'cls_1' } }, 'receive.instance_id ERR_INVALID_FIELD'],
  [{ ...SWAP, receive: { ...NFT, amount: '1.0' } }, 'receive.amount ERR_INVALID_AMOUNT'],
  [{ ...SWAP, receive: { ...NFT, token_id: 'USD' } }, 'receive.token_id ERR_INVALID_TOKEN_ID'],
  [
    { type: 'exchange', group_id: GROUP, to_account_id: 'bob', ...NFT, receive: NFT },
    'receive.instance_id ERR_INVALID_FIELD',
  ],
  [{ type: 'transfer' }, 'group_id ERR_INVALID_GROUP_ID'],
  [{ type: 'transfer', to_account_id: 'alice@bank' }, 'to_account_id ERR_SELF_TRANSFER'],
  [{ type: 'transfer', to_account_id: 'bob', receive: USD }, 'receive ERR_INVALID_FIELD'],
  [
    { type: 'transfer', to_account_id: 'bob', terms_hash: `sha256:${'0a'.repeat(32)}` },
    'group_id ERR_INVALID_GROUP_ID',
  ],
] as [JsonObject, string][])('the submission %j is refused', ([change, error]) => {
  expect(errors(change)).toEqual([error])
})

test('D5: every unknown field is refused by name', () => {
  expect(errors({ ammount: '1', txn_id: 'x' })).toEqual(['ammount ERR_UNKNOWN_FIELD', 'txn_id ERR_UNKNOWN_FIELD'])
  expect(submissionErrors({ ...GOOD, ...(JSON.parse('{"__proto__":1}') as JsonObject) })).toMatchObject([
    { field: '__proto__', code: 'ERR_UNKNOWN_FIELD' },
  ])
  const receive = { amount: '0', token_id: 'USD', price: '1' }
  expect(errors({ type: 'exchange', token_id: 'EUR', group_id: GROUP, to_account_id: 'bob', receive })).toEqual([
    'receive.amount ERR_INVALID_AMOUNT',
    'receive.price ERR_UNKNOWN_FIELD',
  ])
})

test('P4: the error lists the first hundred of many unknown fields, and says that there are more', () => {
  const unknown = (count: number): readonly Invalid[] =>
    submissionErrors({ ...GOOD, ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 0])) })
  const told = (count: number) => {
    const { detail, errors: listed } = invalidProblem('validation-error', unknown(count))
    return [detail, listed?.length]
  }
  expect(told(100)).toEqual(['100 parts of the request are not valid; see errors.', 100])
  expect(told(101)).toEqual(['More than 100 parts of the request are not valid; errors tells the first 100.', 100])
  expect(told(20_000)).toEqual(told(101))
  expect(unknown(20_000).length).toBeLessThan(200)
})
