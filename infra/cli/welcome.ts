/** The message that `ledger up` prints once the ledger serves requests. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Configuration } from '../config/configuration.ts'
import type { StartClients } from '../launcher/bootstrap-clients.ts'
import { firstRequest, quoted } from '../launcher/first-request.ts'
import { generatedKeyFile } from '../ledger/ledger-secrets.ts'
import type { RunningLedger } from '../launcher/supervisor.ts'

export function welcome({ addresses, ledgerId, startClients }: RunningLedger, configuration: Configuration): string {
  const [address = ''] = addresses
  const { clients, file, made } = startClients
  const transactor = clients.find(({ role }) => role === 'transactor')
  const client = file === undefined || transactor === undefined ? undefined : { clientId: transactor.clientId, file }
  const lines = clients.map(
    ({ clientId, clientSecret, role }) => `  ${clientId} (${role})${made ? `: ${clientSecret}` : ''}`,
  )
  return `
The ledger is ready: ${addresses.join(', ')}
${configuration.pages.includes('console') ? `  console: ${address}/console\n` : ''}  ledger ${ledgerId}, ${configuration.environment}, data in ${configuration.dataDir}

${clientsTitle(startClients)}:
${lines.length === 0 ? '  none' : lines.join('\n')}
${usesGeneratedKey(configuration) ? `\nThe master key is ${generatedKeyFile(configuration)}: without it the data is unreadable. Keep a copy.\n` : ''}
To try it, paste into another shell:

${firstRequest({ address, client, ledger: ledgerCommand() })}
Ctrl-C stops it.
`
}

function clientsTitle({ file, made }: StartClients): string {
  if (file === undefined) return 'Clients of LEDGER_BOOTSTRAP_CLIENTS'
  return made
    ? `Clients, with their secrets (shown this once, kept in ${file})`
    : `Clients (their secrets are in ${file})`
}

function usesGeneratedKey(configuration: Configuration): boolean {
  return configuration.masterKey === undefined && configuration.masterKeyFile === undefined
}

/** The full path, quoted: the user's shell may be in any directory. */
function ledgerCommand(): string {
  const shim = fileURLToPath(new URL('../../../infra/main/ledger.mjs', import.meta.url))
  return existsSync(shim) ? quoted(shim) : 'ledger'
}
