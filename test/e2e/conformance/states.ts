/** The states of transactions and settlement groups, and how they change. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import {
  agreed,
  agreementOn,
  compensationsOf,
  finalGroup,
  groupOf,
  legFields,
  legStatuses,
  payment,
} from '../../support/client-groups.ts'
import { ended, free, funded, holdingOf, keyed, moved, outcomeOf, submitted } from '../../support/client-moves.ts'
import { SHA_256 } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export function statesChapters(suite: Suite): void {
  transactionStatus(suite)
  settlementGroup(suite)
}

function transactionStatus(suite: Suite): void {
  const row = suite.chapter('Transaction status')

  row('pending', 'enqueued: no hash, no receipt, not processed', async ({ viewer, cast }) => {
    const path = `/v1/transactions/${cast.pending.txnId}`
    const detail = await viewer.read(path)
    expect(detail).toMatchObject({ status: 'pending', audit_hash: null })
    expect(detail).not.toHaveProperty('processed_at')
    expect(outcomeOf(await viewer.get(`${path}/receipt`))).toBe('404 ERR_NOT_FOUND')
  })

  row('completed', 'processed: a hash, a signed receipt, on the ledger', async ({ viewer, cast }) => {
    const path = `/v1/transactions/${cast.credited.txnId}`
    expect(await viewer.read(path)).toMatchObject({
      status: 'completed',
      audit_hash: expect.stringMatching(SHA_256),
      processed_at: expect.any(String),
    })
    const { receipt } = await viewer.read(`${path}/receipt`)
    expect(receipt).toMatchObject({ txn_id: cast.credited.txnId, status: 'completed' })
  })

  row('failed', 'processing failed: says why, has a receipt and no entry', async ({ viewer, cast }) => {
    const path = `/v1/transactions/${cast.failed.txnId}`
    expect(await viewer.read(path)).toMatchObject({
      status: 'failed',
      audit_hash: null,
      failure: { code: 'insufficient_funds', detail: expect.any(String) },
    })
    const { receipt } = await viewer.read(`${path}/receipt`)
    expect(receipt).toMatchObject({ status: 'failed', sequence: null, previous_hash: null, audit_hash: null })
    const entries = await viewer.readAll(`/v1/accounts/${cast.carol.accountId}/audit-chain`, 'entries')
    expect(entries.some((entry) => entry['txn_id'] === cast.failed.txnId)).toBe(false)
  })

  row(
    'none to pending',
    'a valid submission is 202 with a receipt, and is found right after',
    async ({ transactor, cast }) => {
      const reply = await transactor.submit(cast.alice, keyed({ type: 'credit', amount: '1' }))
      const receipt = membersOf(reply)
      expect([reply.status, receipt['status']]).toEqual([202, 'pending'])
      const path = `/v1/transactions/${textOf(receipt, 'txn_id')}`
      expect(reply.headers.location).toBe(path)
      expect((await transactor.get(path)).status).toBe(200)
      expect(Number.isInteger(receipt['shard_id'])).toBe(true)
    },
  )

  row(
    'pending to completed',
    'the chain is one entry longer, the receipt signed, queries show it',
    async ({ transactor }) => {
      const holder = await transactor.register('one-more@states')
      const path = `/v1/accounts/${holder.accountId}`
      const before = await transactor.read(path)
      const detail = await moved(transactor, holder, { type: 'credit', amount: '3' })
      const after = await transactor.read(path)
      expect([before['sequence'], after['sequence'], after['audit_hash']]).toEqual([0, 1, detail['audit_hash']])
      const { receipt } = await transactor.read(`/v1/transactions/${textOf(detail, 'txn_id')}/receipt`)
      expect(receipt).toMatchObject({
        sequence: 1,
        previous_hash: before['audit_hash'],
        audit_hash: after['audit_hash'],
      })
      const list = await transactor.read(`/v1/transactions?account_id=${holder.accountId}&status=completed`)
      expect(list).toMatchObject({ total_count: 1, transactions: [{ txn_id: detail['txn_id'] }] })
    },
  )

  row(
    'pending to failed',
    'a debit beyond the balance, of zero too, changes nothing and is not tried again',
    async ({ transactor }) => {
      const holder = await transactor.register('empty@states')
      const path = `/v1/accounts/${holder.accountId}`
      const tip = (await transactor.read(path))['audit_hash']
      const ofNothing = await submitted(transactor, holder, { type: 'debit', amount: '1' })
      expect(ofNothing).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
      expect((await transactor.read(path))['audit_hash']).toBe(tip)
      await moved(transactor, holder, { type: 'credit', amount: '5' })
      const beyond = await submitted(transactor, holder, { type: 'debit', amount: '5.000000000000000001' })
      expect(beyond).toMatchObject({ status: 'failed', failure: { code: 'insufficient_funds' } })
      await moved(transactor, holder, { type: 'credit', amount: '5' })
      // Consumed: the funds that are there by now do not bring it back.
      expect(await transactor.read(`/v1/transactions/${textOf(beyond, 'txn_id')}`)).toEqual(beyond)
      expect(await holdingOf(transactor, holder.accountId)).toEqual(free('10'))
    },
  )
}

function settlementGroup(suite: Suite): void {
  const row = suite.chapter('Settlement group')

  row('settled', 'says so, and when', async ({ transactor }) => {
    const [from, to] = [await funded(transactor, 'from@settled', '5'), await transactor.register('to@settled')]
    const agreement = await agreed(transactor, agreementOn(payment(from, to, '5')))
    await moved(transactor, from, legFields(agreement, 0))
    await moved(transactor, to, legFields(agreement, 1))
    expect(await finalGroup(transactor, agreement)).toMatchObject({
      status: 'settled',
      expected_legs: 2,
      compensations: [],
      partial_failures: [],
      finished_at: expect.any(String),
    })
  })

  row('reverted', 'says so, and what was given back', async ({ transactor }) => {
    const [from, to] = [await funded(transactor, 'from@reverted', '5'), await transactor.register('to@reverted')]
    const legs = [...payment(from, to, '5'), ...payment(to, from, '7')]
    const agreement = await agreed(transactor, agreementOn(legs))
    const debit = await moved(transactor, from, legFields(agreement, 0))
    await submitted(transactor, to, legFields(agreement, 2))
    const group = await finalGroup(transactor, agreement)
    expect([group['status'], legStatuses(group)]).toEqual([
      'reverted',
      ['compensated', 'expected', 'failed', 'expected'],
    ])
    expect([...compensationsOf(group).keys()]).toEqual([debit['txn_id']])
  })

  row('to settled', 'when all legs completed; a leg that is sent twice counts once', async ({ transactor }) => {
    const [from, to] = [await funded(transactor, 'from@settling', '10'), await transactor.register('to@settling')]
    const agreement = await agreed(transactor, agreementOn(payment(from, to, '10')))
    const debit = keyed(legFields(agreement, 0))
    const receipts = [await transactor.submit(from, debit), await transactor.submit(from, debit)]
    expect(new Set(receipts.map(({ body }) => body)).size).toBe(1)
    await ended(transactor, membersOf(receipts[0] ?? { status: 0, headers: {}, body: '{}' }))
    await expect
      .poll(async () => legStatuses(await groupOf(transactor, agreement.groupId)))
      .toEqual(['completed', 'expected'])
    expect((await groupOf(transactor, agreement.groupId))['status']).toBe('open')
    await moved(transactor, to, legFields(agreement, 1))
    expect(await finalGroup(transactor, agreement)).toMatchObject({ status: 'settled' })
    expect(await holdingOf(transactor, to.accountId)).toEqual(free('10'))
    expect(await holdingOf(transactor, from.accountId)).toEqual(free('0'))
  })

  row(
    'to reverted',
    'every completed leg is compensated; what cannot be is reported and stops nothing',
    async (stage) => {
      const { transactor, admin } = stage
      const [from, to] = [await funded(transactor, 'from@undone', '8'), await transactor.register('to@undone')]
      const legs = payment(from, to, '8')
      const agreement = await agreed(transactor, agreementOn(legs))
      const debit = await moved(transactor, from, legFields(agreement, 0))
      const path = `/v1/settlement-groups/${agreement.groupId}`
      expect((await admin.post(`${path}/revert`, { reason: 'called off' })).status).toBe(202)
      const by = compensationsOf(await finalGroup(transactor, agreement)).get(textOf(debit, 'txn_id'))
      const compensating = await ended(transactor, { txn_id: String(by) })
      expect(compensating).toMatchObject({
        type: 'credit',
        amount: '8',
        origin: 'ledger',
        compensates: debit['txn_id'],
      })
      expect(await holdingOf(transactor, from.accountId)).toEqual(free('8'))
      expect(await partialFailure(stage)).toEqual({ undone: 1, failed: ['insufficient_funds'] })
    },
  )
}

/** Two linked credits, one of them spent, that an administrator undoes. */
async function partialFailure({ transactor, admin }: Stage): Promise<object> {
  const groupId = randomUUID()
  const [kept, spent] = [await transactor.register('kept@undone'), await transactor.register('spent@undone')]
  const txnIds: string[] = []
  for (const holder of [kept, spent]) {
    const credit = await moved(transactor, holder, { type: 'credit', amount: '4', group_id: groupId })
    txnIds.push(textOf(credit, 'txn_id'))
  }
  await moved(transactor, spent, { type: 'debit', amount: '4' })
  const path = `/v1/settlement-groups/${groupId}`
  await admin.post(`${path}/revert`, { reason: 'called off', txn_ids: txnIds })
  let group: Members = {}
  await expect
    .poll(async () => {
      group = await transactor.read(path)
      return compensationsOf(group).size + (group['partial_failures'] as readonly Members[]).length
    })
    .toBe(2)
  const failures = group['partial_failures'] as readonly Members[]
  return { undone: compensationsOf(group).size, failed: failures.map(({ code }) => code) }
}
