/** The conventions: how identifiers and quantities are formed. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import { newAccountKeys } from '../../support/client-keys.ts'
import { accepted, ended, keyed, moved, outcomeOf, registerToken } from '../../support/client-moves.ts'
import { ATTESTATION_ID, TXN_ID } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

const BAD_ACCOUNT_IDS = ['', 'a b', 'ä', 'a/b', 'a+b', 'a#b', 'a%b', 'a"b', 'a\nb', '\u{1f600}', '.', '..']
const BAD_DECIMALS = [
  '',
  ' 1',
  '1 ',
  '+1',
  '-1',
  '01',
  '00',
  '.5',
  '5.',
  '1e3',
  '1E3',
  '1,5',
  '0x1',
  'NaN',
  'one',
  '１',
]

export function conventionsChapter(suite: Suite): void {
  const row = suite.chapter('Conventions')

  row('account ID', '1 to 128 of a-z A-Z 0-9 _ . - : and @, in bodies and in paths', async ({ transactor }) => {
    for (const accountId of ['a', 'azAZ09_.-:@', '...', 'x'.repeat(128)]) {
      const body = { account_id: accountId, public_key: newAccountKeys().jwk }
      expect([accountId, (await transactor.post('/v1/accounts', body)).status]).toEqual([accountId, 201])
      expect(await transactor.read(`/v1/accounts/${encodeURIComponent(accountId)}/state`)).toMatchObject({
        account_id: accountId,
      })
    }
    for (const accountId of [...BAD_ACCOUNT_IDS, 'x'.repeat(129)]) {
      const body = { account_id: accountId, public_key: newAccountKeys().jwk }
      const reply = await transactor.post('/v1/accounts', body)
      expect([accountId, outcomeOf(reply)]).toEqual([accountId, '400 ERR_INVALID_ACCOUNT_ID'])
    }
    for (const accountId of ['a b', 'ä', 'a/b', 'a+b', 'x'.repeat(129)]) {
      const reply = await transactor.get(`/v1/accounts/${encodeURIComponent(accountId)}/state`)
      expect([accountId, outcomeOf(reply)]).toEqual([accountId, '400 ERR_INVALID_ACCOUNT_ID'])
    }
  })

  row(
    'decimal string',
    'up to 18 integer and 18 fractional digits, a string, above zero where it is an amount',
    async (stage) => {
      const { transactor, cast } = stage
      const rich = await transactor.register('rich@conventions')
      const largest = `${'9'.repeat(18)}.${'9'.repeat(18)}`
      const smallest = `0.${'0'.repeat(17)}1`
      await moved(transactor, rich, { type: 'credit', amount: largest })
      expect(await balanceOf(stage, rich.accountId)).toBe(largest)
      expect(
        await ended(transactor, await accepted(transactor, rich, { type: 'credit', amount: smallest })),
      ).toMatchObject({
        status: 'failed',
        failure: { code: 'balance_limit' },
      })
      await moved(transactor, rich, { type: 'debit', amount: largest })
      await moved(transactor, rich, { type: 'credit', amount: smallest })
      expect(await balanceOf(stage, rich.accountId)).toBe(smallest)
      const bad = [
        ...BAD_DECIMALS,
        '0',
        '0.0',
        `1${'0'.repeat(18)}`,
        `0.${'0'.repeat(18)}1`,
        1,
        1.5,
        null,
        true,
        {},
        ['1'],
      ]
      for (const amount of bad) {
        const reply = await transactor.submit(cast.alice, keyed({ type: 'credit', amount }))
        expect([amount, outcomeOf(reply)]).toEqual([amount, '400 ERR_INVALID_AMOUNT'])
      }
    },
  )

  row('decimals', 'an integer from 0 to 18', async ({ transactor, cast }) => {
    const token = { issuer: cast.alice.accountId, total_supply: '0' }
    for (const decimals of [0, 18]) {
      const reply = await registerToken(transactor, { ...token, symbol: `DECIMALS-${decimals}`, decimals })
      expect([reply.status, membersOf(reply)['decimals']]).toEqual([201, decimals])
    }
    for (const decimals of [-1, 19, 1.5, '2', null, true]) {
      const reply = await transactor.post('/v1/fungible-tokens', { ...token, symbol: 'DECIMALS-BAD', decimals })
      expect([decimals, outcomeOf(reply)]).toEqual([decimals, '400 ERR_INVALID_DECIMALS'])
    }
  })

  row('transaction ID', 'txn_ and an ID', ({ cast }) => {
    expect(cast.credited.receipt['txn_id']).toMatch(TXN_ID)
    expect(cast.failed.receipt['txn_id']).toMatch(TXN_ID)
  })

  row('attestation ID', 'att_ and an ID', ({ cast }) => {
    expect(membersOf(cast.attestation)['attestation_id']).toMatch(ATTESTATION_ID)
  })

  row('group ID', 'a UUID, in either case, shown in lower case', async ({ transactor, cast }) => {
    const groupId = randomUUID()
    const upper = { type: 'credit', amount: '1', group_id: groupId.toUpperCase() }
    const receipt = await accepted(transactor, cast.alice, upper)
    expect(receipt['group_id']).toBe(groupId)
    expect((await ended(transactor, receipt))['group_id']).toBe(groupId)
    expect(textOf(await transactor.read(`/v1/transactions/group/${groupId.toUpperCase()}`), 'group_id')).toBe(groupId)
    for (const bad of ['', 'group', groupId.slice(1), `${groupId}0`, groupId.replaceAll('-', ''), 7, null]) {
      const reply = await transactor.submit(cast.alice, keyed({ ...upper, group_id: bad }))
      expect([bad, outcomeOf(reply)]).toEqual([bad, '400 ERR_INVALID_GROUP_ID'])
    }
    expect(outcomeOf(await transactor.get('/v1/transactions/group/no-uuid'))).toBe('400 ERR_INVALID_GROUP_ID')
  })
}

async function balanceOf({ transactor }: Stage, accountId: string): Promise<unknown> {
  return (await transactor.read(`/v1/accounts/${accountId}/balances/BASE`))['balance']
}
