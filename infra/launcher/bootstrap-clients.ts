/**
 * Creates the clients of the configuration, or else one client per role with a random secret.
 *   Y1. A start never undoes a revocation: a revoked client stays revoked, and an unreadable client is not changed.
 *   Y2. Generated secrets are stored in a file readable by its owner only, and printed once, by the start that created them.
 */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as v from 'valibot'
import { ROLES } from '../../actors/account/commands.ts'
import type { AccessStore, ClientRecord } from '../../runtime/ports/access-store.ts'
import type { BootstrapClient } from '../config/bootstrap-client.ts'
import type { Configuration } from '../config/configuration.ts'
import { readPrivateFile, replacePrivateFile } from '../system/private-file.ts'
import { createClientSecrets, generateClientSecret, NO_ADDRESS } from '../keys/client-secrets.ts'
import type { AdministrativeChainOptions } from '../postgres/access/administrative-chain-postgres.ts'
import { createAccessStore } from '../postgres/access/access-store-postgres.ts'
import { openStoreClock } from '../postgres/store/store-clock.ts'
import type { LedgerSecrets } from '../ledger/ledger-secrets.ts'
import { clientDetails, recordedAct } from '../ledger/recorded-act.ts'

export interface StartClients {
  readonly clients: readonly BootstrapClient[]
  /** The file with generated secrets; undefined: the operator chose them. */
  readonly file: string | undefined
  /** This start generated the secrets (Y2). */
  readonly made: boolean
}

const fileSchema = v.array(v.object({ client_id: v.string(), client_secret: v.string(), role: v.picklist(ROLES) }))

/**
 * Generates clients once per data directory, if the configuration has none. Throws for an unreadable file: new secrets would
 * lock out every client.
 */
export function startClients(configuration: Configuration): StartClients {
  const { bootstrapClients, dataDir } = configuration
  if (bootstrapClients !== undefined) return { clients: bootstrapClients, file: undefined, made: false }
  const file = join(dataDir, 'clients.json')
  const found = readClients(file)
  return { clients: found ?? makeClients(file), file, made: found === undefined }
}

function readClients(file: string): readonly BootstrapClient[] | undefined {
  const text = readPrivateFile(file)
  if (text === undefined) return undefined
  return parseClients(file, text).map((client) => ({
    clientId: client.client_id,
    clientSecret: client.client_secret,
    role: client.role,
    boundary: undefined,
    accounts: null,
    rate: undefined,
  }))
}

/** The error has no details: they could quote a secret. */
function parseClients(file: string, text: string): v.InferOutput<typeof fileSchema> {
  const damaged = new Error(`${file} is damaged: remove it to have new clients made`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged
  }
  const read = v.safeParse(fileSchema, value)
  if (!read.success) throw damaged
  return read.output
}

function makeClients(file: string): readonly BootstrapClient[] {
  const clients = ROLES.map((role) => ({
    clientId: role,
    clientSecret: generateClientSecret(),
    role,
    boundary: undefined,
    accounts: null,
    rate: undefined,
  }))
  const shown = clients.map(({ clientId, clientSecret, role }) => ({
    client_id: clientId,
    client_secret: clientSecret,
    role,
  }))
  replacePrivateFile(file, `${JSON.stringify(shown, null, 2)}\n`)
  return clients
}

/** IDs of clients that differ from the configuration and were not changed (Y1). */
export interface UnchangedClients {
  readonly revoked: readonly string[]
  readonly unreadable: readonly string[]
}

/** Creates the clients, and updates those that differ. */
export async function putStartClients(
  { url, ledgerId }: Pick<AdministrativeChainOptions, 'url' | 'ledgerId'>,
  { vault, derive }: Pick<LedgerSecrets, 'vault' | 'derive'>,
  configuration: Configuration,
  clients: readonly BootstrapClient[],
): Promise<UnchangedClients> {
  const access = createAccessStore({ url, vault })
  const pepper = derive('client-secrets')
  const chain = { url, ledgerId, vault }
  const unchanged = { revoked: [] as string[], unreadable: [] as string[] }
  try {
    const nowMs = (await openStoreClock(url)).now()
    for (const client of clients) {
      const outcome = await put({ access, chain, pepper, configuration, nowMs }, client)
      if (outcome === 'revoked' || outcome === 'unreadable') unchanged[outcome].push(client.clientId)
    }
  } finally {
    await access.close()
  }
  return unchanged
}

interface PutContext {
  readonly chain: AdministrativeChainOptions
  readonly access: AccessStore
  readonly pepper: Buffer
  readonly configuration: Configuration
  /** PostgreSQL's time. */
  readonly nowMs: number
}

async function put(
  { access, chain, pepper, configuration, nowMs }: PutContext,
  client: BootstrapClient,
): Promise<'unchanged' | 'put' | 'revoked' | 'unreadable'> {
  const secrets = createClientSecrets({ pepper })
  const found = await access.findClient(client.clientId)
  if (found === 'unreadable') return 'unreadable'
  if (found !== undefined && found.revokedAtMs !== null) return 'revoked'
  const boundary = client.boundary ?? configuration.environment === 'sandbox'
  const sameSecret = found !== undefined && (await secrets.verify(found, client.clientSecret, NO_ADDRESS))
  const { accounts } = client
  const rate = client.rate === undefined ? (found?.rate ?? null) : client.rate
  const same = sameSecret && found.role === client.role
  if (same && isDeepStrictEqual([found.boundary, found.accounts, found.rate], [boundary, accounts, rate]))
    return 'unchanged'
  const changed: ClientRecord = {
    clientId: client.clientId,
    secretHash: sameSecret ? found.secretHash : await secrets.hash(client.clientId, client.clientSecret),
    publicKey: null,
    role: client.role,
    boundary,
    accounts,
    rate,
    createdAtMs: found?.createdAtMs ?? nowMs,
    revokedAtMs: null,
  }
  await recordedAct(chain, { act: 'up', details: clientDetails(changed) }, () => access.putClient(changed))
  return 'put'
}
