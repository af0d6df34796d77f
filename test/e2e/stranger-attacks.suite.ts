/** Goal: an unsigned leg reserves, reveals and blocks nothing of its account (D10): attacks by another client. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type HttpReply, type LedgerClient, membersOf, textOf } from '../support/client.ts'
import { agreed, agreementOn, finalGroup, legFields, payment, registerGroup } from '../support/client-groups.ts'
import { type Members, signed } from '../support/client-keys.ts'
import { free, funded, holdingOf, issued, moved, outcomeOf, submitted } from '../support/client-moves.ts'
import type { GetScene } from './scene.ts'

/** The maximum balance. */
const FULL = '999999999999999999.999999999999999999'
const MOST_EXPECTATIONS = 100

export function strangerAttacksSuite(scene: GetScene): void {
  describe('attacks by another client on an account', () => {
    balances(scene)
    blocking(scene)
    bounds(scene)
  })
}

/** A reply without the values of its request. */
function shownOf({ status, body }: HttpReply, victim: string, groupId: string): string {
  const text = body.replaceAll(victim, 'VICTIM').replaceAll(groupId, 'GROUP')
  return `${status} ${text.replaceAll(/sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{32}/g, '*')}`
}

async function strangersLeg(stranger: LedgerClient, own: string, victim: string, amount: string): Promise<string> {
  const legs = [
    { account_id: own, type: 'debit', amount },
    { account_id: victim, type: 'credit', amount },
  ]
  const agreement = agreementOn(legs, 86_400)
  return shownOf(await registerGroup(stranger, agreement), victim, agreement.groupId)
}

function balances(scene: GetScene): void {
  test('bisection: the reply to a registration does not depend on the account’s balance, for any amount', async () => {
    const { client, stranger } = scene()
    const attacker = await stranger.register(`bisecting-${randomUUID()}`)
    const victims = await Promise.all(
      ['0.01', '123456789.01', FULL].map((amount) => funded(client, `bisected-${randomUUID()}`, amount)),
    )
    for (const amount of [FULL, '999999999876543210.99', '500000000000000000', '1', '0.000000000000000001']) {
      const shown = await Promise.all(
        victims.map(({ accountId }) => strangersLeg(stranger, attacker.accountId, accountId, amount)),
      )
      expect(shown[0]).toMatch(/^201 /)
      expect(new Set(shown).size).toBe(1)
    }
    for (const { accountId } of victims) expect((await holdingOf(client, accountId)).incoming).toBe('0')
  })

  test('bisection by a leg that the attacker signs: it cannot see whether the account has room before it pays', async () => {
    const { client, stranger } = scene()
    const attacker = await stranger.register(`probing-${randomUUID()}`)
    const victims = [
      await client.register(`probed-${randomUUID()}`),
      await funded(client, `probed-${randomUUID()}`, FULL),
    ]
    for (const { accountId } of victims) {
      const transfer = { account_id: attacker.accountId, type: 'transfer', amount: '1', to_account_id: accountId }
      const agreement = await agreed(stranger, agreementOn([transfer, { ...transfer, amount: '2' }], 3600))
      const leg = await submitted(stranger, attacker, legFields(agreement, 0))
      expect(leg).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
      expect(await finalGroup(stranger, agreement)).toMatchObject({ status: 'reverted' })
    }
  })
}

function blocking(scene: GetScene): void {
  test('unsigned legs for all the room of an account reserve none: credits, transfers and supply still fit', async () => {
    const { client, stranger } = scene()
    const attacker = await stranger.register(`blocking-${randomUUID()}`)
    const [payer, victim] = [await funded(client, `payer-${randomUUID()}`, '10'), await client.register(randomUUID())]
    const token = `BLOCKED-${randomUUID()}`
    await issued(client, token, victim, '5')
    for (const legs of [
      payment(attacker, victim, FULL),
      [
        { account_id: attacker.accountId, type: 'transfer', amount: FULL, to_account_id: victim.accountId },
        { account_id: attacker.accountId, type: 'transfer', amount: '1', to_account_id: victim.accountId },
      ],
      payment(attacker, victim, '999999999999999999', token),
      [
        { account_id: victim.accountId, type: 'mint', amount: '999999999999999994', token_id: token },
        ...payment(attacker, victim, '1'),
      ],
    ]) {
      await agreed(stranger, agreementOn(legs, 86_400))
    }
    await moved(client, victim, { type: 'credit', amount: FULL })
    await moved(client, victim, { type: 'debit', amount: FULL })
    await moved(client, payer, { type: 'transfer', amount: '10', to_account_id: victim.accountId })
    await moved(client, victim, { type: 'mint', amount: '999999999999999994', token_id: token })
    expect(await holdingOf(client, victim.accountId)).toEqual(free('10'))
  })

  test('the account lists the expected legs, declines them, and closes without the other client’s consent', async () => {
    const { client, stranger, admin } = scene()
    const attacker = await stranger.register(`pestering-${randomUUID()}`)
    const victim = await client.register(`pestered-${randomUUID()}`)
    const [declined, left] = [
      await agreed(stranger, agreementOn(payment(attacker, victim, '7'), 86_400)),
      await agreed(stranger, agreementOn(payment(attacker, victim, '8'), 86_400)),
    ]
    const path = `/v1/accounts/${victim.accountId}/expectations`
    const expected = membersOf(await client.get(path))['expectations'] as readonly Members[]
    expect(new Set(expected.map((one) => one['group_id']))).toEqual(new Set([declined.groupId, left.groupId]))
    expect(expected.map((one) => textOf(one['terms'] as Members, 'amount')).toSorted()).toEqual(['7', '8'])
    const { groupId, termsHash } = declined
    const named = { account_id: victim.accountId, group_id: groupId, terms_hash: termsHash }
    const body = signed(named, victim.keys.privateKey)
    const forged = signed(named, attacker.keys.privateKey)
    const decline = `/v1/settlement-groups/${declined.groupId}/decline`
    expect(outcomeOf(await stranger.post(decline, forged))).toBe('403 ERR_SIGNATURE_MISMATCH')
    expect((await client.post(decline, body)).status).toBe(202)
    expect(await finalGroup(stranger, declined)).toMatchObject({ status: 'reverted' })
    const close = { status: 'closed', reason: 'no signed legs' }
    expect((await admin.post(`/v1/accounts/${victim.accountId}/status`, close)).status).toBe(200)
    expect(await finalGroup(stranger, left)).toMatchObject({ status: 'reverted' })
  })
}

function bounds(scene: GetScene): void {
  test('a client that exhausts its own limit at an account blocks no other client', async () => {
    const { client, stranger } = scene()
    const attacker = await stranger.register(`filling-${randomUUID()}`)
    const victim = await funded(client, `filled-${randomUUID()}`, '10')
    const other = await client.register(`other-${randomUUID()}`)
    const taken: string[] = []
    for (let sent = 0; sent <= MOST_EXPECTATIONS; sent += 1) {
      taken.push(outcomeOf(await registerGroup(stranger, agreementOn(payment(attacker, victim, '1'), 86_400))))
    }
    expect(taken.filter((outcome) => outcome.startsWith('201'))).toHaveLength(MOST_EXPECTATIONS)
    expect(taken.at(-1)).toMatch(/^409 /)
    const agreement = await agreed(client, agreementOn(payment(victim, other, '4'), 3600))
    await moved(client, victim, legFields(agreement, 0))
    await moved(client, other, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, victim.accountId)).toEqual(free('6'))
  })
}
