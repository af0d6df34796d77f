/** The configuration and the database of a command. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingInProduction, readConfiguration, type Configuration } from '../../config/configuration.ts'
import { runningNatsUrl } from '../../embedded/nats-server.ts'
import { runningPostgresUrl, startPostgres } from '../../embedded/postgres-server.ts'
import { readRecord } from '../../embedded/server-record.ts'
import type { Part } from '../../keys/wrapping-keys.ts'
import { openTrustedLedgers, TrustedLedgersUnusable } from '../../ledger/trusted-ledgers-file.ts'
import { readWitnesses, WitnessesUnusable } from '../../log/witness-policy.ts'
import { connect, type Sql } from '../../postgres/connection/connection.ts'
import { codeOf } from '../../postgres/connection/failure.ts'
import { type LedgerRecord, readLedgerAt } from '../../postgres/migrations/migrate.ts'
import { untilWritable } from '../../postgres/store/recovery.ts'
import { endOfSupport } from '../../system/node-release.ts'
import { CommandFailed, type CommandIo } from './command.ts'

const UNREACHABLE = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT']

/** Throws CommandFailed with every error of the configuration. Prints warnings to standard error. */
export function configurationOf(io: CommandIo): Configuration {
  const read = readConfiguration(io.env, io.cwd)
  if (!read.ok) throw new CommandFailed(listOf('the configuration is wrong:', read.error))
  for (const warning of read.value.warnings) io.err(`warning: ${warning}\n`)
  return withPassword(read.value.configuration)
}

/** The configuration of a command that needs the database but not NATS. */
export function databaseConfigurationOf(io: CommandIo): Configuration {
  const configuration = configurationOf(io)
  refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
  return configuration
}

function withPassword(configuration: Configuration): Configuration {
  const { databaseUrl, databasePasswordFile } = configuration
  if (databaseUrl === undefined || databasePasswordFile === undefined) return configuration
  const url = new URL(databaseUrl)
  try {
    url.password = encodeURIComponent(readFileSync(databasePasswordFile, 'utf8').trim())
  } catch (cause) {
    throw new CommandFailed('the file of LEDGER_DATABASE_PASSWORD_FILE cannot be read', { cause })
  }
  if (url.password === '') throw new CommandFailed('the file of LEDGER_DATABASE_PASSWORD_FILE is empty')
  return { ...configuration, databaseUrl: url.toString() }
}

/** For commands that run an edge. Other commands ignore these files, and must not fail because of them. */
export async function refuseWrongFiles(configuration: Configuration): Promise<void> {
  try {
    await openTrustedLedgers(configuration)
    if (configuration.witnesses !== undefined) await readWitnesses(configuration.witnesses)
  } catch (cause) {
    if (!(cause instanceof TrustedLedgersUnusable) && !(cause instanceof WitnessesUnusable)) throw cause
    throw new CommandFailed(listOf('the configuration is wrong:', [cause.message]), { cause })
  }
}

/** For commands that keep running. */
export function warnOfUnsupportedNode(io: CommandIo): void {
  const day = endOfSupport(process.versions.node, Date.now())
  if (day === undefined) return
  io.err(
    `warning: Node.js ${process.versions.node} has had no security fixes since ${day}: use a supported release, such as 26\n`,
  )
}

/** In production a part needs only its part key. */
export function warnOfMasterKey(configuration: Configuration, part: Part, io: CommandIo): void {
  const { environment, masterKey, masterKeyFile } = configuration
  if (environment !== 'production' || (masterKey === undefined && masterKeyFile === undefined)) return
  io.err(
    `warning: this ${part} has the master key: give it its part key instead (ledger keys part-key --part ${part})\n`,
  )
}

/** `clients`: whether the command would generate clients. */
export function refuseMissingInProduction(configuration: Configuration, clients: boolean): void {
  const missing = missingInProduction(configuration, clients)
  if (missing.length > 0) throw new CommandFailed(listOf('LEDGER_ENVIRONMENT is production, and:', missing))
}

function listOf(title: string, lines: readonly string[]): string {
  return [title, ...lines.map((line) => `  ${line}`)].join('\n')
}

export function postgresDirectory(configuration: Configuration): string {
  return join(configuration.dataDir, 'postgres')
}

export function natsDirectory(configuration: Configuration): string {
  return join(configuration.dataDir, 'nats')
}

/** Completes the configuration with the addresses of the running embedded servers. Throws CommandFailed. */
export function withRunningServers(configuration: Configuration): {
  readonly configuration: Configuration
  readonly databaseUrl: string
} {
  const databaseUrl = configuration.databaseUrl ?? runningPostgresUrl(postgresDirectory(configuration))
  const natsUrl = runningNatsUrl(natsDirectory(configuration))
  const urls = configuration.nats.urls ?? (natsUrl === undefined ? undefined : [natsUrl])
  const missing = [
    ...(databaseUrl === undefined ? ['LEDGER_DATABASE_URL'] : []),
    ...(urls === undefined ? ['LEDGER_NATS_URL'] : []),
  ]
  if (databaseUrl === undefined || urls === undefined) throw noServers(missing.join(' and '), configuration)
  return { configuration: { ...configuration, nats: { ...configuration.nats, urls } }, databaseUrl }
}

export function noServers(missing: string, { dataDir }: Configuration): CommandFailed {
  return new CommandFailed(`${missing} must be set, or ledger up must run on ${dataDir} (LEDGER_DATA_DIR)`)
}

/**
 * Calls `work` with the URL of the database: the configured one, else the running embedded one, else starts the embedded one.
 * Throws CommandFailed if the data directory has no database, so that a wrong directory does not get an empty one.
 */
export async function withDatabase<T>(
  configuration: Configuration,
  io: CommandIo,
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (configuration.databaseUrl === undefined && !hasData(configuration)) {
    throw new CommandFailed(
      `there is no ledger in ${configuration.dataDir}: run this where the ledger runs, or set LEDGER_DATA_DIR (or LEDGER_DATABASE_URL)`,
    )
  }
  return withNewDatabase(configuration, io, work)
}

/** Also true if the data was deleted: then starting the server reports that. */
function hasData(configuration: Configuration): boolean {
  const record = readRecord(postgresDirectory(configuration))
  return record !== undefined && (record.made || existsSync(join(record.place, 'data')))
}

/** The same for commands that may create the ledger: they create an embedded database if there is none. */
export async function withNewDatabase<T>(
  configuration: Configuration,
  io: CommandIo,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const directory = postgresDirectory(configuration)
  if (configuration.databaseUrl !== undefined) return workAt(configuration.databaseUrl, work)
  const url = runningPostgresUrl(directory)
  if (url !== undefined) return work(url)
  const server = await startPostgres({ dataDir: directory, log: (line) => void line })
  io.err('started the embedded PostgreSQL for this command\n')
  try {
    await untilWritable(server.url, (text) => io.err(`${text}\n`))
    return await work(server.url)
  } finally {
    await server.stop()
  }
}

async function workAt<T>(url: string, work: (url: string) => Promise<T>): Promise<T> {
  try {
    return await work(url)
  } catch (cause) {
    const code = unreachableCode(cause)
    if (code === undefined) throw cause
    const { host } = new URL(url)
    throw new CommandFailed(
      `PostgreSQL at ${host} cannot be reached (${code}): start it, or correct LEDGER_DATABASE_URL`,
      { cause },
    )
  }
}

/** Of a server that was not connected to. Refusals of a server, such as a wrong password, name their reason themselves. */
function unreachableCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (UNREACHABLE.includes(codeOf(error))) return codeOf(error)
  return unreachableCode(error.cause)
}

export interface ConfiguredLedger {
  readonly configuration: Configuration
  readonly url: string
  readonly ledger: LedgerRecord
}

/** Calls `work` with the ledger of the database. Throws CommandFailed if there is none with this program's schema. */
export async function withLedger<T>(io: CommandIo, work: (given: ConfiguredLedger) => Promise<T>): Promise<T> {
  const configuration = databaseConfigurationOf(io)
  return withDatabase(configuration, io, async (url) => {
    const ledger = await readLedgerAt(url)
    if (ledger === undefined) {
      throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
    }
    return work({ configuration, url, ledger })
  })
}

/** Calls `work` also with a connection to the database. */
export async function withConnection<T>(
  io: CommandIo,
  applicationName: string,
  work: (sql: Sql, given: ConfiguredLedger) => Promise<T>,
): Promise<T> {
  return withLedger(io, async (given) => {
    const connection = await connect({ url: given.url, applicationName })
    try {
      return await work(connection.sql, given)
    } finally {
      await connection.end()
    }
  })
}
