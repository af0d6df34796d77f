/** The log's store of the simulation, over the commits of the simulated database, under the contract of the real one. */
import { createKernel } from '../../simulation/kernel/kernel.ts'
import { SimDatabase } from '../../simulation/store/database.ts'
import { committedIn, logEntryOf } from '../../simulation/store/log-entries.ts'
import { createMemoryLogStore } from '../../support/memory/log-store-memory.ts'
import { chainEntry } from '../../support/chain.ts'
import { partWith, SALT } from '../../support/postgres/ledger-rows.ts'
import { logStoreContract } from './log-store.contract.ts'

const PIECE_ENTRIES = 50
const TOKEN = { shardId: 0, epoch: 1, attempt: 0 }

logStoreContract('the simulation', async () => {
  const database = new SimDatabase({ kernel: createKernel({ seed: 1 }), shardCount: 1 })
  const { rows, log: state } = database
  const clock = { now: () => Date.now() }
  const open = () =>
    createMemoryLogStore({
      state,
      clock,
      since: async (position) => committedIn(database, position, PIECE_ENTRIES),
      isAccepted: () => database.server.accepted,
    })
  let accounts = 0
  const begin = async (count: number) => {
    accounts += 1
    const accountId = `account-${accounts}`
    const number = rows.events.begin()
    const written = Array.from({ length: count }, (_, sequence) => ({
      accountId,
      ...chainEntry('', sequence, null, SALT, { type: 'registration', account_id: accountId }),
    }))
    return {
      entries: written.map(({ sequence, auditHash }) => logEntryOf(accountId, sequence, auditHash)),
      commit: async () => {
        const part = partWith(TOKEN, { entries: written })
        rows.apply([part])
        rows.events.write(number, [part])
        rows.events.end(number)
      },
      rollBack: async () => rows.events.end(number),
    }
  }
  return {
    store: open(),
    other: open(),
    commit: async (count) => {
      const { entries, commit } = await begin(count)
      await commit()
      return entries
    },
    begin,
    expireLease: async () => {
      state.lease = state.lease && { ...state.lease, untilMs: 0 }
    },
    pieceEntries: PIECE_ENTRIES,
    loseAcceptance: async () => database.promote(),
    close: async () => undefined,
  }
})
