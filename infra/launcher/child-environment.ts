/**
 * The environment of a part of `ledger up`: the launcher's environment with the addresses of the servers.
 *   E1. A part reads the same configuration as the launcher, without contradictions.
 *   E2. A part gets only the secrets that it needs: its part key in place of the master key. A password in a file stays
 *       there.
 *   E3. The environment has no variable that may hold a secret: a pipe passes those (handed-secrets.ts).
 */
import { availableParallelism } from 'node:os'
import type { Configuration } from '../config/configuration.ts'
import { SECRET_VARIABLES } from '../config/variables.ts'
import type { ChildOptions } from './child-part.ts'

export interface ChildPlace {
  readonly command: ChildOptions['command']
  /** Numbered per command, from 1. */
  readonly number: number
  readonly databaseUrl: string
  readonly natsUrls: readonly string[]
  readonly port: number
  /** The default for every edge, so that all edges have the same error types. */
  readonly baseUrl: string
  readonly metricsPort: number | undefined
  /** The text of its part key. */
  readonly partKey: string
}

export function childEnvironment(
  configuration: Configuration,
  env: Readonly<Record<string, string | undefined>>,
  { command, number, databaseUrl, natsUrls, port, baseUrl, metricsPort, partKey }: ChildPlace,
): Pick<ChildOptions, 'env' | 'secrets'> {
  const { nodeId, dataDir, shards, databasePasswordFile } = configuration
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !isWithheldFrom(command, entry[0]),
  )
  const givenBaseUrl = env['LEDGER_BASE_URL'] ?? ''
  const variables: Record<string, string> = {
    ...Object.fromEntries(inherited),
    LEDGER_DATA_DIR: dataDir,
    // With a password file, the part inherits the URL without the password and reads the file itself.
    ...(databasePasswordFile === undefined ? { LEDGER_DATABASE_URL: databaseUrl } : {}),
    ...(command === 'auditor' ? {} : { LEDGER_NATS_URL: natsUrls.join(',') }),
    LEDGER_PART_KEY: partKey,
    LEDGER_NODE_ID: nodeId === undefined ? `${command}-${number}` : `${nodeId}-${command}-${number}`,
    LEDGER_PORT: String(port),
    LEDGER_BASE_URL: givenBaseUrl === '' ? baseUrl : givenBaseUrl,
    ...(shards === undefined ? {} : { LEDGER_SHARDS: String(shards) }),
    ...(metricsPort === undefined ? {} : { LEDGER_METRICS_PORT: String(metricsPort) }),
    // The thread pool makes and verifies signatures: one thread per core, and four for files and host names.
    UV_THREADPOOL_SIZE: env['UV_THREADPOOL_SIZE'] ?? String(availableParallelism() + 4),
    NODE_ENV: env['NODE_ENV'] ?? 'production',
  }
  const isSecret = ([name]: readonly [string, string]): boolean => SECRET_VARIABLES.includes(name)
  const entries = Object.entries(variables)
  return {
    env: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(entries.filter(isSecret)),
  }
}

const MASTER_KEY_VARIABLES: readonly string[] = [
  'LEDGER_MASTER_KEY',
  'LEDGER_MASTER_KEY_FILE',
  'LEDGER_PREVIOUS_MASTER_KEY',
  'LEDGER_PREVIOUS_MASTER_KEY_FILE',
]

/** Secrets that a part does not need, and ports that differ per part. */
function isWithheldFrom(command: ChildOptions['command'], variable: string): boolean {
  if (variable === 'LEDGER_BOOTSTRAP_CLIENTS' || variable === 'LEDGER_METRICS_PORT') return true
  if (MASTER_KEY_VARIABLES.includes(variable)) return true
  return command === 'auditor' && variable.startsWith('LEDGER_NATS')
}
