import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { KeySet, Readiness } from '../../client/index.ts'
import { LedgerClient } from '../../client/index.ts'
import type { Credentials } from '../../client/index.ts'
import { EventFeed } from './event-feed.ts'
import { LogTrust } from './log-trust.ts'
import { type Role, roleIn } from './token-role.ts'

/** One signed-in client. It lives in memory alone: a reload of the page ends it. */
export interface Session {
  readonly client: LedgerClient
  readonly clientId: string
  /** Decides only what is offered; the ledger checks every request. Undefined: unknown. */
  readonly role: Role | undefined
  readonly ledgerId: string
  readonly environment: Readiness['environment']
  /** As it was at the sign-in. */
  readonly keySet: KeySet
  readonly logTrust: LogTrust
  readonly feed: EventFeed
}

export const SessionContext = createContext<Session | undefined>(undefined)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('There is no session here.')
  return session
}

/** Rejects with a LedgerError. */
export async function signIn(credentials: Credentials): Promise<Session> {
  let role: Role | undefined
  const client = new LedgerClient({
    // The page is beside the interface, also behind a proxy with a path of its own.
    url: new URL('.', location.href).href,
    credentials,
    tokenStore: {
      load: () => undefined,
      save: ({ accessToken }) => {
        role = roleIn(accessToken)
      },
    },
  })
  await client.login()
  const [keySet, { environment }] = await Promise.all([client.keySet(), client.call('getReadiness')])
  return {
    client,
    clientId: credentials.clientId,
    role,
    ledgerId: keySet.ledger_id,
    environment,
    keySet,
    logTrust: new LogTrust(),
    feed: new EventFeed(client),
  }
}

/** True if the role permits it. An unknown role is offered everything. */
export function permits({ role }: Pick<Session, 'role'>, needed: 'transactor' | 'admin'): boolean {
  return role === undefined || role === 'admin' || role === needed
}
