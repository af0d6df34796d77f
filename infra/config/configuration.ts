/**
 * Reads and checks the LEDGER_* variables of the environment, and some of OpenTelemetry. No other module reads them.
 *   F1. Each invalid variable is reported with its name, its value and the allowed values. Secrets are never shown.
 *   F2. An unknown variable is a warning, because it may be a misspelled one.
 */
import { resolve } from 'node:path'
import { closest } from 'fastest-levenshtein'
import * as v from 'valibot'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { GivenMasterKey } from '../keys/master-key.ts'
import { SHORTEST_SAFE_SECRET } from './bootstrap-client.ts'
import { isLoopbackHost } from './loopback-host.ts'
import { openCollector, tracingOf } from './tracing-variables.ts'
import {
  DEFAULT_PORT,
  LONG_VARIABLES,
  SECRET_VARIABLES,
  VARIABLE_NAMES,
  variablesSchema,
  type Environment,
  type Variables,
} from './variables.ts'

/** Of the commands that call a ledger as its client. */
export const PROFILE_VARIABLE = 'LEDGER_PROFILE'

export type Configuration = ReturnType<typeof configurationOf>

export interface ReadConfiguration {
  readonly configuration: Configuration
  readonly warnings: readonly string[]
}

/** Paths are relative to `cwd`. The error lists every problem. */
export function readConfiguration(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Result<ReadConfiguration, readonly string[]> {
  const given = Object.fromEntries(
    // An empty value counts as unset, as in most programs.
    VARIABLE_NAMES.map((name) => [name, env[name]]).filter(([, value]) => value !== undefined && value !== ''),
  ) as Record<string, string>
  const parsed = v.safeParse(variablesSchema, given)
  if (!parsed.success) return refuse(unique(parsed.issues.map((issue) => problemOf(issue, given))))
  const configuration = configurationOf(parsed.output, cwd)
  const problems = contradictionsOf(configuration)
  if (problems.length > 0) return refuse(problems)
  return ok({
    configuration,
    warnings: [
      ...unknownVariables(env),
      ...weakSecrets(configuration),
      ...openTraffic(configuration),
      ...openDatabase(configuration),
      ...openCollector(configuration),
    ],
  })
}

function configurationOf(variables: Variables, cwd: string) {
  const port = variables.LEDGER_PORT ?? DEFAULT_PORT
  const baseUrl = variables.LEDGER_BASE_URL ?? `http://${urlHost(variables.LEDGER_HOST)}:${port}`
  const environment: Environment = variables.LEDGER_ENVIRONMENT
  const corsOrigins: readonly string[] | 'any' =
    variables.LEDGER_CORS_ORIGINS ?? (environment === 'sandbox' ? 'any' : [])
  const previousMasterKeys: readonly GivenMasterKey[] = variables.LEDGER_PREVIOUS_MASTER_KEY ?? []
  return {
    host: variables.LEDGER_HOST,
    port,
    /** False for the default port. */
    portGiven: variables.LEDGER_PORT !== undefined,
    dataDir: resolve(cwd, variables.LEDGER_DATA_DIR),
    databaseUrl: variables.LEDGER_DATABASE_URL,
    /** Holds the password that the URL lacks. */
    databasePasswordFile: fileOf(variables.LEDGER_DATABASE_PASSWORD_FILE, cwd),
    nats: natsOf(variables, cwd),
    /** undefined: the stored number of shards, or 256 for a new ledger. */
    shards: variables.LEDGER_SHARDS,
    amountIndex: variables.LEDGER_AMOUNT_INDEX,
    bootstrapClients: variables.LEDGER_BOOTSTRAP_CLIENTS,
    /** Of clients without a rate of their own; undefined: no limit. */
    clientRate: variables.LEDGER_CLIENT_RATE,
    /** Of the orders of each account; undefined: no limit. */
    accountRate: variables.LEDGER_ACCOUNT_RATE,
    accessTokenTtlMs: variables.LEDGER_ACCESS_TOKEN_TTL_SECONDS * 1_000,
    refreshTokenTtlMs: variables.LEDGER_REFRESH_TOKEN_TTL_SECONDS * 1_000,
    /** Without a slash at the end. */
    baseUrl,
    /** Without a slash at the end. */
    errorBase: variables.LEDGER_ERROR_BASE ?? `${baseUrl}/errors`,
    environment,
    masterKey: variables.LEDGER_MASTER_KEY,
    masterKeyFile: fileOf(variables.LEDGER_MASTER_KEY_FILE, cwd),
    /** Earlier master keys, needed until every key is wrapped by the current one. */
    previousMasterKeys,
    previousMasterKeyFile: fileOf(variables.LEDGER_PREVIOUS_MASTER_KEY_FILE, cwd),
    /** The program that holds keys outside, and its arguments. */
    keyCommand: variables.LEDGER_KEY_COMMAND,
    /** Replaces the current and earlier master keys in a node, an edge or the auditor. */
    partKey: variables.LEDGER_PART_KEY,
    partKeyFile: fileOf(variables.LEDGER_PART_KEY_FILE, cwd),
    nodeId: variables.LEDGER_NODE_ID,
    /** Idle actors that a node keeps per shard; undefined: the node's default. */
    actorsPerShard: variables.LEDGER_ACTORS_PER_SHARD,
    /** Share of one processor, above 0 and at most 1. */
    auditorShare: variables.LEDGER_AUDITOR_SHARE / 100,
    frameworks: variables.LEDGER_FRAMEWORKS,
    /** Without these and without a file, no imports are accepted. */
    trustedLedgers: variables.LEDGER_TRUSTED_LEDGERS,
    trustedLedgersFile: fileOf(variables.LEDGER_TRUSTED_LEDGERS_FILE, cwd),
    /** The listener for operators; undefined: none. */
    metrics: metricsOf(variables),
    /** Origins whose pages may use the API from a browser. */
    corsOrigins,
    /** Pages with scripts that edges serve. */
    pages: variables.LEDGER_PAGES,
    /** Proxies whose X-Forwarded-For is trusted. */
    trustedProxies: variables.LEDGER_TRUSTED_PROXIES ?? [],
    /** Addresses that webhooks may be sent to in production, besides public ones. */
    webhookAllow: variables.LEDGER_WEBHOOK_ALLOW ?? [],
    /** Name of the log of the ledger; undefined: of its ID. */
    logOrigin: variables.LEDGER_LOG_ORIGIN,
    /** File with the witnesses of the log; undefined: none is asked. */
    witnesses: fileOf(variables.LEDGER_WITNESSES, cwd),
    logLevel: variables.LEDGER_LOG_LEVEL,
    /** The export of spans; undefined: tracing is off. */
    tracing: tracingOf(variables),
  } as const
}

function natsOf(variables: Variables, cwd: string) {
  const urls: readonly string[] | undefined = variables.LEDGER_NATS_URL
  return {
    /** Servers of one cluster; undefined: the embedded server. */
    urls,
    credentialsFile: fileOf(variables.LEDGER_NATS_CREDENTIALS_FILE, cwd),
    caFile: fileOf(variables.LEDGER_NATS_CA_FILE, cwd),
    certFile: fileOf(variables.LEDGER_NATS_CERT_FILE, cwd),
    keyFile: fileOf(variables.LEDGER_NATS_KEY_FILE, cwd),
    /** Copies of each JetStream stream. */
    replicas: variables.LEDGER_NATS_REPLICAS,
  } as const
}

function metricsOf(variables: Variables): { readonly host: string; readonly port: number } | undefined {
  const { LEDGER_METRICS_HOST: host, LEDGER_METRICS_PORT: port } = variables
  return port === undefined ? undefined : { host, port }
}

function fileOf(path: string | undefined, cwd: string): string | undefined {
  return path === undefined ? undefined : resolve(cwd, path)
}

/** The host of a URL by which programs on the same machine reach a listener. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function problemOf(issue: v.BaseIssue<unknown>, given: Readonly<Record<string, string>>): string {
  const key = issue.path?.[0]?.key
  const name = typeof key === 'string' ? key : 'the environment'
  const isHidden = SECRET_VARIABLES.includes(name) || LONG_VARIABLES.includes(name)
  const shown = isHidden ? 'is not valid' : `is ${JSON.stringify(given[name])}`
  return `${name} ${shown}: it must be ${issue.message}.`
}

function contradictionsOf(configuration: Configuration): readonly string[] {
  const problems: string[] = [...contradictingKeys(configuration)]
  if (configuration.databasePasswordFile !== undefined) {
    const { databaseUrl } = configuration
    if (databaseUrl === undefined || new URL(databaseUrl).username === '' || new URL(databaseUrl).password !== '') {
      problems.push('LEDGER_DATABASE_PASSWORD_FILE needs a LEDGER_DATABASE_URL with a user and without a password.')
    }
  }
  if (configuration.environment === 'production') {
    for (const clientId of clientsWithShortSecrets(configuration)) {
      problems.push(
        `LEDGER_BOOTSTRAP_CLIENTS: the secret of client ${clientId} has under ${SHORTEST_SAFE_SECRET} characters, which production refuses.`,
      )
    }
  }
  return problems
}

function contradictingKeys(configuration: Configuration): readonly string[] {
  const { masterKey, masterKeyFile, previousMasterKeys, previousMasterKeyFile, partKey, partKeyFile } = configuration
  const { trustedLedgers, trustedLedgersFile } = configuration
  const [previousMasterKey] = previousMasterKeys
  const pairs = [
    ['MASTER_KEY', masterKey, masterKeyFile],
    ['PREVIOUS_MASTER_KEY', previousMasterKey, previousMasterKeyFile],
    ['PART_KEY', partKey, partKeyFile],
    ['TRUSTED_LEDGERS', trustedLedgers, trustedLedgersFile],
  ] as const
  const problems = pairs.flatMap(([name, value, file]) =>
    value === undefined || file === undefined
      ? []
      : [`LEDGER_${name} and LEDGER_${name}_FILE are both set: set one of them.`],
  )
  const hasPartKey = partKey !== undefined || partKeyFile !== undefined
  const masterKeys = [masterKey, masterKeyFile, previousMasterKey, previousMasterKeyFile]
  if (hasPartKey && masterKeys.some((one) => one !== undefined)) {
    problems.push('A part key and a master key are both set: a part with a part key needs no master key, unset it.')
  }
  return problems
}

function clientsWithShortSecrets({ bootstrapClients = [] }: Configuration): readonly string[] {
  return bootstrapClients
    .filter(({ clientSecret }) => clientSecret.length < SHORTEST_SAFE_SECRET)
    .map(({ clientId }) => clientId)
}

/**
 * Variables that production requires, because only the sandbox generates secrets and runs its own servers.
 * `clients`: whether this command would generate clients.
 */
export function missingInProduction(configuration: Configuration, clients: boolean): readonly string[] {
  if (configuration.environment !== 'production') return []
  const missing: string[] = []
  const { masterKey, masterKeyFile, partKey, partKeyFile } = configuration
  if ([masterKey, masterKeyFile, partKey, partKeyFile].every((one) => one === undefined)) {
    missing.push(
      'LEDGER_MASTER_KEY_FILE is not set (nor, for a node, an edge or the auditor, LEDGER_PART_KEY_FILE): production does not generate a key.',
    )
  }
  if (clients && configuration.bootstrapClients === undefined) {
    missing.push(
      'LEDGER_BOOTSTRAP_CLIENTS is not set: production generates no secrets (set it to [] if the clients exist).',
    )
  }
  if (configuration.databaseUrl === undefined) {
    missing.push('LEDGER_DATABASE_URL is not set: production does not run on the embedded PostgreSQL.')
  }
  if (configuration.nats.urls === undefined) {
    missing.push('LEDGER_NATS_URL is not set: production does not run on the embedded nats-server.')
  }
  return missing
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('LEDGER_') && name !== PROFILE_VARIABLE && !VARIABLE_NAMES.includes(name))
    .sort()
    .map((name) => `${name} is unknown and has no effect: did you mean ${closest(name, VARIABLE_NAMES)}?`)
}

function openTraffic(configuration: Configuration): readonly string[] {
  const open = configuration.nats.urls?.filter((url) => !url.startsWith('tls://')) ?? []
  return configuration.environment === 'production' && open.length > 0
    ? ['LEDGER_NATS_URL has an address without TLS: in production use tls://, or a private network.']
    : []
}

/** Without verification, an attacker on the network could impersonate PostgreSQL and learn the password. */
function openDatabase({ environment, databaseUrl }: Configuration): readonly string[] {
  if (environment !== 'production' || databaseUrl === undefined) return []
  const { hostname, searchParams } = new URL(databaseUrl)
  // The driver uses the last of several values.
  const verified = searchParams.getAll('sslmode').at(-1) === 'verify-full'
  return verified || isLoopbackHost(hostname)
    ? []
    : [
        'LEDGER_DATABASE_URL is without sslmode=verify-full, so the identity of PostgreSQL is not verified. Add ?sslmode=verify-full, and name the certificate authority in NODE_EXTRA_CA_CERTS.',
      ]
}

function weakSecrets(configuration: Configuration): readonly string[] {
  return clientsWithShortSecrets(configuration).map(
    (clientId) =>
      `LEDGER_BOOTSTRAP_CLIENTS: the secret of client ${clientId} has under ${SHORTEST_SAFE_SECRET} characters and can be guessed.`,
  )
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
