/** The edge's access store: the one in memory, which tests may make fail, hang or say what they script. */
import type { AccessStore, ClientRecord, RefreshFamily, RefreshOutcome } from '../../../runtime/ports/access-store.ts'
import { createMemoryAccessStore } from '../../support/access-store-memory.ts'

export interface FakeAccess extends AccessStore {
  readonly clients: Map<string, ClientRecord>
  /** As in MemoryAccessState. */
  readonly unreadable: Set<string>
  readonly families: RefreshFamily[]
  /** Listed as revoked besides those the store itself revoked. */
  readonly revokedSessions: Set<string>
  /** What the next exchange says; null: what the store says. */
  refreshOutcome: RefreshOutcome | null
  /** Thrown by every call while it is set. */
  failure: Error | null
  /** While set, the lists are not answered before `answer`. */
  hanging: boolean
  /** What hangs is answered, and what is asked from now on. */
  readonly answer: () => void
  listed: number
}

export function createFakeAccess(): FakeAccess {
  const { store, state } = createMemoryAccessStore()
  const revokedSessions = new Set<string>()
  const held: (() => void)[] = []
  const fake: FakeAccess = {
    clients: state.clients,
    unreadable: state.unreadable,
    families: state.families,
    revokedSessions,
    refreshOutcome: null,
    failure: null,
    hanging: false,
    answer: () => {
      fake.hanging = false
      for (const release of held.splice(0)) release()
    },
    listed: 0,
    findClient: async (clientId) => await working().findClient(clientId),
    async listClients() {
      fake.listed += 1
      const clients = await working().listClients()
      if (fake.hanging) await new Promise<void>((resolve) => held.push(resolve))
      return clients
    },
    putClient: async (client) => await working().putClient(client),
    revokeClient: async (clientId, atMs) => await working().revokeClient(clientId, atMs),
    createFamily: async (family) => await working().createFamily(family),
    async rotateFamily(exchange) {
      const answering = working()
      return fake.refreshOutcome ?? (await answering.rotateFamily(exchange))
    },
    listRevokedSessions: async (sinceMs) => [...(await working().listRevokedSessions(sinceMs)), ...revokedSessions],
  }
  function working(): AccessStore {
    if (fake.failure !== null) throw fake.failure
    return store
  }
  return fake
}
