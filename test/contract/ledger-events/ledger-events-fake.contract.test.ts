/** The event log in memory, which unit tests use, under the contract of the real one. */
import { accountEvent, createFakeEvents } from '../../unit/api/fakes/fake-events.ts'
import { ledgerEventsContract } from './ledger-events.contract.ts'

ledgerEventsContract('in memory', async () => {
  const events = createFakeEvents()
  const { log } = events
  return {
    events,
    async commit(...accountIds) {
      for (const accountId of accountIds) log.push(accountEvent(log, accountId))
    },
    erase: async (accountId) => events.erase(accountId),
    foreignPosition: async () => String(log.length + 1),
    close: async () => undefined,
  }
})
