/** The address of a ledger and the secret of a client, as the command line gives them. */
import type { Json } from '../../../actors/canonical-json.ts'
import { parseStrictJson } from '../../../api/http/json-text.ts'
import { isLoopbackHost } from '../../config/loopback-host.ts'
import { CommandFailed, type CommandIo, UsageError } from '../common/command.ts'
import { isJsonObject, readGivenText } from '../common/given-file.ts'

/** The address without a slash at the end. Warns if a secret would be sent unencrypted. Throws UsageError. */
export function ledgerAddress(text: string, io: CommandIo): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError('--url must be an http or https URL, without a query')
  }
  if (/\/v1\/*$/.test(url.pathname)) throw new UsageError('--url must not end with /v1')
  if (url.username !== '' || url.password !== '') throw new UsageError('--url must not contain credentials')
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    io.err('warning: the secret is sent unencrypted: use https\n')
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** `name`: of a file with the secret alone or with JSON of `ledger client add`; `-` is standard input. Throws CommandFailed. */
export async function clientSecret(name: string, clientId: string, io: CommandIo): Promise<string> {
  const text = (await readGivenText(name, io)).trim()
  const secret = text.startsWith('{') || text.startsWith('[') ? secretIn(text, clientId) : text
  if (secret === undefined || secret === '') throw new CommandFailed(`${name} has no secret of client ${clientId}`)
  return secret
}

function secretIn(text: string, clientId: string): string | undefined {
  const parsed = parseStrictJson(text)
  if (!parsed.ok) return undefined
  const clients: readonly Json[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  const client = clients.filter(isJsonObject).find((one) => one['client_id'] === clientId)
  const secret = client?.['client_secret']
  return typeof secret === 'string' ? secret : undefined
}
