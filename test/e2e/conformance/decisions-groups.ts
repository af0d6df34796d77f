/** Settlement groups: the operations that the specification leaves open, as they were decided (D10). */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import {
  agreed,
  agreementOn,
  finalGroup,
  legFields,
  payment,
  registerGroup,
  revertGroup,
} from '../../support/client-groups.ts'
import type { Members } from '../../support/client-keys.ts'
import { free, funded, holdingOf, keyed, moved, outcomeOf, submitted } from '../../support/client-moves.ts'
import { TIMESTAMP, TXN_ID } from './forms.ts'
import type { Suite } from './suite.ts'

export function groupOperationsChapter(suite: Suite): void {
  registrations(suite)
  endings(suite)
}

function registrations(suite: Suite): void {
  const row = suite.chapter('D10 settlement groups')

  row('POST /v1/settlement-groups', '201 with terms_hash; the same terms again 200; other terms 409', async (stage) => {
    const { transactor, stranger } = stage
    const [from, to] = [await transactor.register('from@terms'), await transactor.register('to@terms')]
    const agreement = agreementOn(payment(from, to, '5'), 120)
    const reply = await registerGroup(transactor, agreement)
    const group = membersOf(reply)
    expect([reply.status, reply.headers.location]).toEqual([201, `/v1/settlement-groups/${agreement.groupId}`])
    expect(group).toEqual({
      group_id: agreement.groupId,
      status: 'open',
      terms_hash: agreement.termsHash,
      expected_legs: 2,
      legs: agreement.legs.map((leg) => ({ ...leg, leg_status: 'expected' })),
      compensations: [],
      partial_failures: [],
      created_at: expect.stringMatching(TIMESTAMP),
      due_at: expect.stringMatching(TIMESTAMP),
      finished_at: null,
    })
    expect(Date.parse(textOf(group, 'due_at')) - Date.parse(textOf(group, 'created_at'))).toBe(120_000)
    expect((await registerGroup(transactor, agreement)).status).toBe(200)
    expect(outcomeOf(await registerGroup(stranger, agreement))).toBe('409 ERR_CONFLICT')
    const others = agreementOn(payment(from, to, '6'), 120, agreement.groupId)
    expect(outcomeOf(await registerGroup(transactor, others))).toBe('409 ERR_CONFLICT')
    expect((await revertGroup(transactor, agreement.groupId)).status).toBe(202)
  })

  row(
    'POST /v1/settlement-groups',
    '400 outside its limits: 2 to 64 legs, 1 to 86,400 s, netting to zero',
    async ({ transactor, cast }) => {
      const { alice, bob } = cast
      const pairs = (count: number): readonly Members[] =>
        Array.from({ length: count }, () => payment(alice, bob, '1')).flat()
      for (const [what, legs, timeoutSeconds] of [
        ['one leg', pairs(1).slice(0, 1), 60],
        ['66 legs', pairs(33), 60],
        ['no second', pairs(1), 0],
        ['a second more than a day', pairs(1), 86_401],
        ['a part of a second', pairs(1), 1.5],
        ['not netting', [...pairs(1), { account_id: bob.accountId, type: 'credit', amount: '1' }], 60],
      ] as const) {
        const body = { group_id: randomUUID(), legs, timeout_seconds: timeoutSeconds }
        expect([what, (await transactor.post('/v1/settlement-groups', body)).status]).toEqual([what, 400])
      }
      for (const [legs, timeoutSeconds] of [
        [pairs(32), 86_400],
        [pairs(1), 15],
      ] as const) {
        const agreement = agreementOn(legs, timeoutSeconds)
        expect((await registerGroup(transactor, agreement)).status).toBe(201)
        await revertGroup(transactor, agreement.groupId)
        expect(await finalGroup(transactor, agreement)).toMatchObject({ status: 'reverted' })
      }
      // It may be over before it is open: then the group is late, and nothing was wrong with the request.
      const shortest = await registerGroup(transactor, agreementOn(pairs(1), 1))
      const tooLate = { status: 409, detail: 'The group was not registered before its time was over.' }
      if (shortest.status !== 201) expect(membersOf(shortest)).toMatchObject(tooLate)
      const nobody = payment({ ...alice, accountId: 'nobody@nowhere' }, bob, '1')
      const unknown = await registerGroup(transactor, agreementOn(nobody))
      expect(outcomeOf(unknown)).toBe('404 ERR_NOT_FOUND')
    },
  )
}

function endings(suite: Suite): void {
  const row = suite.chapter('D10 settlement groups')

  row(
    'GET /v1/settlement-groups/{id}',
    '200 with where each leg stands; linked, without any, when it was never registered',
    async ({ transactor, viewer }) => {
      const [from, to] = [await funded(transactor, 'from@legs', '5'), await transactor.register('to@legs')]
      const agreement = await agreed(transactor, agreementOn(payment(from, to, '5')))
      const path = `/v1/settlement-groups/${agreement.groupId}`
      const taken = await moved(transactor, from, legFields(agreement, 0))
      await expect
        .poll(() => viewer.read(path))
        .toMatchObject({
          status: 'open',
          legs: [{ leg_status: 'completed', txn_id: taken['txn_id'] }, { leg_status: 'expected' }],
        })
      await moved(transactor, to, legFields(agreement, 1))
      const settled = await finalGroup(transactor, agreement)
      expect(settled).toMatchObject({ status: 'settled', finished_at: expect.stringMatching(TIMESTAMP) })
      expect(await holdingOf(transactor, to.accountId)).toEqual(free('5'))
      const late = await transactor.submit(to, keyed(legFields(agreement, 1)))
      expect(outcomeOf(late)).toBe('409 ERR_CONFLICT')
      const linked = randomUUID()
      await moved(transactor, from, { type: 'credit', amount: '1', group_id: linked })
      expect(await viewer.read(`/v1/settlement-groups/${linked}`)).toMatchObject({
        status: 'linked',
        terms_hash: null,
        expected_legs: 0,
        legs: [],
        due_at: null,
        finished_at: null,
      })
      expect(outcomeOf(await viewer.get(`/v1/settlement-groups/${randomUUID()}`))).toBe('404 ERR_NOT_FOUND')
      expect(outcomeOf(await viewer.get('/v1/settlement-groups/none'))).toBe('400 ERR_INVALID_GROUP_ID')
    },
  )

  row('GET /v1/settlement-groups/{id}', 'a leg that names the terms is that leg or nothing', async ({ transactor }) => {
    const [from, to] = [await funded(transactor, 'from@exact', '9'), await transactor.register('to@exact')]
    const agreement = await agreed(transactor, agreementOn(payment(from, to, '5')))
    const leg = legFields(agreement, 0)
    for (const other of [
      { ...leg, amount: '4' },
      { ...leg, type: 'burn', token_id: 'COIN' },
    ]) {
      expect(outcomeOf(await transactor.submit(from, keyed(other)))).toBe('409 ERR_CONFLICT')
    }
    const { terms_hash: _, ...linking } = leg
    expect(outcomeOf(await transactor.submit(from, keyed(linking)))).toBe('409 ERR_CONFLICT')
    await moved(transactor, from, { ...leg, amount: '5.00' })
    await revertGroup(transactor, agreement.groupId)
    await finalGroup(transactor, agreement)
  })

  row(
    'POST /v1/settlement-groups/{id}/revert',
    '202 for an administrator, or who registered; again 202; 409 once settled',
    async (stage) => {
      const { transactor, stranger, admin } = stage
      const [from, to] = [await funded(transactor, 'from@revert', '9'), await transactor.register('to@revert')]
      const agreement = await agreed(transactor, agreementOn(payment(from, to, '5')))
      await moved(transactor, from, legFields(agreement, 0))
      expect(outcomeOf(await revertGroup(stranger, agreement.groupId))).toBe('403 ERR_FORBIDDEN')
      const replies = [await revertGroup(transactor, agreement.groupId), await revertGroup(admin, agreement.groupId)]
      expect(replies.map(({ status }) => status)).toEqual([202, 202])
      expect(await finalGroup(transactor, agreement)).toMatchObject({
        status: 'reverted',
        compensations: [{ compensates: expect.stringMatching(TXN_ID), txn_id: expect.stringMatching(TXN_ID) }],
      })
      expect(await holdingOf(transactor, from.accountId)).toEqual(free('9'))
      const kept = await agreed(transactor, agreementOn(payment(from, to, '9')))
      await moved(transactor, from, legFields(kept, 0))
      await submitted(transactor, to, legFields(kept, 1))
      await finalGroup(transactor, kept)
      expect(outcomeOf(await revertGroup(admin, kept.groupId))).toBe('409 ERR_CONFLICT')
    },
  )
}
