/** The fields of a token balance. */
import { expect } from 'vitest'
import { textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { moved } from '../../support/client-moves.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { expectTimeOfRun } from './times.ts'

export function tokenBalanceChapter(suite: Suite): void {
  const row = suite.chapter('Token balance')

  row('account_id', 'string, on the single balance and around the list, not in it', async (stage) => {
    const { accountId } = stage.cast.bob
    const { single, list, listed } = await shown(stage)
    expect([single['account_id'], list['account_id']]).toEqual([accountId, accountId])
    expect(listed).not.toHaveProperty('account_id')
  })

  row('token_id', 'string', async (stage) => {
    const { single, listed } = await shown(stage)
    expect([single['token_id'], listed['token_id']]).toEqual(['COIN', 'COIN'])
  })

  row('token_class', 'fungible, of the base unit too', async (stage) => {
    const { single, listed } = await shown(stage)
    expect([single['token_class'], listed['token_class']]).toEqual(['fungible', 'fungible'])
    const base = await stage.viewer.read(`/v1/accounts/${stage.cast.alice.accountId}/balances/BASE`)
    expect(base).toMatchObject({ token_id: 'BASE', token_class: 'fungible', decimals: 18 })
  })

  row('balance', 'decimal string, what came in less what went out; available and incoming beside it', async (stage) => {
    const { transactor } = stage
    const holder = await transactor.register('saver@balances')
    await moved(transactor, holder, { type: 'credit', amount: '10.250' })
    await moved(transactor, holder, { type: 'debit', amount: '0.25' })
    const path = `/v1/accounts/${holder.accountId}/balances/BASE`
    expect(await transactor.read(path)).toMatchObject({ balance: '10', available: '10', incoming: '0' })
    await moved(transactor, holder, { type: 'debit', amount: '10' })
    expect(await transactor.read(path)).toMatchObject({ balance: '0', available: '0', incoming: '0' })
    const { single, listed } = await shown(stage)
    expect([single['balance'], listed['balance']]).toEqual(['25', '25'])
  })

  row('decimals', 'integer, the precision of the token', async (stage) => {
    const { single, listed } = await shown(stage)
    expect([single['decimals'], listed['decimals']]).toEqual([2, 2])
  })

  row('updated_at', 'timestamp of the last movement', async (stage) => {
    const { transactor, cast } = stage
    const { single, listed } = await shown(stage)
    expectTimeOfRun(single['updated_at'])
    expect(listed['updated_at']).toBe(single['updated_at'])
    const { accountId } = await transactor.register('mover@balances')
    const toMover = { type: 'transfer', to_account_id: accountId, amount: '1', token_id: 'COIN' }
    const { group_id: groupId } = await moved(transactor, cast.bob, toMover)
    const sides = await transactor.readAll(`/v1/transactions/group/${String(groupId)}`, 'transactions')
    const credit = sides.find((side) => side['account_id'] === accountId) ?? {}
    const { processed_at: processedAt } = await transactor.read(`/v1/transactions/${textOf(credit, 'txn_id')}`)
    const balance = await transactor.read(`/v1/accounts/${accountId}/balances/COIN`)
    expect(balance['updated_at']).toBe(processedAt)
    await moved(transactor, { ...cast.alice }, { ...toMover, to_account_id: cast.bob.accountId })
  })
}

/** Bob's COIN: alone, and in the list. */
async function shown({ viewer, cast }: Stage): Promise<Readonly<Record<'single' | 'list' | 'listed', Members>>> {
  const path = `/v1/accounts/${cast.bob.accountId}/balances`
  const list = await viewer.read(path)
  const listed = (list['balances'] as readonly Members[]).find((one) => one['token_id'] === 'COIN') ?? {}
  return { single: await viewer.read(`${path}/COIN`), list, listed }
}
