/**
 * The configuration: the environment's LEDGER_* variables, read here and nowhere else, checked all at once.
 *   F1. What is wrong is told per variable: its name, what is wrong, what is allowed. Secrets are never shown.
 *   F2. A variable that nobody knows is a warning: a misspelt one must not be ignored in silence.
 */
import { isIPv4 } from 'node:net'
import { resolve } from 'node:path'
import { closest } from 'fastest-levenshtein'
import * as v from 'valibot'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { PartKey } from '../keys/part-key.ts'
import type { WrappingKeys } from '../keys/wrapping-keys.ts'
import type { LogLevel } from '../system/log-json-lines.ts'
import type { AddressRange } from '../system/address-ranges.ts'
import { SHORTEST_SAFE_SECRET, type BootstrapClient } from './bootstrap-client.ts'
import type { AmountIndex } from '../vault/row-vault.ts'
import type { Framework } from './frameworks.ts'
import type { TrustedLedgers } from './trusted-ledgers.ts'
import {
  DEFAULT_PORT,
  LONG_VARIABLES,
  SECRET_VARIABLES,
  VARIABLE_NAMES,
  variablesSchema,
  type Environment,
  type Variables,
} from './variables.ts'

export interface Configuration {
  readonly host: string
  readonly port: number
  /** Whether the port was asked for, or is the default. */
  readonly portGiven: boolean
  /** Absolute. */
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  /** Holds the password that the URL lacks. */
  readonly databasePasswordFile: string | undefined
  readonly nats: NatsConfiguration
  /** Undefined: what the ledger was created with, 256 for a new one. */
  readonly shards: number | undefined
  readonly amountIndex: AmountIndex | undefined
  readonly bootstrapClients: readonly BootstrapClient[] | undefined
  readonly accessTokenTtlMs: number
  readonly refreshTokenTtlMs: number
  /** Without a slash at the end. */
  readonly errorBase: string
  readonly environment: Environment
  readonly masterKey: WrappingKeys | undefined
  readonly masterKeyFile: string | undefined
  /** Those before it, while what they wrapped is not all wrapped anew. */
  readonly previousMasterKeys: readonly WrappingKeys[]
  readonly previousMasterKeyFile: string | undefined
  /** A part's keys, in place of the current and earlier master keys. */
  readonly partKey: PartKey | undefined
  readonly partKeyFile: string | undefined
  readonly nodeId: string | undefined
  /** That a node keeps in memory of each shard, beside those that are under way; undefined: as many as nodes do by default. */
  readonly actorsPerShard: number | undefined
  /** Of one processor, above 0 and at most 1. */
  readonly auditorShare: number
  /** At least one. */
  readonly frameworks: readonly Framework[]
  /** Which ledgers imports are taken from; undefined, also without a file: from none. */
  readonly trustedLedgers: TrustedLedgers | undefined
  readonly trustedLedgersFile: string | undefined
  /** Where nodes and edges are watched; undefined: nowhere. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined
  /** Origins whose pages may use the API from a browser. */
  readonly corsOrigins: readonly string[] | 'any'
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly AddressRange[]
  readonly logLevel: LogLevel
}

export interface NatsConfiguration {
  /** Of one cluster; undefined: the embedded server. */
  readonly urls: readonly string[] | undefined
  readonly credentialsFile: string | undefined
  readonly caFile: string | undefined
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
  /** Copies of what JetStream holds. */
  readonly replicas: number
}

export interface ReadConfiguration {
  readonly configuration: Configuration
  readonly warnings: readonly string[]
}

/** `cwd`: what a relative data directory is relative to. The error lists every problem, one a line. */
export function readConfiguration(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Result<ReadConfiguration, readonly string[]> {
  const given = Object.fromEntries(
    // An empty value is no value, as it is for most programs.
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
    ],
  })
}

function configurationOf(variables: Variables, cwd: string): Configuration {
  const port = variables.LEDGER_PORT ?? DEFAULT_PORT
  const baseUrl = variables.LEDGER_BASE_URL ?? `http://${urlHost(variables.LEDGER_HOST)}:${port}`
  return {
    host: variables.LEDGER_HOST,
    port,
    portGiven: variables.LEDGER_PORT !== undefined,
    dataDir: resolve(cwd, variables.LEDGER_DATA_DIR),
    databaseUrl: variables.LEDGER_DATABASE_URL,
    databasePasswordFile: fileOf(variables.LEDGER_DATABASE_PASSWORD_FILE, cwd),
    nats: natsOf(variables, cwd),
    shards: variables.LEDGER_SHARDS,
    amountIndex: variables.LEDGER_AMOUNT_INDEX,
    bootstrapClients: variables.LEDGER_BOOTSTRAP_CLIENTS,
    accessTokenTtlMs: variables.LEDGER_ACCESS_TOKEN_TTL_SECONDS * 1_000,
    refreshTokenTtlMs: variables.LEDGER_REFRESH_TOKEN_TTL_SECONDS * 1_000,
    errorBase: variables.LEDGER_ERROR_BASE ?? `${baseUrl}/errors`,
    environment: variables.LEDGER_ENVIRONMENT,
    masterKey: variables.LEDGER_MASTER_KEY,
    masterKeyFile: fileOf(variables.LEDGER_MASTER_KEY_FILE, cwd),
    previousMasterKeys: variables.LEDGER_PREVIOUS_MASTER_KEY ?? [],
    previousMasterKeyFile: fileOf(variables.LEDGER_PREVIOUS_MASTER_KEY_FILE, cwd),
    partKey: variables.LEDGER_PART_KEY,
    partKeyFile: fileOf(variables.LEDGER_PART_KEY_FILE, cwd),
    nodeId: variables.LEDGER_NODE_ID,
    actorsPerShard: variables.LEDGER_ACTORS_PER_SHARD,
    auditorShare: variables.LEDGER_AUDITOR_SHARE / 100,
    frameworks: variables.LEDGER_FRAMEWORKS,
    trustedLedgers: variables.LEDGER_TRUSTED_LEDGERS,
    trustedLedgersFile: fileOf(variables.LEDGER_TRUSTED_LEDGERS_FILE, cwd),
    metrics: metricsOf(variables),
    corsOrigins: variables.LEDGER_CORS_ORIGINS ?? (variables.LEDGER_ENVIRONMENT === 'sandbox' ? 'any' : []),
    trustedProxies: variables.LEDGER_TRUSTED_PROXIES ?? [],
    logLevel: variables.LEDGER_LOG_LEVEL,
  }
}

function natsOf(variables: Variables, cwd: string): NatsConfiguration {
  return {
    urls: variables.LEDGER_NATS_URL,
    credentialsFile: fileOf(variables.LEDGER_NATS_CREDENTIALS_FILE, cwd),
    caFile: fileOf(variables.LEDGER_NATS_CA_FILE, cwd),
    certFile: fileOf(variables.LEDGER_NATS_CERT_FILE, cwd),
    keyFile: fileOf(variables.LEDGER_NATS_KEY_FILE, cwd),
    replicas: variables.LEDGER_NATS_REPLICAS,
  }
}

function metricsOf(variables: Variables): Configuration['metrics'] {
  const { LEDGER_METRICS_HOST: host, LEDGER_METRICS_PORT: port } = variables
  return port === undefined ? undefined : { host, port }
}

function fileOf(path: string | undefined, cwd: string): string | undefined {
  return path === undefined ? undefined : resolve(cwd, path)
}

/** How a program on the same machine reaches what listens there. */
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
  if (configuration.trustedLedgers !== undefined && configuration.trustedLedgersFile !== undefined) {
    problems.push('LEDGER_TRUSTED_LEDGERS and LEDGER_TRUSTED_LEDGERS_FILE are both set: set one of them.')
  }
  if (configuration.databasePasswordFile !== undefined) {
    const { databaseUrl } = configuration
    if (databaseUrl === undefined || new URL(databaseUrl).username === '' || new URL(databaseUrl).password !== '') {
      problems.push('LEDGER_DATABASE_PASSWORD_FILE needs a LEDGER_DATABASE_URL with a user and without a password.')
    }
  }
  if (configuration.environment === 'production') {
    for (const client of configuration.bootstrapClients ?? []) {
      if (client.clientSecret.length >= SHORTEST_SAFE_SECRET) continue
      problems.push(
        `LEDGER_BOOTSTRAP_CLIENTS: the secret of client ${client.clientId} has under ${SHORTEST_SAFE_SECRET} characters, which production refuses.`,
      )
    }
  }
  return problems
}

function contradictingKeys(configuration: Configuration): readonly string[] {
  const { masterKey, masterKeyFile, previousMasterKeys, previousMasterKeyFile, partKey, partKeyFile } = configuration
  const problems: string[] = []
  if (masterKey !== undefined && masterKeyFile !== undefined) {
    problems.push('LEDGER_MASTER_KEY and LEDGER_MASTER_KEY_FILE are both set: set one of them.')
  }
  if (previousMasterKeys.length > 0 && previousMasterKeyFile !== undefined) {
    problems.push('LEDGER_PREVIOUS_MASTER_KEY and LEDGER_PREVIOUS_MASTER_KEY_FILE are both set: set one of them.')
  }
  if (partKey !== undefined && partKeyFile !== undefined) {
    problems.push('LEDGER_PART_KEY and LEDGER_PART_KEY_FILE are both set: set one of them.')
  }
  const hasPartKey = partKey !== undefined || partKeyFile !== undefined
  const masterKeys = [masterKey, masterKeyFile, previousMasterKeys[0], previousMasterKeyFile]
  if (hasPartKey && masterKeys.some((one) => one !== undefined)) {
    problems.push('A part key and a master key are both set: a part with a part key needs no master key, unset it.')
  }
  return problems
}

/**
 * What production must be given and would not get: what the sandbox generates or brings along.
 * `clients`: whether this command would generate them.
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
    .filter((name) => name.startsWith('LEDGER_') && !VARIABLE_NAMES.includes(name))
    .sort()
    .map((name) => `${name} is unknown and has no effect: did you mean ${closest(name, VARIABLE_NAMES)}?`)
}

function openTraffic(configuration: Configuration): readonly string[] {
  const open = configuration.nats.urls?.filter((url) => !url.startsWith('tls://')) ?? []
  return configuration.environment === 'production' && open.length > 0
    ? ['LEDGER_NATS_URL has an address without TLS: in production use tls://, or a network that nobody else can read.']
    : []
}

/** Anybody on the way could be taken for PostgreSQL: be given the password, and answer in its place. */
function openDatabase({ environment, databaseUrl }: Configuration): readonly string[] {
  if (environment !== 'production' || databaseUrl === undefined) return []
  const { hostname, searchParams } = new URL(databaseUrl)
  // The driver takes the last of several.
  const verified = searchParams.getAll('sslmode').at(-1) === 'verify-full'
  return verified || isLoopback(hostname)
    ? []
    : [
        'LEDGER_DATABASE_URL is without sslmode=verify-full: in production nobody proves to be PostgreSQL then. Add ?sslmode=verify-full, and who signed its certificate by NODE_EXTRA_CA_CERTS.',
      ]
}

/** As a URL has it. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
}

function weakSecrets(configuration: Configuration): readonly string[] {
  return (configuration.bootstrapClients ?? [])
    .filter((client) => client.clientSecret.length < SHORTEST_SAFE_SECRET)
    .map(
      (client) =>
        `LEDGER_BOOTSTRAP_CLIENTS: the secret of client ${client.clientId} has under ${SHORTEST_SAFE_SECRET} characters and can be guessed.`,
    )
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
