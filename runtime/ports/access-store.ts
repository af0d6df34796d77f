/**
 * Clients and their refresh tokens. Secrets and tokens reach this port hashed: it never sees one in the clear.
 * Contract: test/contract/access-store.contract.ts
 *   X1. A refresh token is exchanged at most once, whoever asks at the same time.
 *   X2. What is committed, the next call of `findClient`, `listClients` and `listRevokedSessions` shows.
 *   X3. A family is never alive under a revoked client, whichever of login and revocation comes first.
 * Every failure is an `AccessStoreUnavailable`.
 */
import type { Role } from '../../actors/account/commands.ts'

export interface AccessStore {
  readonly findClient: (clientId: string) => Promise<ClientRecord | undefined>
  readonly listClients: () => Promise<readonly ClientRecord[]>
  /** Creates the client or changes what is given of it. */
  readonly putClient: (client: ClientRecord) => Promise<void>
  /** Revokes the client with all its families. False when there is none. */
  readonly revokeClient: (clientId: string, atMs: number) => Promise<boolean>
  readonly createFamily: (family: RefreshFamily) => Promise<void>
  /** Exchanges a live token for its successor, in one step. */
  readonly rotateFamily: (exchange: RefreshExchange) => Promise<RefreshOutcome>
  /** Sessions (families) that were revoked at `sinceMs` or later: go back as far as an access token lives, and some seconds. */
  readonly listRevokedSessions: (sinceMs: number) => Promise<readonly string[]>
}

/** `secretHash` is self-describing: `hmac-sha256:<hex>` for generated secrets, `scrypt:<params>:<salt>:<hash>` for chosen ones. */
export interface ClientRecord {
  readonly clientId: string
  readonly secretHash: string
  readonly role: Role
  readonly boundary: boolean | readonly string[]
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
}

export interface RefreshFamily {
  /** Also the `sid` of the access tokens that belong to it. */
  readonly sessionId: string
  readonly clientId: string
  /** SHA-256 in hexadecimal. */
  readonly tokenHash: string
  readonly expiresAtMs: number
  readonly createdAtMs: number
}

export interface RefreshExchange {
  readonly tokenHash: string
  readonly nextTokenHash: string
  readonly nextExpiresAtMs: number
  readonly atMs: number
  /** A used token that comes back later than this after its use revokes the family. */
  readonly reuseGraceMs: number
}

export type RefreshOutcome =
  | { readonly kind: 'rotated'; readonly sessionId: string; readonly clientId: string }
  | { readonly kind: 'unknown' | 'expired' | 'revoked' | 'reused' }

export class AccessStoreUnavailable extends Error {
  override readonly name = 'AccessStoreUnavailable'
}
