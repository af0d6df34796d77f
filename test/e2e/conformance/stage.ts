/** The ledger that the suite is shown on, whoever may ask it, and who and what is there already. */
import { randomBytes } from 'node:crypto'
import type { OpenApiDocument } from '../../../api/openapi/openapi-types.ts'
import {
  type Credentials,
  type HttpReply,
  type HttpRequest,
  LedgerClient,
  membersOf,
  send,
  type Witness,
} from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { type Cluster, startCluster } from '../../support/cluster-process.ts'
import { type Cast, createCast } from './cast.ts'
import { createWitness } from './witness.ts'

const ROLE_OF = {
  viewer: 'viewer',
  transactor: 'transactor',
  admin: 'admin',
  /** Another of the same role. */
  stranger: 'transactor',
  /** May bring nothing in from outside the ledger. */
  ungranted: 'transactor',
} as const
export type ClientName = keyof typeof ROLE_OF
const NAMES = Object.keys(ROLE_OF) as readonly ClientName[]

export interface Stage extends Readonly<Record<ClientName, LedgerClient>> {
  readonly cluster: Cluster
  readonly credentials: Readonly<Record<ClientName, Credentials>>
  readonly cast: Cast
  /** Sends it as it is, with no token of its own. */
  readonly ask: (what: HttpRequest) => Promise<HttpReply>
  readonly login: (name: ClientName) => Promise<LedgerClient>
  /** What was asked to get this answer. */
  readonly requestOf: (reply: HttpReply) => HttpRequest
  /** Of the service, as they are published, by purpose. */
  readonly publishedKey: (purpose: string, keyId?: string) => Promise<Members>
  readonly ledgerId: string
}

export async function openStage(): Promise<Stage> {
  const credentials = Object.fromEntries(
    NAMES.map((name) => [name, { clientId: name, clientSecret: randomBytes(32).toString('base64url') }]),
  ) as Record<ClientName, Credentials>
  const cluster = await startCluster({ env: { LEDGER_BOOTSTRAP_CLIENTS: bootstrap(credentials) } })
  try {
    return await stageOn(cluster, credentials)
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

async function stageOn(cluster: Cluster, credentials: Record<ClientName, Credentials>): Promise<Stage> {
  const { origin } = cluster
  const document = membersOf(await send(origin, { method: 'GET', path: '/openapi.json' }))
  const requests = new WeakMap<HttpReply, HttpRequest>()
  const check = createWitness(document as Members & OpenApiDocument)
  const witness: Witness = (what, reply) => {
    requests.set(reply, what)
    check(what, reply)
  }
  const ask = async (what: HttpRequest): Promise<HttpReply> => {
    const reply = await send(origin, what)
    witness(what, reply)
    return reply
  }
  const login = (name: ClientName): Promise<LedgerClient> => LedgerClient.login(origin, credentials[name], witness)
  const clients = await Promise.all(NAMES.map(async (name) => [name, await login(name)] as const))
  const named = Object.fromEntries(clients) as Record<ClientName, LedgerClient>
  const { ledger_id: ledgerId } = membersOf(await ask({ method: 'GET', path: '/readyz' }))
  return {
    ...named,
    cluster,
    credentials,
    cast: await createCast(named.transactor),
    ask,
    login,
    requestOf: (reply) => {
      const what = requests.get(reply)
      if (what === undefined) throw new Error('this answer was got in another way')
      return what
    },
    publishedKey: async (purpose, keyId) => {
      const { keys } = membersOf(await ask({ method: 'GET', path: '/.well-known/jwks.json' }))
      const fits = (key: Members): boolean => key['purpose'] === purpose && (keyId ?? key['kid']) === key['kid']
      const found = (keys as readonly Members[]).find(fits)
      if (found === undefined) throw new Error(`no key of purpose ${purpose} is published`)
      return found
    },
    ledgerId: String(ledgerId),
  }
}

export async function closeStage(stage: Stage): Promise<void> {
  for (const name of NAMES) stage[name].close()
  await stage.cluster.stop()
}

function bootstrap(credentials: Readonly<Record<ClientName, Credentials>>): string {
  return JSON.stringify(
    NAMES.map((name) => ({
      client_id: credentials[name].clientId,
      client_secret: credentials[name].clientSecret,
      role: ROLE_OF[name],
      boundary: name !== 'ungranted',
    })),
  )
}
