/** The in-memory access store. A test may make it fail or hang, or script the outcome of a refresh. */
import type { Rate } from '../../../../actors/rate.ts'
import { type ClientLimits, createClientLimits } from '../../../../runtime/edge/client-limits.ts'
import type { Clock } from '../../../../runtime/ports/clock.ts'
import type { Log } from '../../../../runtime/ports/log.ts'
import type { AccessStore, ClientRecord, RefreshOutcome } from '../../../../runtime/ports/access-store.ts'
import { createMemoryAccessStore, type MemoryFamily } from '../../../support/memory/access-store-memory.ts'

export interface FakeAccess extends AccessStore {
  readonly clients: Map<string, ClientRecord>
  /** As in MemoryAccessState. */
  readonly unreadable: Set<string>
  readonly families: MemoryFamily[]
  /** By its index among the families. */
  readonly revokeSession: (index: number) => void
  /** The result of the next exchange; null: that of the store. */
  refreshOutcome: RefreshOutcome | null
  /** Thrown by every call while it is set. */
  failure: Error | null
  /** While set, the reply with changes waits for `answer`. */
  hanging: boolean
  /** Answers hanging calls, and calls from now on. */
  readonly answer: () => void
  checked: number
}

export function createFakeAccess(): FakeAccess {
  const { store, state } = createMemoryAccessStore()
  const held: (() => void)[] = []
  const fake: FakeAccess = {
    clients: state.clients,
    unreadable: state.unreadable,
    families: state.families,
    revokeSession: (index) => {
      const family = state.families[index]
      if (family !== undefined) state.families[index] = { ...family, revokedAtMs: 1 }
    },
    refreshOutcome: null,
    failure: null,
    hanging: false,
    answer: () => {
      fake.hanging = false
      for (const release of held.splice(0)) release()
    },
    checked: 0,
    findClient: async (clientId) => await working().findClient(clientId),
    findAccess: async (clientId, sessionId) => await working().findAccess(clientId, sessionId),
    listClients: async (after, limit) => await working().listClients(after, limit),
    addClient: async (client, maker) => await working().addClient(client, maker),
    endClient: async (clientId, atMs, maker) => await working().endClient(clientId, atMs, maker),
    async changesSince(mark) {
      fake.checked += 1
      const changes = await working().changesSince(mark)
      if (fake.hanging) await new Promise<void>((resolve) => held.push(resolve))
      return changes
    },
    putClient: async (client) => await working().putClient(client),
    setRate: async (clientId, rate) => await working().setRate(clientId, rate),
    revokeClient: async (clientId, atMs) => await working().revokeClient(clientId, atMs),
    createFamily: async (family) => await working().createFamily(family),
    spendAssertion: async (assertion) => await working().spendAssertion(assertion),
    async rotateFamily(exchange) {
      const answering = working()
      return fake.refreshOutcome ?? (await answering.rotateFamily(exchange))
    },
  }
  function working(): AccessStore {
    if (fake.failure !== null) throw fake.failure
    return store
  }
  return fake
}

/** The limits of an edge without others beside it. */
export function loneClientLimits(clock: Clock, log: Log, defaultRate: Rate | null = null): ClientLimits {
  return createClientLimits({ clock, log, exchange: { tell: () => undefined, onTold: () => undefined }, defaultRate })
}
