/** Goal: what the parties of a group have agreed on is all that can happen under it, whoever else comes (D10). */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Holder, membersOf, textOf } from '../support/client.ts'
import {
  type Agreement,
  agreed,
  agreementOn,
  finalGroup,
  groupOf,
  legFields,
  payment,
  registerGroup,
  revertGroup,
} from '../support/client-groups.ts'
import { type Members, signed } from '../support/client-keys.ts'
import {
  ended,
  fieldsOf,
  free,
  funded,
  holdingOf,
  issued,
  keyed,
  moved,
  outcomeOf,
  submitted,
} from '../support/client-moves.ts'
import type { GetScene } from './scene.ts'

const CONFLICT = '409 ERR_CONFLICT'
const FORBIDDEN = '403 ERR_FORBIDDEN'

export function groupAttacksSuite(scene: GetScene): void {
  describe('attacks on settlement groups', () => {
    otherTerms(scene)
    strangers(scene)
    legs(scene)
  })
}

interface Deal {
  readonly from: Holder
  readonly to: Holder
  readonly agreement: Agreement
}

/** A payment of 5 by one who has 10. */
async function dealOf({ client }: ReturnType<GetScene>, name: string): Promise<Deal> {
  const [from, to] = [await funded(client, `${name}@deals`, '10'), await client.register(`${name}-to@deals`)]
  return { from, to, agreement: agreementOn(payment(from, to, '5'), 3600) }
}

function otherTerms(scene: GetScene): void {
  test('another recipient than agreed: the leg is 409, and the one that was agreed still counts', async () => {
    const { client, stranger } = scene()
    const [from, to] = [await funded(client, 'diverted@deals', '10'), await funded(client, 'diverted-to@deals', '10')]
    const mallory = await stranger.register('mallory@deals')
    const legs = [
      { account_id: from.accountId, type: 'transfer', amount: '5', to_account_id: to.accountId },
      { account_id: to.accountId, type: 'transfer', amount: '2', to_account_id: from.accountId },
    ]
    const agreement = await agreed(client, agreementOn(legs, 3600))
    const leg = legFields(agreement, 0)
    const { to_account_id: _, ...nobody } = leg
    for (const diverted of [{ ...leg, to_account_id: mallory.accountId }, nobody]) {
      expect(outcomeOf(await client.submit(from, keyed(diverted)))).toBe(CONFLICT)
    }
    expect(await holdingOf(client, from.accountId)).toEqual(free('10'))
    await moved(client, from, leg)
    await moved(client, to, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, mallory.accountId)).toEqual(free('0'))
    expect(await holdingOf(client, from.accountId)).toEqual(free('7'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('13'))
  })

  test('other terms under the agreed ID: their registration is 409, and no leg counts that carries their hash', async () => {
    const { client, stranger } = scene()
    const { from, to, agreement } = await dealOf(scene(), 'swapped')
    const mallory = await stranger.register('swapped-mallory@deals')
    await agreed(client, agreement)
    const other = agreementOn(payment(from, mallory, '5'), 3600, agreement.groupId)
    expect(outcomeOf(await registerGroup(stranger, other))).toBe(CONFLICT)
    expect(outcomeOf(await registerGroup(client, other))).toBe(CONFLICT)
    expect(outcomeOf(await client.submit(from, keyed(legFields(other, 0))))).toBe(CONFLICT)
    expect(outcomeOf(await stranger.submit(mallory, keyed(legFields(other, 1))))).toBe(CONFLICT)
    expect(await groupOf(client, agreement.groupId)).toMatchObject({ status: 'open', terms_hash: agreement.termsHash })
    await moved(client, from, legFields(agreement, 0))
    await moved(client, to, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, to.accountId)).toEqual(free('5'))
  })

  test('terms registered under an ID before those who had agreed on it: their own registration and legs are 409', async () => {
    const { client, stranger } = scene()
    const { from, to, agreement } = await dealOf(scene(), 'squatted')
    const mallory = await stranger.register('squatted-mallory@deals')
    const squatting = await agreed(stranger, agreementOn(payment(from, mallory, '5'), 3600, agreement.groupId))
    expect(outcomeOf(await registerGroup(client, agreement))).toBe(CONFLICT)
    // What the parties sign is for the terms that they have agreed on: under others it is nothing.
    expect(outcomeOf(await client.submit(from, keyed(legFields(agreement, 0))))).toBe(CONFLICT)
    expect(outcomeOf(await client.submit(to, keyed(legFields(agreement, 1))))).toBe(CONFLICT)
    expect(await holdingOf(client, from.accountId)).toEqual(free('10'))
    expect((await revertGroup(stranger, squatting.groupId)).status).toBe(202)
    await finalGroup(client, squatting)
  })

  test('another amount, type, asset or account than agreed, under the right hash: the leg is 409 and applied as nothing less', async () => {
    const { client } = scene()
    const { from, to, agreement } = await dealOf(scene(), 'altered')
    await issued(client, 'ALTERED', from, '10')
    await agreed(client, agreement)
    const [debit, credit] = [legFields(agreement, 0), legFields(agreement, 1)]
    const wrong: readonly (readonly [Holder, Members])[] = [
      [from, { ...debit, amount: '4.999999999999999999' }],
      [from, { ...debit, amount: '6' }],
      [from, { ...debit, type: 'credit' }],
      [from, { ...debit, type: 'transfer' }],
      [from, { ...debit, type: 'transfer', to_account_id: to.accountId }],
      [from, { ...debit, token_id: 'ALTERED' }],
      [from, { ...debit, group_id: randomUUID() }],
      [from, { ...debit, terms_hash: agreementOn(agreement.legs, 3600).termsHash }],
      [to, { ...credit, amount: '500' }],
      [to, { ...credit, type: 'debit' }],
      [to, debit],
    ]
    for (const [holder, fields] of wrong) {
      expect([fields, outcomeOf(await client.submit(holder, keyed(fields)))]).toEqual([fields, CONFLICT])
    }
    const { group_id: _, ...groupless } = debit
    expect(outcomeOf(await client.submit(from, keyed(groupless)))).toBe('400 ERR_INVALID_GROUP_ID')
    for (const hash of ['', agreement.termsHash.toUpperCase(), agreement.termsHash.slice(7), null as never, 5]) {
      const reply = await client.submit(from, keyed({ ...debit, terms_hash: hash }))
      expect([hash, reply.status, fieldsOf(reply)]).toEqual([hash, 400, ['terms_hash']])
    }
    expect(await holdingOf(client, from.accountId)).toEqual(free('10'))
    expect(await holdingOf(client, from.accountId, 'ALTERED')).toEqual(free('10'))
    const group = await groupOf(client, agreement.groupId)
    expect(group['legs']).toMatchObject([{ leg_status: 'expected' }, { leg_status: 'expected' }])
    await revertGroup(client, agreement.groupId)
    await finalGroup(client, agreement)
  })
}

function strangers(scene: GetScene): void {
  test('a stranger’s leg in a linked group changes neither its status nor what others did, and compensates nothing', async () => {
    const { client, stranger } = scene()
    const groupId = randomUUID()
    const [from, to] = [await funded(client, 'linked@deals', '10'), await client.register('linked-to@deals')]
    const order = { type: 'transfer', amount: '5', to_account_id: to.accountId, group_id: groupId }
    const transfer = await moved(client, from, order)
    const before = await groupOf(client, groupId)
    const mallory = await funded(stranger, 'linked-mallory@deals', '1')
    const failing = await submitted(stranger, mallory, { type: 'debit', amount: '9', group_id: groupId })
    expect(failing).toMatchObject({ status: 'failed' })
    await moved(stranger, mallory, { type: 'debit', amount: '1', group_id: groupId })
    // The sums include transactions of any client under the ID; each party's own transactions are unchanged.
    const after = { ...before, net: [{ token_id: 'BASE', amount: '-1' }], balanced: false }
    expect(before).toMatchObject({ status: 'linked', net: [], balanced: true })
    expect(await groupOf(client, groupId)).toEqual(after)
    const named = { txn_ids: [textOf(transfer, 'txn_id')] }
    expect(outcomeOf(await revertGroup(stranger, groupId, named))).toBe(FORBIDDEN)
    expect(await groupOf(client, groupId)).toEqual(after)
    expect(await holdingOf(client, to.accountId)).toEqual(free('5'))
  })

  test('a stranger’s leg without terms_hash under a registered ID changes nothing about the group, open or settled', async () => {
    const { client, stranger } = scene()
    const { from, to, agreement } = await dealOf(scene(), 'intruded')
    await agreed(client, agreement)
    const mallory = await funded(stranger, 'intruder@deals', '10')
    const link = { group_id: agreement.groupId }
    const intrude = async (): Promise<void> => {
      const before = await groupOf(client, agreement.groupId)
      for (const order of [
        { type: 'debit', amount: '1' },
        { type: 'debit', amount: '1000' },
        { type: 'transfer', amount: '1', to_account_id: to.accountId },
        { type: 'credit', amount: '5' },
      ]) {
        const account = order.type === 'credit' ? await stranger.register(`${randomUUID()}@deals`) : mallory
        const reply = await stranger.submit(account, keyed({ ...order, ...link }))
        // Where it is known that the ID is registered it is refused; where not, it links.
        expect([202, 409]).toContain(reply.status)
        if (reply.status === 202) await ended(stranger, membersOf(reply))
      }
      expect(await groupOf(client, agreement.groupId)).toEqual(before)
    }
    await intrude()
    // The parties’ own accounts know that the ID is registered.
    for (const [holder, index] of [
      [from, 0],
      [to, 1],
    ] as const) {
      const { terms_hash: _, ...bare } = legFields(agreement, index)
      expect(outcomeOf(await client.submit(holder, keyed(bare)))).toBe(CONFLICT)
    }
    const [held, received] = [await holdingOf(client, from.accountId), await holdingOf(client, to.accountId)]
    expect(held).toEqual(free('10'))
    await moved(client, from, legFields(agreement, 0))
    await moved(client, to, legFields(agreement, 1))
    const settled = await finalGroup(client, agreement)
    expect(settled).toMatchObject({ status: 'settled', expected_legs: 2 })
    expect(await holdingOf(client, to.accountId)).toEqual(free(`${5 + Number(received.balance)}`))
    await intrude()
    expect(await groupOf(client, agreement.groupId)).toEqual(settled)
  })

  test('a leg marked boundary by a client without the grant: its group is 403, and nothing is expected anywhere', async () => {
    const { client, ungranted, admin } = scene()
    const holder = await ungranted.register('printing@deals')
    const credit = { account_id: holder.accountId, type: 'credit', amount: '500', boundary: true }
    const [out, unbalanced] = [
      { ...credit, type: 'debit' },
      { ...credit, boundary: false },
    ]
    expect(outcomeOf(await registerGroup(ungranted, agreementOn([credit, credit])))).toBe(FORBIDDEN)
    expect(outcomeOf(await registerGroup(ungranted, agreementOn([credit, out])))).toBe(FORBIDDEN)
    expect((await registerGroup(ungranted, agreementOn([unbalanced, unbalanced]))).status).toBe(400)
    const close = { status: 'closed', reason: 'nothing is expected here' }
    expect((await admin.post(`/v1/accounts/${holder.accountId}/status`, close)).status).toBe(200)
    expect(await holdingOf(client, holder.accountId)).toEqual(free('0'))
  })

  test('legs that net to zero create nothing: without the debit’s funds the credit never leaves incoming', async () => {
    const { ungranted } = scene()
    const [poor, rich] = [await ungranted.register('poor@deals'), await ungranted.register('rich@deals')]
    const agreement = await agreed(ungranted, agreementOn(payment(poor, rich, '1000000'), 3600))
    await moved(ungranted, rich, legFields(agreement, 1))
    expect(await holdingOf(ungranted, rich.accountId)).toEqual({ balance: '0', available: '0', incoming: '1000000' })
    const debit = await ungranted.submit(poor, keyed(legFields(agreement, 0)))
    expect(debit.status).toBe(202)
    expect(await finalGroup(ungranted, agreement)).toMatchObject({ status: 'reverted', partial_failures: [] })
    expect(await holdingOf(ungranted, rich.accountId)).toEqual(free('0'))
  })
}

function legs(scene: GetScene): void {
  test('a leg submitted twice under two keys: the second is 409; two equal legs are each taken once', async () => {
    const { client, elsewhere } = scene()
    const { from, to, agreement } = await dealOf(scene(), 'doubled')
    await agreed(client, agreement)
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, number) =>
        (number % 2 === 0 ? client : elsewhere).submit(from, keyed(legFields(agreement, 0))),
      ),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['202', ...Array.from({ length: 5 }, () => CONFLICT)])
    expect(await holdingOf(client, from.accountId)).toEqual(free('5'))
    await moved(client, to, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    const twice = agreementOn([...payment(from, to, '2'), ...payment(from, to, '2')], 3600)
    await agreed(client, twice)
    for (const [holder, index] of [
      [from, 0],
      [to, 1],
    ] as const) {
      const each = await Promise.all([1, 2, 3].map(() => client.submit(holder, keyed(legFields(twice, index)))))
      expect(each.map(outcomeOf).sort()).toEqual(['202', '202', CONFLICT])
    }
    expect(await finalGroup(client, twice)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(client, from.accountId)).toEqual(free('1'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('9'))
  })

  test('a captured leg replayed by another client, before and after its group ends, moves nothing', async () => {
    const { client, stranger } = scene()
    const { from, to, agreement } = await dealOf(scene(), 'replayed')
    await agreed(client, agreement)
    const body = signed({ account_id: from.accountId, ...keyed(legFields(agreement, 0)) }, from.keys.privateKey)
    const original = await client.post('/v1/transactions', body)
    expect(original.status).toBe(202)
    const replay = async (): Promise<void> => {
      const reply = await stranger.post('/v1/transactions', body)
      expect([reply.status, reply.body, reply.headers['idempotency-replayed']]).toEqual([202, original.body, 'true'])
    }
    await replay()
    expect(await holdingOf(client, from.accountId)).toEqual(free('5'))
    await moved(client, to, legFields(agreement, 1))
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'settled' })
    await replay()
    expect(await holdingOf(client, from.accountId)).toEqual(free('5'))
    expect(membersOf(original)['status']).toBe('pending')
  })

  test('a leg with terms_hash is never a plain debit: before its group is registered, under an ID that only links, after a revert', async () => {
    const { client } = scene()
    const { from, to, agreement } = await dealOf(scene(), 'never-less')
    const leg = legFields(agreement, 0)
    expect(outcomeOf(await client.submit(from, keyed(leg)))).toBe(CONFLICT)
    const linking = randomUUID()
    await moved(client, from, { type: 'debit', amount: '1', group_id: linking })
    expect(outcomeOf(await client.submit(from, keyed({ ...leg, group_id: linking })))).toBe(CONFLICT)
    await agreed(client, agreement)
    await moved(client, from, leg)
    expect((await revertGroup(client, agreement.groupId)).status).toBe(202)
    expect(await finalGroup(client, agreement)).toMatchObject({ status: 'reverted' })
    expect(outcomeOf(await client.submit(from, keyed(leg)))).toBe(CONFLICT)
    expect(outcomeOf(await client.submit(to, keyed(legFields(agreement, 1))))).toBe(CONFLICT)
    expect(await holdingOf(client, from.accountId)).toEqual(free('9'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('0'))
  })
}
