/** Goal: a registered group that does not settle is undone whole: every completed leg once, everything back (I8, D10). */
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/client.ts'
import {
  agreed,
  agreementOn,
  compensationsOf,
  finalGroup,
  groupOf,
  legFields,
  legStatuses,
  payment,
  revertGroup,
} from '../support/client-groups.ts'
import {
  changeStatus,
  free,
  funded,
  holdingOf,
  issued,
  keyed,
  moved,
  outcomeOf,
  submitted,
} from '../support/client-moves.ts'
import { checkOffline } from './offline-check.ts'
import type { GetScene } from './scene.ts'

/** So short that a test waits for it, so long that what must come before it does. */
const TIMEOUT_S = 8

export function groupRevertsSuite(scene: GetScene): void {
  describe('reverts of settlement groups', () => {
    timeouts(scene)
    failures(scene)
    requests(scene)
  })
}

function timeouts(scene: GetScene): void {
  test('D10: when its time is over, completed legs are compensated, each by a transaction of its own, and the rest cancelled', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await funded(client, 'late@reverts', '10'), await client.register('late-to@reverts')]
    const [giver, taker] = [await funded(client, 'giver@reverts', '3'), await client.register('taker@reverts')]
    const legs = [
      ...payment(from, to, '6'),
      { account_id: giver.accountId, type: 'transfer', amount: '3', to_account_id: taker.accountId },
      ...payment(from, to, '1'),
    ]
    const agreement = await agreed(client, agreementOn(legs, TIMEOUT_S))
    const debit = await moved(client, from, legFields(agreement, 0))
    const credit = await moved(elsewhere, to, legFields(agreement, 1))
    const transfer = await moved(client, giver, legFields(agreement, 2))
    expect(await holdingOf(client, from.accountId)).toEqual(free('4'))
    const group = await finalGroup(elsewhere, agreement)
    expect(group).toMatchObject({ status: 'reverted', partial_failures: [], finished_at: expect.any(String) })
    expect(Date.parse(textOf(group, 'finished_at'))).toBeGreaterThanOrEqual(Date.parse(textOf(group, 'due_at')))
    expect(legStatuses(group)).toEqual(['compensated', 'compensated', 'compensated', 'expected', 'expected'])
    const compensations = compensationsOf(group)
    // The transfer has two sides: what it had brought its receiver is taken back by a debit there.
    expect(compensations.size).toBe(4)
    for (const [leg, type] of [
      [debit, 'credit'],
      [credit, 'debit'],
      [transfer, 'credit'],
    ] as const) {
      const txnId = textOf(leg, 'txn_id')
      const undone = await client.read(`/v1/transactions/${txnId}`)
      expect(undone).toMatchObject({ status: 'completed', compensated_by: compensations.get(txnId) })
      expect(await client.read(`/v1/transactions/${compensations.get(txnId) ?? ''}`)).toMatchObject({
        type,
        amount: leg['amount'],
        account_id: leg['account_id'],
        group_id: agreement.groupId,
        compensates: txnId,
        origin: 'ledger',
        status: 'completed',
      })
    }
    expect(await holdingOf(client, from.accountId)).toEqual(free('10'))
    expect(await holdingOf(client, giver.accountId)).toEqual(free('3'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('0'))
    expect(await holdingOf(client, taker.accountId)).toEqual(free('0'))
    // A leg after the end is none, and an end is one.
    expect(outcomeOf(await client.submit(from, keyed(legFields(agreement, 3))))).toBe('409 ERR_CONFLICT')
    expect(await groupOf(client, agreement.groupId)).toEqual(group)
    // What came back can be spent.
    await moved(client, from, { type: 'debit', amount: '10' })
    const checked = await checkOffline(
      client,
      [from, to, giver, taker].map(({ accountId }) => accountId),
    )
    expect(checked).toMatchObject({ code: 0 })
  })

  test('D10: what a group would have minted and burnt is as it was', async () => {
    const { client } = scene()
    const issuer = await client.register('supply@reverts')
    await issued(client, 'REVERTED', issuer, '20')
    const legs = [
      { account_id: issuer.accountId, type: 'mint', amount: '5', token_id: 'REVERTED' },
      { account_id: issuer.accountId, type: 'burn', amount: '20', token_id: 'REVERTED' },
    ]
    const agreement = await agreed(client, agreementOn(legs, TIMEOUT_S))
    await moved(client, issuer, legFields(agreement, 1))
    expect(await holdingOf(client, issuer.accountId, 'REVERTED')).toMatchObject({ balance: '20', available: '0' })
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'reverted' })
    expect(await holdingOf(client, issuer.accountId, 'REVERTED')).toEqual(free('20'))
    expect(await client.read('/v1/fungible-tokens/REVERTED')).toMatchObject({ total_supply: '20' })
    await moved(client, issuer, { type: 'burn', amount: '20', token_id: 'REVERTED' })
  })
}

function failures(scene: GetScene): void {
  test('D10: a leg that fails reverts its group at once, long before its time', async () => {
    const { client, elsewhere } = scene()
    const [from, to] = [await funded(client, 'short@reverts', '4'), await client.register('short-to@reverts')]
    const agreement = await agreed(client, agreementOn(payment(from, to, '5'), 3600))
    await moved(client, to, legFields(agreement, 1))
    const failing = await submitted(elsewhere, from, legFields(agreement, 0))
    expect(failing).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' }, audit_hash: null })
    const group = await finalGroup(client, agreement)
    expect(group).toMatchObject({ status: 'reverted', partial_failures: [] })
    expect(legStatuses(group)).toEqual(['failed', 'compensated'])
    expect(await holdingOf(client, from.accountId)).toEqual(free('4'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('0'))
  })

  test('D2, D10: a party that is frozen meanwhile fails its leg, and gets back what it had paid in', async () => {
    const { client, admin } = scene()
    const [from, to] = [await funded(client, 'frozen@reverts', '9'), await client.register('frozen-to@reverts')]
    const legs = [...payment(from, to, '5'), ...payment(from, to, '4')]
    const agreement = await agreed(client, agreementOn(legs, 3600))
    await moved(client, from, legFields(agreement, 0))
    expect((await changeStatus(admin, from, { status: 'frozen' })).status).toBe(200)
    const failing = await submitted(client, from, legFields(agreement, 2))
    expect(failing).toMatchObject({ status: 'failed', failure: { code: 'account_frozen' } })
    const group = await finalGroup(client, agreement)
    expect(group).toMatchObject({ status: 'reverted', partial_failures: [] })
    expect(legStatuses(group)).toEqual(['compensated', 'expected', 'failed', 'expected'])
    expect(await holdingOf(client, from.accountId)).toEqual(free('9'))
  })

  test('D2, D10: an account that starts to refuse incoming value fails its leg, and its group reverts', async () => {
    const { client, admin } = scene()
    const [from, to] = [await funded(client, 'promise@reverts', '2'), await client.register('promise-to@reverts')]
    const agreement = await agreed(client, agreementOn(payment(from, to, '2'), 3600))
    expect((await changeStatus(admin, to, { incoming: 'refuse' })).status).toBe(200)
    await moved(client, from, legFields(agreement, 0))
    const refused = await submitted(client, to, legFields(agreement, 1))
    expect(refused).toMatchObject({ status: 'failed', failure: { code: 'incoming_refused' } })
    expect(await finalGroup(client, agreement)).toMatchObject({
      status: 'reverted',
      failure: { code: 'incoming_refused' },
    })
    expect(await holdingOf(client, from.accountId)).toEqual(free('2'))
  })
}

function requests(scene: GetScene): void {
  test('D10: an open group is reverted by the client that registered it, or an administrator, and by nobody else', async () => {
    const { client, stranger, admin } = scene()
    const [from, to] = [await funded(client, 'asked@reverts', '8'), await client.register('asked-to@reverts')]
    for (const party of [client, admin]) {
      const agreement = await agreed(client, agreementOn(payment(from, to, '8'), 3600))
      const debit = await moved(client, from, legFields(agreement, 0))
      expect(outcomeOf(await revertGroup(stranger, agreement.groupId))).toBe('403 ERR_FORBIDDEN')
      expect(await groupOf(client, agreement.groupId)).toMatchObject({ status: 'open' })
      const [one, other] = await Promise.all([
        revertGroup(party, agreement.groupId),
        revertGroup(party, agreement.groupId),
      ])
      expect([one.status, other.status]).toEqual([202, 202])
      const group = await finalGroup(client, agreement)
      expect(group).toMatchObject({ status: 'reverted', partial_failures: [] })
      expect([...compensationsOf(group).keys()]).toEqual([debit['txn_id']])
      expect((await revertGroup(party, agreement.groupId)).status).toBe(202)
      expect(await groupOf(client, agreement.groupId)).toEqual(group)
      expect(await holdingOf(client, from.accountId)).toEqual(free('8'))
    }
  })

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
    // Who asked for the revert was told how it would end.
    const settled = ends.filter((end) => end === 'settled 409').length
    expect(ends.filter((end) => end === 'reverted 202')).toHaveLength(ends.length - settled)
    expect(await holdingOf(client, to.accountId)).toEqual(free(`${5 * settled}`))
    expect(await holdingOf(client, from.accountId)).toEqual(free(`${40 - 5 * settled}`))
  })
}
