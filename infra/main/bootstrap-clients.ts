/**
 * The clients that exist from the start: those of the configuration, or else one per role with random secrets.
 *   Y1. A client that was revoked stays revoked, whatever the configuration says: a start must not undo a revocation.
 *   Y2. Generated secrets are kept readable by the owner only.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { ROLES } from '../../actors/account/commands.ts'
import type { AccessStore, ClientRecord } from '../../runtime/ports/access-store.ts'
import type { BootstrapClient } from '../config/bootstrap-client.ts'
import type { Configuration } from '../config/configuration.ts'
import { replacePrivateFile } from '../embedded/server-record.ts'
import { createClientSecrets, generateClientSecret, NO_ADDRESS } from '../keys/client-secrets.ts'
import type { MasterKey } from '../keys/master-key.ts'
import { createAccessStore } from '../postgres/access-store-postgres.ts'

export interface StartClients {
  readonly clients: readonly BootstrapClient[]
  /** Where the secrets are kept, if they were generated. */
  readonly file: string | undefined
}

const fileSchema = v.array(v.object({ client_id: v.string(), client_secret: v.string(), role: v.picklist(ROLES) }))

/** Generates what the configuration leaves out, once for a data directory. */
export function startClients(configuration: Configuration): StartClients {
  if (configuration.bootstrapClients !== undefined) return { clients: configuration.bootstrapClients, file: undefined }
  const file = join(configuration.dataDir, 'clients.json')
  return { clients: readClients(file) ?? makeClients(file), file }
}

function readClients(file: string): readonly BootstrapClient[] | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const read = v.safeParse(fileSchema, JSON.parse(text))
  if (!read.success) throw new Error(`${file} is damaged: remove it to have new clients made`)
  return read.output.map((client) => ({
    clientId: client.client_id,
    clientSecret: client.client_secret,
    role: client.role,
    boundary: undefined,
  }))
}

function makeClients(file: string): readonly BootstrapClient[] {
  const clients = ROLES.map((role) => ({
    clientId: role,
    clientSecret: generateClientSecret(),
    role,
    boundary: undefined,
  }))
  const shown = clients.map(({ clientId, clientSecret, role }) => ({
    client_id: clientId,
    client_secret: clientSecret,
    role,
  }))
  replacePrivateFile(file, `${JSON.stringify(shown, null, 2)}\n`)
  return clients
}

/** Creates the clients, or changes those that are different. Returns the IDs of those that are revoked and stay so. */
export async function putStartClients(
  url: string,
  masterKey: MasterKey,
  configuration: Configuration,
  clients: readonly BootstrapClient[],
): Promise<readonly string[]> {
  const access = createAccessStore({ url })
  const revoked: string[] = []
  try {
    for (const client of clients) {
      if ((await put(access, masterKey, configuration, client)) === 'revoked') revoked.push(client.clientId)
    }
  } finally {
    await access.close()
  }
  return revoked
}

async function put(
  access: AccessStore,
  masterKey: MasterKey,
  configuration: Configuration,
  client: BootstrapClient,
): Promise<'unchanged' | 'put' | 'revoked'> {
  const secrets = createClientSecrets({ masterKey })
  const found = await access.findClient(client.clientId)
  if (found !== undefined && found.revokedAtMs !== null) return 'revoked'
  const boundary = client.boundary ?? configuration.environment === 'sandbox'
  const sameSecret = found !== undefined && (await secrets.verify(found, client.clientSecret, NO_ADDRESS))
  if (sameSecret && found.role === client.role && sameBoundary(found.boundary, boundary)) return 'unchanged'
  await access.putClient({
    clientId: client.clientId,
    secretHash: sameSecret ? found.secretHash : await secrets.hash(client.clientSecret),
    role: client.role,
    boundary,
    createdAtMs: found?.createdAtMs ?? Date.now(),
    revokedAtMs: null,
  })
  return 'put'
}

function sameBoundary(left: ClientRecord['boundary'], right: ClientRecord['boundary']): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
