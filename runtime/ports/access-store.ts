/**
 * Clients and their refresh tokens. Secrets and tokens reach this port hashed: it never sees one in the clear.
 * Contract: test/contract/access-store/access-store.contract.ts
 *   X1. A refresh token is exchanged at most once, also by concurrent callers.
 *   X2. `findClient`, `findAccess`, `listClients` and `changesSince` show every change committed before the call. A
 *       damaged or tampered client is in no list; a query for it returns `unreadable`, so that it is neither admitted
 *       nor taken for absent.
 *   X3. A revoked client has no live family, in whichever order login and revocation come.
 *   X4. Logins (`findClient`, `createFamily`, `spendAssertion`, `rotateFamily`) never delay `findAccess` and `changesSince`: login
 *       attempts need no credentials and have no limit. Nor does any number of `findAccess` delay `changesSince`.
 *   X5. An assertion is spent at most once, also by concurrent callers, and stays spent until it has expired.
 *   X6. A change by an administrator applies only if the administrator still has the rights that it was judged on. So two
 *       administrators cannot revoke each other.
 * Every failure is an `AccessStoreUnavailable`.
 */
import type { Role } from '../../actors/account/commands.ts'
import { canonicalJson } from '../../actors/canonical-json.ts'
import type { ScopeEntry } from '../../actors/account-scope.ts'
import { type OwnRate, showOwnRate } from '../../actors/rate.ts'

/** Bounds of the ID of a client. */
export const CLIENT_ID_FORM = /^[\x21-\x7e]{1,128}$/
export const CLIENT_ID_RULE = 'must be 1 to 128 printable ASCII characters without spaces'
/** Bounds of a new ID. Programs remove `.` and `..` from paths: no request could revoke such a client. */
export const NEW_CLIENT_ID_FORM = /^(?!\.{1,2}$)[\x21-\x7e]{1,128}$/
export const NEW_CLIENT_ID_RULE = `${CLIENT_ID_RULE}, other than "." and ".."`

export interface AccessStore {
  readonly findClient: (clientId: string) => Promise<ClientRecord | 'unreadable' | undefined>
  /** By ID, after the ID `after`; null: from the first. An unreadable client makes the page shorter. */
  readonly listClients: (after: string | null, limit: number) => Promise<ClientPage>
  /** Creates the client, or changes all but its creation time. Overwrites an unreadable client: callers must check. */
  readonly putClient: (client: ClientRecord) => Promise<void>
  /** Changes the rate, whatever else of the client changes meanwhile. Undefined if there is no such client. */
  readonly setRate: (clientId: string, rate: OwnRate) => Promise<ClientRecord | 'unreadable' | undefined>
  /** Revokes the client with all its families. False if there is no such client. */
  readonly revokeClient: (clientId: string, atMs: number) => Promise<boolean>
  /** Creates the client if there is none of its ID (X6). */
  readonly addClient: (client: ClientRecord, maker: Administrator) => Promise<ClientAddition>
  /** Revokes the client with all its families (X6), and returns it. An unreadable client stays as it is. */
  readonly endClient: (
    clientId: string,
    atMs: number,
    maker: Administrator,
  ) => Promise<ClientRecord | 'absent' | 'unreadable' | RefusedMaker>
  readonly createFamily: (family: RefreshFamily) => Promise<void>
  /** False: an assertion of this hash was spent before (X5). */
  readonly spendAssertion: (assertion: SpentAssertion) => Promise<boolean>
  /** Exchanges a live token for its successor, in one step. */
  readonly rotateFamily: (exchange: RefreshExchange) => Promise<RefreshOutcome>
  /** The client and the session of an access token. */
  readonly findAccess: (clientId: string, sessionId: string) => Promise<Access>
  /** The changes since the `mark` of an earlier reply; null: since the beginning. */
  readonly changesSince: (mark: string | null) => Promise<AccessChanges>
}

export interface ClientPage {
  readonly clients: readonly ClientRecord[]
  /** To continue after; null: this page is the last. */
  readonly next: string | null
}

/** An administrator without a scope, with the rights that its change was judged on. */
export type Administrator = Pick<ClientRecord, 'clientId' | 'boundary' | 'rate'>

/** `maker_revoked`: also absent or unreadable. `maker_changed`: it has other rights now. */
export type RefusedMaker = 'maker_revoked' | 'maker_changed'

/** `exists`: a client of this ID, which may be revoked. */
export type ClientAddition = 'created' | { readonly exists: ClientRecord | 'unreadable' } | RefusedMaker

/** Whether the administrator may still change clients as it was judged (X6). Undefined: yes. */
export function refusedMaker(
  found: ClientRecord | 'unreadable' | undefined,
  { boundary, rate }: Administrator,
): RefusedMaker | undefined {
  if (typeof found !== 'object' || found.revokedAtMs !== null) return 'maker_revoked'
  const judged = canonicalJson({ role: 'admin', accounts: null, boundary, rate: showOwnRate(rate) })
  const { role, accounts } = found
  const current = canonicalJson({ role, accounts, boundary: found.boundary, rate: showOwnRate(found.rate) })
  return judged === current ? undefined : 'maker_changed'
}

export interface Access {
  readonly client: ClientRecord | 'unreadable' | undefined
  /** False: the session was revoked, or belongs to another client. */
  readonly sessionLive: boolean
}

export interface AccessChanges {
  /** For the next call. */
  readonly mark: string
  /** Clients that were written or revoked, and revoked sessions; null: any of them may have changed. */
  readonly changed: { readonly clients: ReadonlySet<string>; readonly sessions: ReadonlySet<string> } | null
}

/** A client proves itself with a secret or a key: exactly one of the two is not null. */
export interface ClientRecord {
  readonly clientId: string
  /** Self-describing. */
  readonly secretHash: string | null
  /** Compressed P-256 point, base64url: the client signs assertions with the private key (RFC 7523). */
  readonly publicKey: string | null
  readonly role: Role
  readonly boundary: boolean | readonly string[]
  /** The client's scope; null: none. It names accounts, and is shown to administrators only. */
  readonly accounts: readonly ScopeEntry[] | null
  /** Limit on the client's requests at all edges together. */
  readonly rate: OwnRate
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
}

export interface RefreshFamily {
  /** Also the `sid` of the access tokens that belong to it. */
  readonly sessionId: string
  readonly clientId: string
  /** 64 hexadecimal digits: a keyed hash of a token that names its client, so that it fits no other row. */
  readonly tokenHash: string
  readonly expiresAtMs: number
  readonly createdAtMs: number
}

export interface SpentAssertion {
  /** 64 hexadecimal digits: a keyed hash of the client and the ID of the assertion. */
  readonly assertionHash: string
  readonly expiresAtMs: number
}

export interface RefreshExchange {
  readonly tokenHash: string
  readonly nextTokenHash: string
  readonly nextExpiresAtMs: number
  readonly atMs: number
  /** A used token that returns later than this after its use revokes the family. */
  readonly reuseGraceMs: number
}

export type RefreshOutcome =
  | { readonly kind: 'rotated'; readonly sessionId: string; readonly clientId: string }
  | { readonly kind: 'unknown' | 'expired' | 'revoked' | 'reused' }

export class AccessStoreUnavailable extends Error {
  override readonly name: string = 'AccessStoreUnavailable'
}

/** Too many logins wait for the store: this one was not started. */
export class AccessStoreOverloaded extends AccessStoreUnavailable {
  override readonly name = 'AccessStoreOverloaded'
}
