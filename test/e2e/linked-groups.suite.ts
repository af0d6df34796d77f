/** Goal: an ID that was never registered only links; an administrator undoes what it names, once, where that can be (D10). */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/client.ts'
import { until } from '../support/cluster-process.ts'
import { compensationsOf, groupOf, revertGroup } from '../support/client-groups.ts'
import type { Members } from '../support/client-keys.ts'
import { ended, fieldsOf, free, funded, holdingOf, moved, outcomeOf } from '../support/client-moves.ts'
import { checkOffline } from './offline-check.ts'
import type { GetScene, Scene } from './scene.ts'

const DEADLINE_MS = 180_000

export function linkedGroupsSuite(scene: GetScene): void {
  describe('linked groups', () => {
    compensations(scene)
    refusals(scene)
  })
}

/** The group once so many transactions are undone, both sides of a transfer being two, or cannot be. */
async function reportOf({ client }: Scene, groupId: string, count: number): Promise<Members> {
  let group: Members = {}
  await until(`${count} transactions of the group are undone or failed to be`, DEADLINE_MS, async () => {
    group = await groupOf(client, groupId)
    const failures = group['partial_failures'] as readonly Members[]
    return compensationsOf(group).size + failures.length === count
  })
  return group
}

function compensations(scene: GetScene): void {
  test('D10: of several named transactions, one has been spent: it is a partial failure, the others are undone, each once', async () => {
    const { client, admin } = scene()
    const groupId = randomUUID()
    const group = { group_id: groupId }
    const [kept, spent] = [await client.register('kept@linked'), await client.register('spent@linked')]
    const [payer, payee] = [await funded(client, 'payer@linked', '20'), await client.register('payee@linked')]
    const credit = await moved(client, kept, { type: 'credit', amount: '10', ...group })
    const gone = await moved(client, spent, { type: 'credit', amount: '5', ...group })
    await moved(client, spent, { type: 'debit', amount: '5' })
    const debit = await moved(client, payer, { type: 'debit', amount: '8', ...group })
    const transfer = await moved(client, payer, {
      type: 'transfer',
      amount: '12',
      to_account_id: payee.accountId,
      ...group,
    })
    expect(await groupOf(client, groupId)).toMatchObject({
      group_id: groupId,
      status: 'linked',
      terms_hash: null,
      compensations: [],
      partial_failures: [],
    })
    const txnIds = [credit, gone, debit, transfer].map((one) => textOf(one, 'txn_id'))
    const named = { txn_ids: txnIds }
    expect((await revertGroup(admin, groupId, named)).status).toBe(202)
    const report = await reportOf(scene(), groupId, 5)
    expect(txnIds.filter((txnId) => compensationsOf(report).has(txnId))).toEqual(
      [credit, debit, transfer].map((one) => textOf(one, 'txn_id')),
    )
    expect(report).toMatchObject({
      status: 'linked',
      partial_failures: [{ txn_id: gone['txn_id'], code: 'insufficient_funds', detail: expect.any(String) }],
    })
    expect(await holdingOf(client, kept.accountId)).toEqual(free('0'))
    expect(await holdingOf(client, spent.accountId)).toEqual(free('0'))
    expect(await holdingOf(client, payer.accountId)).toEqual(free('20'))
    expect(await holdingOf(client, payee.accountId)).toEqual(free('0'))
    for (const [txnId, by] of compensationsOf(report)) {
      const undoing = await ended(client, { txn_id: by })
      expect(undoing).toMatchObject({ status: 'completed', group_id: groupId, origin: 'ledger' })
      const undone = await client.read(`/v1/transactions/${txnId}`)
      expect(textOf(undone, 'compensated_by')).toBe(by)
    }
    expect(await client.read(`/v1/transactions/${textOf(transfer, 'txn_id')}`)).toMatchObject({
      compensated_by: expect.stringMatching(/^txn_/),
    })
    // Again, twice. What is named last at the account that failed is heard there after those: it tells that they are over.
    for (let time = 0; time < 2; time += 1) expect((await revertGroup(admin, groupId, named)).status).toBe(202)
    const last = await moved(client, spent, { type: 'credit', amount: '1', ...group })
    expect((await revertGroup(admin, groupId, { txn_ids: [textOf(last, 'txn_id')] })).status).toBe(202)
    const again = await reportOf(scene(), groupId, 6)
    expect(again['partial_failures']).toEqual(report['partial_failures'])
    expect([...compensationsOf(again)]).toEqual([
      ...compensationsOf(report),
      [textOf(last, 'txn_id'), expect.stringMatching(/^txn_/)],
    ])
    // Five of clients with the one that a transfer made, one that undoes each of five and the other side of one of those.
    expect(await client.readAll(`/v1/transactions/group/${groupId}`, 'transactions')).toHaveLength(6 + 5)
    expect(await holdingOf(client, payer.accountId)).toEqual(free('20'))
    const accounts = [kept, spent, payer, payee].map(({ accountId }) => accountId)
    const checked = await checkOffline(client, accounts)
    expect(checked).toMatchObject({ code: 0 })
  })

  test('D10: what failed for want of funds is undone when it is named again and the funds are there', async () => {
    const { client, admin } = scene()
    const groupId = randomUUID()
    const [from, to] = [await funded(client, 'retry@linked', '6'), await client.register('retry-to@linked')]
    const order = { type: 'transfer', amount: '6', to_account_id: to.accountId, group_id: groupId }
    const transfer = await moved(client, from, order)
    await moved(client, to, { type: 'debit', amount: '6' })
    const named = { txn_ids: [textOf(transfer, 'txn_id')] }
    await revertGroup(admin, groupId, named)
    expect((await reportOf(scene(), groupId, 1))['partial_failures']).toMatchObject([{ code: 'insufficient_funds' }])
    expect(await holdingOf(client, from.accountId)).toEqual(free('0'))
    await moved(client, to, { type: 'credit', amount: '7' })
    await revertGroup(admin, groupId, named)
    await until('the transfer is undone', DEADLINE_MS, async () => {
      return compensationsOf(await groupOf(client, groupId)).has(textOf(transfer, 'txn_id'))
    })
    expect((await groupOf(client, groupId))['partial_failures']).toEqual([])
    expect(await holdingOf(client, from.accountId)).toEqual(free('6'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('1'))
  })

  test('D10: both sides of a transfer named at once are undone once', async () => {
    const { client, admin } = scene()
    const groupId = randomUUID()
    const [from, to] = [await funded(client, 'both@linked', '6'), await funded(client, 'both-to@linked', '100')]
    await moved(client, from, { type: 'transfer', amount: '6', to_account_id: to.accountId, group_id: groupId })
    const sides = await client.readAll(`/v1/transactions/group/${groupId}`, 'transactions')
    expect(sides).toHaveLength(2)
    await revertGroup(admin, groupId, { txn_ids: sides.map((side) => textOf(side, 'txn_id')) })
    const report = await reportOf(scene(), groupId, 3)
    expect([...compensationsOf(report).keys()].toSorted()).toEqual(
      sides.map((side) => textOf(side, 'txn_id')).toSorted(),
    )
    expect(report['partial_failures']).toMatchObject([{ code: 'already_compensated' }])
    expect(await holdingOf(client, from.accountId)).toEqual(free('6'))
    expect(await holdingOf(client, to.accountId)).toEqual(free('100'))
  })
}

function refusals(scene: GetScene): void {
  test('D10: only an administrator undoes, only what it names, and only of this group', async () => {
    const { client, admin, stranger } = scene()
    const [mine, others] = [randomUUID(), randomUUID()]
    const holder = await client.register('named@linked')
    const credit = await moved(client, holder, { type: 'credit', amount: '3', group_id: mine })
    const other = await moved(client, holder, { type: 'credit', amount: '4', group_id: others })
    const named = { txn_ids: [textOf(credit, 'txn_id')] }
    for (const party of [client, stranger]) {
      expect(outcomeOf(await revertGroup(party, mine, named))).toBe('403 ERR_FORBIDDEN')
    }
    const unnamed = await revertGroup(admin, mine)
    expect([unnamed.status, fieldsOf(unnamed)]).toEqual([400, ['txn_ids']])
    const foreign = await revertGroup(admin, mine, { txn_ids: [textOf(other, 'txn_id')] })
    expect([outcomeOf(foreign), fieldsOf(foreign)]).toEqual(['404 ERR_NOT_FOUND', ['txn_ids[0]']])
    const unknown = await revertGroup(admin, randomUUID(), named)
    expect(unknown.status).toBe(404)
    expect((await client.get(`/v1/settlement-groups/${randomUUID()}`)).status).toBe(404)
    expect(outcomeOf(await revertGroup(admin, 'no-uuid', named))).toBe('400 ERR_INVALID_GROUP_ID')
    expect(await holdingOf(client, holder.accountId)).toEqual(free('7'))
    expect(await groupOf(client, mine)).toMatchObject({ status: 'linked', compensations: [], partial_failures: [] })
  })
}
