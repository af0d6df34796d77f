/**
 * The edge's cache of recent sessions, each with its client's grants. The edge polls the access store for changes.
 *   G1. If the last successful check is more than 4 s old, a request waits for the check in flight, at most as long as a
 *       check may take: so a revocation or change holds at every edge within 5 s while the store replies. After a failed
 *       check, later requests wait at most 1 s for each check, so that they do not pile up.
 *   G2. After 30 s without a successful check the cache is not trusted: the edge refuses requests until a check succeeds.
 *   G3. Requests start the checks: an edge without requests makes none, and has nothing to stop.
 *   G4. A check counts from the moment it was sent.
 *   G5. A check costs in proportion to the changes; the cache holds at most MAX_KNOWN sessions. The result of a look-up
 *       that was sent before a check with changes is used once and not cached.
 *   G6. Beyond MAX_KNOWN the edge evicts the least recently used sessions of the clients with the most: a client with
 *       many sessions evicts none of a client with fewer. Each client has its own queue for look-ups.
 */
import type { Caller } from '../../actors/account/commands.ts'
import { type AccountScope, accountScopeOf } from '../../actors/account-scope.ts'
import type { OwnRate } from '../../actors/rate.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Access, AccessChanges, AccessStore } from '../../runtime/ports/access-store.ts'
import type { Clock } from '../../runtime/ports/clock.ts'
import type { Log } from '../../runtime/ports/log.ts'
import { createSlotsPerHolder } from '../../runtime/common/slots.ts'

export interface Grant {
  /** Goes with what is asked of the ledger. */
  readonly caller: Caller
  /** The accounts in the client's scope. It is checked here and appears in no response. */
  readonly scope: AccountScope
  readonly rate: OwnRate
}

export interface Grants {
  /** `revoked`: the client or session is absent, unreadable or revoked. `unknown`: the store has been silent too long. */
  readonly grantOf: (clientId: string, sessionId: string) => Promise<Result<Grant, 'revoked' | 'unknown'>>
}

const CHECK_AFTER_MS = 2000
const WAIT_AFTER_MS = 4000
const REFUSE_AFTER_MS = 30_000
/** After this time without a reply the edge gives up a check and sends another one. */
const CHECK_TIMEOUT_MS = 5000
/** How long a request waits for a check after a failed one, counted from the check's start. */
const WAIT_MS = 1000
/** After a check that failed. */
const RETRY_AFTER_MS = 500
const MAX_KNOWN = 10_000
/** Sessions left after an eviction: it sorts all sessions, so it makes room for many. */
const KEPT_AFTER_EVICTION = 9_000
/** G6: the limit of concurrent look-ups at the store. */
const LOOK_UPS_OF_ONE_CLIENT = { concurrency: 2, maxWaiting: 1_000 }

interface KnownSession {
  readonly clientId: string
  /** Null: revoked. */
  readonly grant: Grant | null
  /** Greater: used more recently. */
  usedAt: number
}

interface Check {
  readonly sentAtMs: number
  readonly done: Promise<void>
}

interface GrantsContext {
  readonly access: Pick<AccessStore, 'changesSince' | 'findAccess'>
  readonly clock: Clock
  readonly log: Log
}

export function createGrants({ access, clock, log }: GrantsContext): Grants {
  const sessions = createKnownSessions(access)
  let mark: string | null = null
  /** When the last successful check was sent, on the monotonic clock. */
  let checkedAtMs = -Infinity
  let check: Check | undefined
  let notBeforeMs = -Infinity
  /** Whether the last ended check failed or was given up. */
  let failing = false

  const ageMs = (): number => clock.monotonic() - checkedAtMs

  async function send(sentAtMs: number): Promise<void> {
    try {
      const changes = await access.changesSince(mark)
      if (checkedAtMs > sentAtMs) return
      sessions.forget(changes.changed)
      mark = changes.mark
      checkedAtMs = sentAtMs
      failing = false
    } catch {
      if (checkedAtMs > sentAtMs) return
      failing = true
      notBeforeMs = clock.monotonic() + RETRY_AFTER_MS
      log.warn('grants_not_renewed', { age_ms: mark === null ? null : ageMs() })
    }
  }

  function checkIfDue(): void {
    const now = clock.monotonic()
    if (check !== undefined && now - check.sentAtMs < CHECK_TIMEOUT_MS) return
    if (ageMs() < CHECK_AFTER_MS || now < notBeforeMs) return
    if (check !== undefined) failing = true
    const sent: Check = {
      sentAtMs: now,
      done: send(now).then(() => {
        if (check === sent) check = undefined
      }),
    }
    check = sent
  }

  async function waitForCheck(): Promise<void> {
    if (check === undefined) return
    const waitMs = failing ? WAIT_MS : CHECK_TIMEOUT_MS
    const leftMs = check.sentAtMs + waitMs - clock.monotonic()
    if (leftMs <= 0) return
    const { done } = check
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
      if (ageMs() >= CHECK_AFTER_MS) checkIfDue()
      if (ageMs() >= WAIT_AFTER_MS) await waitForCheck()
      if (ageMs() >= REFUSE_AFTER_MS) return refuse('unknown')
      const grant = await sessions.find(clientId, sessionId)
      return grant === null ? refuse('revoked') : ok(grant)
    },
  }
}

interface KnownSessions {
  /** Null: revoked. Rejects if it is not cached and the store does not reply. */
  readonly find: (clientId: string, sessionId: string) => Promise<Grant | null>
  /** Null: everything. */
  readonly forget: (changed: AccessChanges['changed']) => void
}

function createKnownSessions(access: GrantsContext['access']): KnownSessions {
  const known = new Map<string, KnownSession>()
  let uses = 0
  const slots = createSlotsPerHolder(LOOK_UPS_OF_ONE_CLIENT)
  /** Look-ups whose results may be cached (G5): all requests of a session share one. */
  let lookUps = new Map<string, Promise<Grant | null>>()

  function keep(sessionId: string, clientId: string, grant: Grant | null): void {
    if (known.size >= MAX_KNOWN)
      for (const evicted of rankedByUse(known).slice(KEPT_AFTER_EVICTION)) known.delete(evicted)
    known.set(sessionId, { clientId, grant, usedAt: (uses += 1) })
  }

  async function lookUp(clientId: string, sessionId: string, key: string): Promise<Grant | null> {
    const current = lookUps
    try {
      const grant = grantFrom(await slots.run(clientId, () => access.findAccess(clientId, sessionId)))
      if (current === lookUps) keep(sessionId, clientId, grant)
      return grant
    } finally {
      current.delete(key)
    }
  }

  return {
    async find(clientId, sessionId) {
      const session = known.get(sessionId)
      if (session?.clientId === clientId) {
        session.usedAt = uses += 1
        return session.grant
      }
      const key = `${sessionId} ${clientId}`
      const underWay = lookUps.get(key) ?? lookUp(clientId, sessionId, key)
      lookUps.set(key, underWay)
      return underWay
    },
    forget(changed) {
      if (changed === null) known.clear()
      else if (changed.clients.size + changed.sessions.size === 0) return
      else {
        for (const [sessionId, { clientId }] of known) {
          if (changed.sessions.has(sessionId) || changed.clients.has(clientId)) known.delete(sessionId)
        }
      }
      lookUps = new Map()
    },
  }
}

/** Each client's most recently used session, then each client's second, and so on (G6); latest first within a round. */
function rankedByUse(known: ReadonlyMap<string, KnownSession>): readonly string[] {
  const counts = new Map<string, number>()
  return [...known]
    .sort(([, a], [, b]) => b.usedAt - a.usedAt)
    .map(([sessionId, { clientId }]) => {
      const rank = counts.get(clientId) ?? 0
      counts.set(clientId, rank + 1)
      return { sessionId, rank }
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ sessionId }) => sessionId)
}

function grantFrom({ client, sessionLive }: Access): Grant | null {
  if (client === undefined || client === 'unreadable' || client.revokedAtMs !== null || !sessionLive) return null
  const { clientId, role, boundary, accounts, rate } = client
  return { caller: { clientId, role, boundary }, scope: accountScopeOf(accounts), rate }
}
