/** The access store in memory: all that the port promises, for tests that want no database. */
import {
  type AccessChanges,
  type AccessStore,
  AccessStoreUnavailable,
  type ClientRecord,
  refusedMaker,
  type RefreshExchange,
  type RefreshFamily,
  type RefreshOutcome,
} from '../../../runtime/ports/access-store.ts'

export interface MemoryFamily extends RefreshFamily {
  readonly revokedAtMs: number | null
}

/** State that all stores made from it share. Each call takes effect in one turn, so none sees half of another. */
export interface MemoryAccessState {
  readonly clients: Map<string, ClientRecord>
  /** IDs of clients that are not what was written of them. */
  readonly unreadable: Set<string>
  readonly families: MemoryFamily[]
  /** By the hash of the token. */
  readonly usedTokens: Map<string, { readonly sessionId: string; readonly usedAtMs: number }>
  readonly spentAssertions: Set<string>
  /** The state at each call of `changesSince`; its mark is the index in this list. */
  readonly seen: SeenAccess[]
}

interface SeenAccess {
  readonly clients: ReadonlyMap<string, string>
  readonly revoked: ReadonlySet<string>
}

export function createMemoryAccessStore(): {
  readonly store: AccessStore
  readonly other: AccessStore
  readonly state: MemoryAccessState
} {
  const state: MemoryAccessState = {
    clients: new Map(),
    unreadable: new Set(),
    families: [],
    usedTokens: new Map(),
    spentAssertions: new Set(),
    seen: [],
  }
  return { store: storeOn(state), other: storeOn(state), state }
}

function storeOn(state: MemoryAccessState): AccessStore {
  const { clients, families } = state
  return {
    findClient: async (clientId) => foundIn(state, clientId),
    async listClients(after, limit) {
      const ids = [...clients.keys()].filter((clientId) => clientId > (after ?? '')).sort()
      const page = ids.slice(0, limit)
      const readable = page.flatMap((clientId) => (state.unreadable.has(clientId) ? [] : (clients.get(clientId) ?? [])))
      return { clients: structuredClone(readable), next: ids.length > limit ? (page.at(-1) ?? null) : null }
    },
    async addClient(client, maker) {
      const refused = refusedMaker(foundIn(state, maker.clientId), maker)
      if (refused !== undefined) return refused
      const exists = foundIn(state, client.clientId)
      if (exists !== undefined) return { exists }
      clients.set(client.clientId, structuredClone(client))
      return 'created'
    },
    async endClient(clientId, atMs, maker) {
      const refused = refusedMaker(foundIn(state, maker.clientId), maker)
      if (refused !== undefined) return refused
      const found = foundIn(state, clientId)
      if (typeof found !== 'object') return found ?? 'absent'
      const ended = { ...found, revokedAtMs: found.revokedAtMs ?? atMs }
      clients.set(clientId, ended)
      revokeFamilies(state, clientId, atMs)
      return structuredClone(ended)
    },
    async putClient(client) {
      const createdAtMs = clients.get(client.clientId)?.createdAtMs ?? client.createdAtMs
      clients.set(client.clientId, structuredClone({ ...client, createdAtMs }))
      if (client.revokedAtMs !== null) revokeFamilies(state, client.clientId, client.revokedAtMs)
    },
    async setRate(clientId, rate) {
      const client = await this.findClient(clientId)
      if (typeof client === 'object') clients.set(clientId, { ...client, rate })
      return typeof client === 'object' ? { ...client, rate } : client
    },
    async revokeClient(clientId, atMs) {
      const client = clients.get(clientId)
      if (client === undefined) return false
      clients.set(clientId, { ...client, revokedAtMs: client.revokedAtMs ?? atMs })
      revokeFamilies(state, clientId, atMs)
      return true
    },
    async createFamily(family) {
      const taken = families.some(
        (other) => other.sessionId === family.sessionId || other.tokenHash === family.tokenHash,
      )
      if (taken) throw new AccessStoreUnavailable('There is such a session or token already.')
      const live = clients.get(family.clientId)?.revokedAtMs === null
      families.push({ ...family, revokedAtMs: live ? null : family.createdAtMs })
    },
    async spendAssertion({ assertionHash }) {
      const isNew = !state.spentAssertions.has(assertionHash)
      state.spentAssertions.add(assertionHash)
      return isNew
    },
    rotateFamily: async (exchange) => rotateFamily(state, exchange),
    async findAccess(clientId, sessionId) {
      const live = families.some(
        (family) => family.sessionId === sessionId && family.clientId === clientId && family.revokedAtMs === null,
      )
      return { client: await this.findClient(clientId), sessionLive: live }
    },
    async changesSince(mark) {
      const seen = mark === null ? undefined : state.seen[Number(mark)]
      const now: SeenAccess = {
        clients: new Map([...clients].map(([id, client]) => [id, JSON.stringify([client, state.unreadable.has(id)])])),
        revoked: new Set(families.filter((family) => family.revokedAtMs !== null).map((family) => family.sessionId)),
      }
      const number = state.seen.push(now) - 1
      return { mark: String(number), changed: seen === undefined ? null : changesBetween(seen, now) }
    },
  }
}

function foundIn(state: MemoryAccessState, clientId: string): ClientRecord | 'unreadable' | undefined {
  if (state.unreadable.has(clientId)) return 'unreadable'
  const client = state.clients.get(clientId)
  return client === undefined ? undefined : structuredClone(client)
}

/** Tests change the state by hand: changes are found by comparison. */
function changesBetween(seen: SeenAccess, now: SeenAccess): NonNullable<AccessChanges['changed']> {
  const clients = [...seen.clients.keys(), ...now.clients.keys()]
  return {
    clients: new Set(clients.filter((id) => seen.clients.get(id) !== now.clients.get(id))),
    sessions: new Set([...now.revoked].filter((id) => !seen.revoked.has(id))),
  }
}

function revokeFamilies(state: MemoryAccessState, clientId: string, atMs: number): void {
  for (const [index, family] of state.families.entries()) {
    if (family.clientId === clientId) revokeFamily(state, index, atMs)
  }
}

function revokeFamily(state: MemoryAccessState, index: number, atMs: number): void {
  const family = state.families[index]
  if (family !== undefined) state.families[index] = { ...family, revokedAtMs: family.revokedAtMs ?? atMs }
}

function rotateFamily(state: MemoryAccessState, exchange: RefreshExchange): RefreshOutcome {
  const { clients, families, usedTokens } = state
  const index = families.findIndex((family) => family.tokenHash === exchange.tokenHash)
  const family = families[index]
  if (family === undefined) return usedExchange(state, exchange)
  if (family.revokedAtMs !== null || clients.get(family.clientId)?.revokedAtMs !== null) return { kind: 'revoked' }
  if (family.expiresAtMs <= exchange.atMs) return { kind: 'expired' }
  if (families.some((other) => other.tokenHash === exchange.nextTokenHash)) {
    throw new AccessStoreUnavailable('There is such a token already.')
  }
  usedTokens.set(exchange.tokenHash, { sessionId: family.sessionId, usedAtMs: exchange.atMs })
  families[index] = { ...family, tokenHash: exchange.nextTokenHash, expiresAtMs: exchange.nextExpiresAtMs }
  return { kind: 'rotated', sessionId: family.sessionId, clientId: family.clientId }
}

/** A used token yields nothing; one that comes back late takes its family with it. */
function usedExchange(state: MemoryAccessState, exchange: RefreshExchange): RefreshOutcome {
  const used = state.usedTokens.get(exchange.tokenHash)
  if (used === undefined) return { kind: 'unknown' }
  const index = state.families.findIndex((family) => family.sessionId === used.sessionId)
  if (state.families[index]?.revokedAtMs !== null) return { kind: 'revoked' }
  if (used.usedAtMs < exchange.atMs - exchange.reuseGraceMs) revokeFamily(state, index, exchange.atMs)
  return { kind: 'reused' }
}
