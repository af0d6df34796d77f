/** Runs commands with a profile, at a ledger whose replies are given. */
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { createKeyFiles } from '../../../infra/cli/profile/key-files.ts'
import { storeProfile } from '../../../infra/cli/profile/profiles.ts'
import { commandLine, type Ran, serving } from './cli-fixture.ts'
import { silentIo } from './silent-io.ts'

export const LEDGER_ID = '0e0f6a3c-3f0c-4a3e-9f39-2b1f9a7a4d11'

/** The body of a reply, or a function of the query. A string is a text, an object JSON. Undefined: 404. */
type Body = object | string | undefined
export type Reply = Body | ((query: URLSearchParams) => Body)

export interface LedgerUser {
  /** Method and path of each request but those for tokens, with the body of a POST. */
  readonly requests: readonly (readonly [request: string, body: unknown])[]
  readonly run: (...args: readonly string[]) => Promise<Ran>
  /** The directory of profiles and keys. */
  readonly directory: string
}

/** `replies`: by path. `accounts`: whose keys the user has. */
export async function ledgerUser(
  replies: Readonly<Record<string, Reply>>,
  accounts: readonly string[] = [],
): Promise<LedgerUser> {
  const requests: (readonly [string, unknown])[] = []
  const handler: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://ledger')
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.setHeader('preference-applied', 'wait=1')
      if (pathname === '/v1/auth/token') {
        response.end(JSON.stringify({ access_token: 'token', refresh_token: 'r', expires_in: 60 }))
        return
      }
      requests.push([`${request.method} ${pathname}`, text === '' ? undefined : JSON.parse(text)])
      const reply = replies[pathname]
      const missing = { title: 'Not Found', detail: 'There is none.', error_codes: ['ERR_NOT_FOUND'] }
      const body = typeof reply === 'function' ? reply(searchParams) : reply
      response.statusCode = body === undefined ? 404 : 200
      response.end(typeof body === 'string' ? body : JSON.stringify(body ?? missing))
    })
  }
  const { url } = await serving(handler)
  const line = commandLine()
  const env = { XDG_CONFIG_HOME: join(line.cwd, 'config') }
  const io = silentIo({ env })
  storeProfile({ name: 'default', url, clientId: 'c', proof: { clientSecret: 's' }, ledgerId: LEDGER_ID }, io)
  for (const account of accounts) createKeyFiles(LEDGER_ID, io).make(account)
  return { requests, run: (...args) => line.run(args, '', env), directory: join(env.XDG_CONFIG_HOME, 'ledger') }
}
