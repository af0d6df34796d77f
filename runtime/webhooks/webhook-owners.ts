/**
 * The clients that own webhooks, as their rights are now.
 *   O1. `refresh` asks for changes, and looks up only clients that changed: a revoked or changed client counts from the next
 *       call on.
 */
import { type AccountScope, accountScopeOf } from '../../actors/account-scope.ts'
import type { AccessStore } from '../ports/access-store.ts'

export interface WebhookOwners {
  /** Rejects if the store does not reply. */
  readonly refresh: () => Promise<void>
  /** The scope of the client; null: the client was revoked; undefined: it cannot be read at this moment. */
  readonly scopeOf: (clientId: string) => Promise<AccountScope | null | undefined>
}

export function createWebhookOwners(access: Pick<AccessStore, 'changesSince' | 'findAccess'>): WebhookOwners {
  const known = new Map<string, AccountScope | null>()
  let mark: string | null = null
  let refreshes = 0
  return {
    async refresh() {
      const { mark: next, changed } = await access.changesSince(mark)
      mark = next
      refreshes += 1
      if (changed === null) known.clear()
      else for (const clientId of changed.clients) known.delete(clientId)
    },
    async scopeOf(clientId) {
      const cached = known.get(clientId)
      if (cached !== undefined) return cached
      const current = refreshes
      const { client } = await access.findAccess(clientId, NO_SESSION)
      if (client === 'unreadable') return undefined
      const revoked = client === undefined || client.revokedAtMs !== null
      const scope = revoked ? null : accountScopeOf(client.accounts)
      // A look-up from before a change is not kept after it.
      if (current === refreshes) known.set(clientId, scope)
      return scope
    },
  }
}

const NO_SESSION = ''
