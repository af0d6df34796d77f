/** The event log of the simulated database under the contract of the real one. */
import { expect, test } from 'vitest'
import type { AccountState } from '../../../actors/account/state.ts'
import { creditAccount, openAccount, partOf } from '../../support/postgres/ledger-rows.ts'
import { eraseAccount } from '../../support/postgres/ledger-rows-erasure.ts'
import { createSimHarness } from '../../simulation/store/harness.ts'
import { ledgerEventsContract } from './ledger-events.contract.ts'

async function openLedger() {
  const harness = await createSimHarness(1)
  const accounts = new Map<string, AccountState>()
  const owner = async (shardId: number) => {
    const session = await harness.open()
    const acquired = await harness.run(session.store.acquire(shardId, 0, 1))
    if (acquired.kind !== 'owned') throw new Error(`shard ${shardId} was not acquired`)
    const { token } = acquired
    const commit = async (change: ReturnType<typeof openAccount>): Promise<void> => {
      const verdict = await harness.run(session.store.commit({ shards: [partOf(token, change)] }))
      expect(verdict).toEqual({ kind: 'answered', committed: new Set([shardId]) })
      accounts.set(change.account.accountId, change.account)
    }
    return { session, commit }
  }
  const account = (accountId: string): AccountState => {
    const found = accounts.get(accountId)
    if (found === undefined) throw new Error(`${accountId} was not opened`)
    return found
  }
  return { harness, owner, account }
}

ledgerEventsContract('the simulation', async () => {
  const { harness, owner, account } = await openLedger()
  const { events } = harness
  const { commit } = await owner(3)
  return {
    events,
    async commit(...accountIds) {
      for (const accountId of accountIds) await commit(openAccount(3, accountId))
    },
    erase: (accountId) => commit(eraseAccount(account(accountId))),
    async foreignPosition() {
      const position = await events.end()
      await harness.promote()
      await harness.accept()
      return position
    },
    close: () => harness.close(),
  }
})

test('V3: a page ends below a running commit, and later commits follow it', async () => {
  const { harness, owner, account } = await openLedger()
  const [early, late] = [await owner(3), await owner(4)]
  await early.commit(openAccount(3, 'early'))
  const start = await harness.events.end()
  const subjects = async () => (await harness.events.read(start, 10)).events.map(({ subject }) => subject)
  const held = await early.session.holdCommits()
  const running = early.commit(creditAccount(account('early'), 'credit'))
  await harness.run(held.reached())
  await late.commit(openAccount(4, 'late'))
  expect(await subjects()).toEqual([])
  await held.letGo()
  await running
  expect(await subjects()).toEqual(['early', 'late'])
})
