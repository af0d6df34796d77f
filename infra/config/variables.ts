/** The variables of the environment, with the allowed values of each. */
import * as v from 'valibot'
import { SCRIPTED_PAGES, type ScriptedPage } from '../../api/http/dependencies.ts'
import { LOG_LEVELS } from '../system/log-json-lines.ts'
import { MAX_SHARDS } from '../../actors/identifiers.ts'
import { addressRanges } from '../system/address-ranges.ts'
import { readBootstrapClients } from './bootstrap-client.ts'
import { AMOUNT_INDEXES } from '../vault/row-vault.ts'
import { DEFAULT_FRAMEWORK, readFrameworks } from './frameworks.ts'
import { readGivenMasterKey, readMasterKeys } from '../keys/master-key.ts'
import { readPartKey } from '../keys/part-key.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { isUrl } from './is-url.ts'
import { RATE_RULE, readRate } from '../../actors/rate.ts'
import { readBy } from './read-by.ts'
import { tracingVariables } from './tracing-variables.ts'
import { readTrustedLedgers } from './trusted-ledgers.ts'

export const ENVIRONMENTS = ['sandbox', 'production'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

const DAY_SECONDS = 86_400
const MOST_ACTORS_PER_SHARD = 1_000_000
export const DEFAULT_PORT = 8080

const listenAddress = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.:-]{1,253}$/, 'an address or host name to listen on'))

const pathOfFile = v.pipe(v.string(), v.nonEmpty('the path of a file'))

/** Servers of one cluster. */
const natsUrls = v.pipe(
  v.string(),
  v.check(
    (text) => text.split(',').every((one) => isUrl(one.trim(), ['nats:', 'tls:'], false)),
    'a URL such as nats://user:password@host:4222 or tls://host:4222, or several with commas between them',
  ),
  v.transform((text) => text.split(',').map((one) => one.trim())),
)

const MAX_ORIGIN = 255

/** In the form of the header Origin. */
const origins = v.pipe(
  v.string(),
  v.check(
    (text) => text === '*' || text.split(',').every((one) => isOrigin(one.trim())),
    'origins such as https://app.example.com, separated by commas, or * for any',
  ),
  v.transform((text) => (text === '*' ? ('any' as const) : text.split(',').map((one) => one.trim()))),
)

const PAGES_RULE = `none, or some of ${SCRIPTED_PAGES.join(', ')} with commas between them`

/** Each page once. */
const pages = readBy((text): Result<readonly ScriptedPage[], string> => {
  const names = text === 'none' ? [] : text.split(',').map((one) => one.trim())
  const known = SCRIPTED_PAGES.filter((page) => names.includes(page))
  return known.length === names.length ? ok(known) : refuse(PAGES_RULE)
})

/** The name of a key of C2SP. */
const logOrigin = v.pipe(
  v.string(),
  v.check(
    (text) => text.length <= MAX_ORIGIN && !/[\s+]/u.test(text),
    'a name such as ledger.example.com/log, without spaces and plus signs',
  ),
)

const rate = readBy((text) => {
  const read = readRate(text)
  return read === undefined ? refuse(RATE_RULE) : ok(read)
})

/** A program and its arguments. No shell reads them. */
const commandWords = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== '' && !/["'`\\$]/u.test(text), 'a program and its arguments, without quotes'),
  v.transform((text): readonly string[] => text.trim().split(/\s+/u)),
)

const MASTER_KEY = '32 bytes in base64url (openssl rand -base64 32 makes some), or outside: and the reference of a key'

export const variablesSchema = v.object({
  LEDGER_HOST: v.optional(listenAddress, '127.0.0.1'),
  LEDGER_PORT: v.optional(wholeNumber(1, 65_535)),
  LEDGER_DATA_DIR: v.optional(v.pipe(v.string(), v.nonEmpty('the path of a directory')), '.ledger'),
  LEDGER_DATABASE_URL: v.optional(url(['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/database')),
  LEDGER_DATABASE_PASSWORD_FILE: v.optional(pathOfFile),
  LEDGER_NATS_URL: v.optional(natsUrls),
  LEDGER_NATS_CREDENTIALS_FILE: v.optional(pathOfFile),
  LEDGER_NATS_CA_FILE: v.optional(pathOfFile),
  LEDGER_NATS_CERT_FILE: v.optional(pathOfFile),
  LEDGER_NATS_KEY_FILE: v.optional(pathOfFile),
  LEDGER_NATS_REPLICAS: v.optional(wholeNumber(1, 5), '1'),
  LEDGER_SHARDS: v.optional(wholeNumber(1, MAX_SHARDS)),
  LEDGER_AMOUNT_INDEX: v.optional(v.picklist(AMOUNT_INDEXES, `one of ${AMOUNT_INDEXES.join(', ')}`)),
  LEDGER_BOOTSTRAP_CLIENTS: v.optional(readBy(readBootstrapClients)),
  LEDGER_CLIENT_RATE: v.optional(rate),
  LEDGER_ACCOUNT_RATE: v.optional(rate),
  LEDGER_ACCESS_TOKEN_TTL_SECONDS: v.optional(wholeNumber(1, DAY_SECONDS), '3600'),
  LEDGER_REFRESH_TOKEN_TTL_SECONDS: v.optional(wholeNumber(1, 365 * DAY_SECONDS), String(30 * DAY_SECONDS)),
  LEDGER_BASE_URL: v.optional(url(['http:', 'https:'], 'https://ledger.example.com, without a slash at the end', true)),
  LEDGER_ERROR_BASE: v.optional(
    url(['http:', 'https:'], 'https://ledger.example.com/errors, without a slash at the end', true),
  ),
  LEDGER_ENVIRONMENT: v.optional(v.picklist(ENVIRONMENTS, `one of ${ENVIRONMENTS.join(', ')}`), 'sandbox'),
  LEDGER_MASTER_KEY: v.optional(keyText(readGivenMasterKey, MASTER_KEY)),
  LEDGER_MASTER_KEY_FILE: v.optional(pathOfFile),
  LEDGER_PREVIOUS_MASTER_KEY: v.optional(
    keyText(readMasterKeys, `${MASTER_KEY}, or up to 8 of these with commas between them`),
  ),
  LEDGER_PREVIOUS_MASTER_KEY_FILE: v.optional(pathOfFile),
  LEDGER_KEY_COMMAND: v.optional(commandWords),
  LEDGER_PART_KEY: v.optional(keyText(readPartKey, 'a part key as ledger keys part-key prints it')),
  LEDGER_PART_KEY_FILE: v.optional(pathOfFile),
  LEDGER_NODE_ID: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 of A-Z, a-z, 0-9, _ and -'))),
  LEDGER_ACTORS_PER_SHARD: v.optional(wholeNumber(1, MOST_ACTORS_PER_SHARD)),
  LEDGER_AUDITOR_SHARE: v.optional(wholeNumber(1, 100), '10'),
  LEDGER_FRAMEWORKS: v.optional(readBy(readFrameworks), DEFAULT_FRAMEWORK),
  LEDGER_TRUSTED_LEDGERS: v.optional(readBy(readTrustedLedgers)),
  LEDGER_TRUSTED_LEDGERS_FILE: v.optional(pathOfFile),
  LEDGER_METRICS_HOST: v.optional(listenAddress, '127.0.0.1'),
  LEDGER_METRICS_PORT: v.optional(wholeNumber(1, 65_535)),
  LEDGER_TRUSTED_PROXIES: v.optional(addressRanges),
  LEDGER_WEBHOOK_ALLOW: v.optional(addressRanges),
  LEDGER_CORS_ORIGINS: v.optional(origins),
  LEDGER_LOG_ORIGIN: v.optional(logOrigin),
  LEDGER_WITNESSES: v.optional(pathOfFile),
  LEDGER_PAGES: v.optional(pages, SCRIPTED_PAGES.join(',')),
  LEDGER_LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`), 'info'),
  ...tracingVariables,
})

export type Variables = v.InferOutput<typeof variablesSchema>
export const VARIABLE_NAMES: readonly string[] = Object.keys(variablesSchema.entries)

/** Variables whose values are too long for an error message. */
export const LONG_VARIABLES: readonly string[] = ['LEDGER_TRUSTED_LEDGERS']

/** Variables with secret values, which no message shows. */
export const SECRET_VARIABLES: readonly string[] = [
  'LEDGER_DATABASE_URL',
  'LEDGER_NATS_URL',
  'LEDGER_BOOTSTRAP_CLIENTS',
  'LEDGER_MASTER_KEY',
  'LEDGER_PREVIOUS_MASTER_KEY',
  'LEDGER_PART_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
]

/** The key objects that `read` returns reveal nothing when printed. It throws for an invalid text. */
function keyText<T>(read: (text: string) => T, allowed: string) {
  return readBy((text): Result<T, string> => {
    try {
      return ok(read(text))
    } catch {
      return refuse(allowed)
    }
  })
}

function wholeNumber(least: number, most: number) {
  const allowed = `a whole number from ${least} to ${most}`
  return v.pipe(
    v.string(),
    v.regex(/^[0-9]{1,15}$/, allowed),
    v.transform(Number),
    v.minValue(least, allowed),
    v.maxValue(most, allowed),
  )
}

function url(protocols: readonly string[], example: string, bare = false) {
  return v.pipe(
    v.string(),
    v.check((text) => isUrl(text, protocols, bare), `a URL such as ${example}`),
  )
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text
}
