/** What commands that touch a ledger have in common: its configuration and its database. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingInProduction, readConfiguration, type Configuration } from '../../config/configuration.ts'
import { runningNatsUrl } from '../../embedded/nats-server.ts'
import { runningPostgresUrl, startPostgres } from '../../embedded/postgres-server.ts'
import { readRecord } from '../../embedded/server-record.ts'
import type { Part } from '../../keys/wrapping-keys.ts'
import { openTrustedLedgers, TrustedLedgersUnusable } from '../../ledger/trusted-ledgers-file.ts'
import { untilWritable } from '../../postgres/store/recovery.ts'
import { endOfSupport } from '../../system/node-release.ts'
import { CommandFailed, type CommandIo } from './command.ts'

/** Throws CommandFailed that lists everything that is wrong. Warnings go to standard error. */
export function configurationOf(io: CommandIo): Configuration {
  const read = readConfiguration(io.env, io.cwd)
  if (!read.ok) throw new CommandFailed(listOf('the configuration is wrong:', read.error))
  for (const warning of read.value.warnings) io.err(`warning: ${warning}\n`)
  return withPassword(read.value.configuration)
}

/** The file's content goes into the URL and nowhere else. */
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

/**
 * For what runs an edge: told at start and in one sentence, as of the same in a variable. Other parts do not need the file, and
 * must not fall with it.
 */
export async function refuseWrongTrust(configuration: Configuration): Promise<void> {
  try {
    await openTrustedLedgers(configuration)
  } catch (cause) {
    if (!(cause instanceof TrustedLedgersUnusable)) throw cause
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

/** In production a part gets only its part key. */
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

/** The configuration of a part: with the addresses of the embedded servers that run, where none are given. */
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
  if (databaseUrl === undefined || urls === undefined) {
    throw new CommandFailed(
      `${missing.join(' and ')} must be set, or ledger up must run on ${configuration.dataDir} (LEDGER_DATA_DIR)`,
    )
  }
  return { configuration: { ...configuration, nats: { ...configuration.nats, urls } }, databaseUrl }
}

/**
 * Does the work on the ledger's database: the one that is given, the embedded one that runs, or else starts it for this.
 * Throws CommandFailed where there is none: a wrong directory must not get an empty one.
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

/** Also where it was lost: then starting it says so. */
function hasData(configuration: Configuration): boolean {
  const record = readRecord(postgresDirectory(configuration))
  return record !== undefined && (record.made || existsSync(join(record.place, 'data')))
}

/** The same for what may make the ledger: an embedded database is made where there is none. */
export async function withNewDatabase<T>(
  configuration: Configuration,
  io: CommandIo,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const directory = postgresDirectory(configuration)
  const url = configuration.databaseUrl ?? runningPostgresUrl(directory)
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
