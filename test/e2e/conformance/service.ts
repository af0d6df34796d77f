/**
 * A running ledger whose replies are compared with its OpenAPI document. The document must contain the status, headers
 * and body of every reply. Undocumented members are errors like missing ones.
 */
import { randomBytes } from 'node:crypto'
import type { Json, JsonObject } from '../../../actors/canonical-json.ts'
import { type HttpReply, type HttpRequest, LedgerClient, membersOf, send } from '../../support/client/client.ts'
import { type Cluster, startCluster } from '../../support/processes/cluster-process.ts'
import { DocumentedInterface, type DocumentedOperation } from '../../support/documented-interface.ts'
import { ExampleWalk } from './walk.ts'

/** An example contains the secret of this client. Other clients have new secrets. */
const CLIENTS = {
  transactor: { clientId: 'payments-backend', clientSecret: 'example-secret-of-payments-backend' },
  viewer: { clientId: 'auditor', clientSecret: randomBytes(32).toString('base64url') },
  admin: { clientId: 'operations', clientSecret: randomBytes(32).toString('base64url') },
} as const

export class Service {
  readonly cluster: Cluster
  readonly described: DocumentedInterface
  /** Differences between the replies and the document. */
  readonly faults: string[] = []
  /** `operationId status` of every answer. */
  readonly answered = new Set<string>()
  /** Error codes of every answer. */
  readonly codes = new Set<string>()
  readonly walk: ExampleWalk
  /** By role. */
  private readonly clients: ReadonlyMap<string, LedgerClient>

  private constructor(cluster: Cluster, described: DocumentedInterface, clients: ReadonlyMap<string, LedgerClient>) {
    this.cluster = cluster
    this.described = described
    this.clients = clients
    this.walk = new ExampleWalk(this.ask, described, (role) => this.client(role).token)
  }

  static async start(): Promise<Service> {
    const clients = Object.entries(CLIENTS).map(([role, { clientId, clientSecret }]) => ({
      client_id: clientId,
      client_secret: clientSecret,
      role,
    }))
    const cluster = await startCluster({ env: { LEDGER_BOOTSTRAP_CLIENTS: JSON.stringify(clients) } })
    try {
      const { body } = await send(cluster.origin, { method: 'GET', path: '/openapi.json' })
      const clients = new Map<string, LedgerClient>()
      const service = new Service(cluster, new DocumentedInterface(JSON.parse(body) as JsonObject), clients)
      for (const [role, credentials] of Object.entries(CLIENTS)) {
        clients.set(role, await LedgerClient.login(cluster.origin, credentials, service.witness))
      }
      return service
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    for (const client of this.clients.values()) client.close()
    await this.cluster.stop()
  }

  readonly client = (role: string): LedgerClient => {
    const found = this.clients.get(role)
    if (found === undefined) throw new Error(`there is no ${role}`)
    return found
  }

  /** A valid request of the operation, by a client with all rights. */
  request(operation: DocumentedOperation): HttpRequest {
    const { path, body } = this.walk.sample(operation)
    const role = operation.members['x-roles']?.at(-1)
    return {
      method: operation.method,
      path,
      headers: {
        ...(role === undefined ? {} : this.client(role).authorization()),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    }
  }

  readonly ask = async (what: HttpRequest, origin = this.cluster.origin): Promise<HttpReply> => {
    const reply = await send(origin, what)
    this.witness(what, reply)
    return reply
  }

  readonly witness = (what: HttpRequest, reply: HttpReply): void => {
    const operation = this.described.find(what.method, what.path)
    if (operation !== undefined) this.answered.add(`${operation.id} ${reply.status}`)
    if (reply.headers['content-type']?.startsWith('application/problem+json') === true) {
      for (const code of membersOf(reply)['error_codes'] as readonly string[]) this.codes.add(code)
    }
    const found =
      operation === undefined
        ? this.described.faultsOfValue(['components', 'schemas', 'Problem'], JSON.parse(reply.body) as Json)
        : this.described.faultsOfAnswer(operation, reply)
    for (const fault of found) this.faults.push(`${what.method} ${what.path}: ${reply.status} ${fault}`)
  }
}
