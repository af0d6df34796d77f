/** The event log of a real ledger under the contract. */
import { accountAddress } from '../../../actors/address.ts'
import { acceptServer } from '../../../infra/postgres/connection/accepted-servers.ts'
import { createLedgerEvents } from '../../../infra/postgres/reads/ledger-events-postgres.ts'
import type { EventPosition, LedgerEvent } from '../../../runtime/ports/ledger-events.ts'
import { createAuditedLedger, Parties } from '../../support/audited-ledger.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { ledgerEventsContract } from './ledger-events.contract.ts'

ledgerEventsContract('PostgreSQL', async () => {
  const ledger = await createAuditedLedger()
  const { url, ledgerId, vault, node, sql } = ledger
  const events = createLedgerEvents({ url, ledgerId, vault })
  const parties = new Parties(ledger)

  /** Commits, and waits for the event: another transaction of PostgreSQL may still run. */
  async function committed(isThere: (event: LedgerEvent) => boolean, commit: () => Promise<unknown>): Promise<void> {
    const start: EventPosition = await events.end()
    await commit()
    await until(async () => (await events.read(start, 1_000)).events.some(isThere))
  }

  return {
    events,
    async commit(...accountIds) {
      for (const id of accountIds)
        await committed(
          ({ subject }) => subject === id,
          () => parties.open(id),
        )
    },
    async erase(accountId) {
      const ask = (operation: Parameters<typeof node.ask>[1]) => node.ask(accountAddress(accountId), operation)
      await ask({ kind: 'change_status', status: 'closed', incoming: null, reason: 'a test' })
      await committed(
        ({ name }) => name === 'account.erased',
        () => ask({ kind: 'erase', reason: 'a test' }),
      )
    },
    async foreignPosition() {
      const position = await events.end()
      await acceptServer(sql)
      return position
    },
    async close() {
      await events.close()
      await ledger.close()
    },
  }
})
