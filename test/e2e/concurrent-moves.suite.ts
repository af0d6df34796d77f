/** Goal: what is sent at once, to both edges, over two nodes, takes effect as if one came after the other (I4, I5, I9, D1, D10). */
import { describe, expect, test } from 'vitest'
import { membersOf } from '../support/client.ts'
import { agreed, agreementOn, finalGroup, legFields, payment, revertGroup } from '../support/client-groups.ts'
import {
  accepted,
  ended,
  free,
  funded,
  holdingOf,
  keyed,
  moved,
  outcomeOf,
  registerToken,
} from '../support/client-moves.ts'
import { classOf, mint, ownedBy } from '../support/client-nfts.ts'
import type { GetScene } from './scene.ts'

export function concurrentMovesSuite(scene: GetScene): void {
  describe('at once', () => {
    supplies(scene)
    transfers(scene)
    legs(scene)
    mints(scene)
  })
}

function supplies(scene: GetScene): void {
  test('D1: of ten concurrent registrations of one symbol one is 201 and nine are 409, and one supply is credited', async () => {
    const { client, elsewhere } = scene()
    const issuers = Array.from({ length: 10 }, (_, number) => `rival-${number}@tokens`)
    const replies = await Promise.all(
      issuers.map((issuer, number) =>
        registerToken(number % 2 === 0 ? client : elsewhere, {
          symbol: number % 3 === 0 ? 'CONTESTED' : 'Contested',
          issuer,
          total_supply: `${number + 1}`,
        }),
      ),
    )
    const outcomes = replies.map(outcomeOf).sort()
    expect(outcomes).toEqual(['201', ...Array.from({ length: 9 }, () => '409 ERR_CONFLICT')])
    const winner = replies.findIndex(({ status }) => status === 201)
    const { token_id: tokenId } = membersOf(replies[winner] ?? { status: 0, headers: {}, body: '{}' })
    const held = await Promise.all(issuers.map((issuer) => holdingOf(client, issuer, String(tokenId))))
    expect(held.map(({ balance }) => balance)).toEqual(
      issuers.map((_, number) => (number === winner ? `${winner + 1}` : '0')),
    )
  })
}

function transfers(scene: GetScene): void {
  test('I4, I5: transfers that cross each other, more than there is, move what there is and lose nothing', async () => {
    const { client, elsewhere } = scene()
    const left = await funded(client, 'left@transfers', '50')
    const right = await funded(client, 'right@transfers', '50')
    const receipts = await Promise.all(
      Array.from({ length: 60 }, (_, number) => {
        const [from, to] = number % 2 === 0 ? [left, right] : [right, left]
        const order = { type: 'transfer', amount: '20', to_account_id: to.accountId }
        return accepted(number % 3 === 0 ? client : elsewhere, from, order)
      }),
    )
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    const net = details
      .filter(({ status }) => status === 'completed')
      .reduce((sum, { account_id: accountId }) => sum + (accountId === left.accountId ? 20 : -20), 0)
    const failures = details.filter(({ status }) => status === 'failed').map(({ failure }) => failure)
    expect(failures).toEqual(failures.map(() => expect.objectContaining({ code: 'insufficient_funds' })))
    expect(await holdingOf(client, left.accountId)).toEqual(free(`${50 - net}`))
    expect(await holdingOf(client, right.accountId)).toEqual(free(`${50 + net}`))
  })

  test('everything that an account has, sent to twenty at once in three ways, is spent once', async () => {
    const { client, elsewhere } = scene()
    const spender = await funded(client, 'spender@attacks', '10')
    const receivers = await Promise.all(
      Array.from({ length: 20 }, (_, number) => client.register(`receiver-${number}@attacks`)),
    )
    const groupId = agreementOn([]).groupId
    const receipts = await Promise.all(
      receivers.map(({ accountId }, number) => {
        const orders = [
          { type: 'transfer', to_account_id: accountId },
          { type: 'debit' },
          { type: 'transfer', to_account_id: accountId, group_id: groupId },
        ]
        return accepted(number % 2 === 0 ? client : elsewhere, spender, { amount: '10', ...orders[number % 3] })
      }),
    )
    const details = await Promise.all(receipts.map((receipt) => ended(client, receipt)))
    const completed = details.filter(({ status }) => status === 'completed')
    expect(completed).toHaveLength(1)
    expect(await holdingOf(client, spender.accountId)).toEqual(free('0'))
    const held = await Promise.all(receivers.map(({ accountId }) => holdingOf(client, accountId)))
    const arrived = held.filter(({ balance }) => balance !== '0')
    expect(arrived).toEqual(completed[0]?.['type'] === 'debit' ? [] : [free('10')])
  })
}

function legs(scene: GetScene): void {
  test('D10: a leg and a revert at the same time: the group ends in one way, and the balances agree with it', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await funded(client, 'race@reverts', '40'), await client.register('race-to@reverts')]
    const agreements = await Promise.all(
      Array.from({ length: 8 }, () => agreed(client, agreementOn(payment(from, to, '5'), 3600))),
    )
    await Promise.all(agreements.map((agreement) => moved(client, from, legFields(agreement, 0))))
    const ends = await Promise.all(
      agreements.map(async (agreement) => {
        const [, revert] = await Promise.all([
          client.submit(to, keyed(legFields(agreement, 1))),
          revertGroup(elsewhere, agreement.groupId),
        ])
        const { status } = await finalGroup(client, agreement)
        return `${String(status)} ${revert.status}`
      }),
    )
    // The client that requested the revert got the expected outcome in the reply.
    const settled = ends.filter((end) => end === 'settled 409').length
    expect(ends.filter((end) => end === 'reverted 202')).toHaveLength(ends.length - settled)
    expect(await holdingOf(client, to.accountId)).toEqual(free(`${5 * settled}`))
    expect(await holdingOf(client, from.accountId)).toEqual(free(`${40 - 5 * settled}`))
  })
}

function mints(scene: GetScene): void {
  test('I9: of ten mints of one instance at once, one is 201 and nine are 409', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('race@mints')
    const classId = await classOf(client, 'Race', issuer)
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, number) =>
        mint(number % 2 === 0 ? client : elsewhere, issuer, classId, { instance_id: 'only' }),
      ),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['201', ...Array.from({ length: 9 }, () => '409 ERR_CONFLICT')])
    expect(await ownedBy(client, issuer)).toEqual(['only'])
    expect(await client.read(`/v1/transactions?account_id=${issuer.accountId}`)).toMatchObject({ total_count: 1 })
  })
}
