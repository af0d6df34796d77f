/**
 * What clients may do now, as this edge knows it: a copy of the access store, renewed in the background.
 *   G1. A request judged by a copy older than 4 s waits for the renewal under way as long as a renewal may take: so what
 *       was revoked or changed holds at every edge within 5 s, as long as the store answers. Where that was in vain, later
 *       requests wait at most 1 s for each renewal: they must not pile up.
 *   G2. A copy older than 30 s is trusted no more: then nobody is let in before a renewal is answered.
 *   G3. Renewals are asked for by requests: an edge without any asks for none, and has nothing to stop.
 *   G4. A copy counts as old as the moment its renewal was sent.
 */
import type { Caller } from '../../actors/account/commands.ts'
import { type AccountScope, accountScopeOf } from '../../actors/account-scope.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { AccessStore, ClientRecord } from '../../runtime/ports/access-store.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'

export interface Grant {
  /** Goes with what is asked of the ledger. */
  readonly caller: Caller
  /** The accounts that there are for the client; judged here, told to nobody. */
  readonly scope: AccountScope
}

export interface Grants {
  /** `revoked`: no such client, or one that cannot be read, or client or session was revoked. `unknown`: the store has been silent for too long. */
  readonly grantOf: (clientId: string, sessionId: string) => Promise<Result<Grant, 'revoked' | 'unknown'>>
}

export const GRANTS_RENEW_AFTER_MS = 2000
export const GRANTS_WAIT_AFTER_MS = 4000
export const GRANTS_REFUSE_AFTER_MS = 30_000
/** A renewal without an answer after this is given up for lost and another one is sent. */
const RENEWAL_TIMEOUT_MS = 5000
/** How long a request waits for a renewal, counted from when the renewal was sent, where the one before was in vain. */
const WAIT_MS = 1000
/** After a renewal that failed. */
const RETRY_AFTER_MS = 500
/** Sessions are asked for this much longer than their tokens live, for clocks that differ. */
const CLOCK_MARGIN_MS = 60_000

interface Copy {
  /** Null: revoked. */
  readonly grants: Map<string, Grant | null>
  readonly revokedSessions: ReadonlySet<string>
  /** On the monotonic clock. */
  readonly sentAtMs: number
}

interface Renewal {
  readonly sentAtMs: number
  readonly done: Promise<void>
}

interface GrantsContext {
  readonly access: AccessStore
  readonly clock: Clock
  readonly log: Log
  readonly accessTokenTtlMs: number
}

export function createGrants(context: GrantsContext): Grants {
  const { access, clock, log, accessTokenTtlMs } = context
  let copy: Copy | undefined
  let renewal: Renewal | undefined
  let notBeforeMs = -Infinity
  /** Whether the last renewal that ended, or was given up, was none. */
  let failing = false

  const ageMs = (): number => (copy === undefined ? Infinity : clock.monotonic() - copy.sentAtMs)

  async function renew(sentAtMs: number): Promise<void> {
    try {
      const since = clock.now() - accessTokenTtlMs - CLOCK_MARGIN_MS
      const [clients, sessions] = await Promise.all([access.listClients(), access.listRevokedSessions(since)])
      if (copy !== undefined && copy.sentAtMs > sentAtMs) return
      copy = { grants: grantsOf(clients), revokedSessions: new Set(sessions), sentAtMs }
      failing = false
    } catch {
      if (copy !== undefined && copy.sentAtMs > sentAtMs) return
      failing = true
      notBeforeMs = clock.monotonic() + RETRY_AFTER_MS
      log.warn('grants_not_renewed', { age_ms: copy === undefined ? null : clock.monotonic() - copy.sentAtMs })
    }
  }

  function renewIfDue(): void {
    const now = clock.monotonic()
    if (renewal !== undefined && now - renewal.sentAtMs < RENEWAL_TIMEOUT_MS) return
    if (ageMs() < GRANTS_RENEW_AFTER_MS || now < notBeforeMs) return
    if (renewal !== undefined) failing = true
    const sent: Renewal = {
      sentAtMs: now,
      done: renew(now).then(() => {
        if (renewal === sent) renewal = undefined
      }),
    }
    renewal = sent
  }

  const isTrusted = (): boolean => ageMs() < GRANTS_REFUSE_AFTER_MS

  async function waitForRenewal(): Promise<void> {
    if (renewal === undefined) return
    const waitMs = failing ? WAIT_MS : RENEWAL_TIMEOUT_MS
    const leftMs = renewal.sentAtMs + waitMs - clock.monotonic()
    if (leftMs <= 0) return
    const { done } = renewal
    await new Promise<void>((resolve) => {
      const timer = clock.after(leftMs, resolve)
      void done.then(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  return {
    async grantOf(clientId, sessionId) {
      if (ageMs() >= GRANTS_RENEW_AFTER_MS) renewIfDue()
      if (ageMs() >= GRANTS_WAIT_AFTER_MS) await waitForRenewal()
      if (copy === undefined || !isTrusted()) return refuse('unknown')
      if (copy.revokedSessions.has(sessionId)) return refuse('revoked')
      const known = copy.grants.get(clientId)
      if (known !== undefined) return known === null ? refuse('revoked') : ok(known)
      // A token of ours whose client is not in the copy: the client may be younger than the copy.
      const judged = copy
      const client = await access.findClient(clientId)
      if (client === undefined) return refuse('revoked')
      const grant = client === 'unreadable' ? null : grantFrom(client)
      judged.grants.set(clientId, grant)
      return grant === null ? refuse('revoked') : ok(grant)
    },
  }
}

function grantsOf(clients: readonly ClientRecord[]): Map<string, Grant | null> {
  return new Map(clients.map((client) => [client.clientId, grantFrom(client)]))
}

function grantFrom({ clientId, role, boundary, accounts, revokedAtMs }: ClientRecord): Grant | null {
  return revokedAtMs === null ? { caller: { clientId, role, boundary }, scope: accountScopeOf(accounts) } : null
}
