/**
 * Keeps the access token of a profile between commands, so that a script of many commands does not log in each time. The refresh
 * token is not kept: two commands at once would use it twice, which revokes both.
 */
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import type { Tokens, TokenStore } from '../../../api/client/access-tokens.ts'
import { makePrivateDirectory, readPrivateFile, replacePrivateFile } from '../../system/private-file.ts'
import type { CommandIo } from '../common/command.ts'
import { configDirectory, refuseSharedFile } from './config-directory.ts'
import type { Profile } from './profiles.ts'

const savedSchema = v.object({
  url: v.string(),
  client_id: v.string(),
  access_token: v.string(),
  renew_at_ms: v.number(),
})

/** Removes the access token of a profile. It may be missing. */
export function removeSavedToken(name: string, io: CommandIo): void {
  rmSync(tokenPath(name, io), { force: true })
}

function tokenPath(name: string, io: CommandIo): string {
  return join(configDirectory(io), 'tokens', `${name}.json`)
}

export function savedToken({ name, url, clientId }: Profile, io: CommandIo): TokenStore {
  const path = tokenPath(name, io)
  return {
    load: (): Tokens | undefined => {
      refuseSharedFile(path, 'the access token')
      const text = readPrivateFile(path)
      const read = v.safeParse(v.pipe(v.string(), v.parseJson(), savedSchema), text)
      if (!read.success || read.output.url !== url || read.output.client_id !== clientId) return undefined
      return {
        accessToken: read.output.access_token,
        refreshToken: undefined,
        renewAtMs: read.output.renew_at_ms,
      }
    },
    save: ({ accessToken, renewAtMs }: Tokens): void => {
      const saved = { url, client_id: clientId, access_token: accessToken, renew_at_ms: renewAtMs }
      try {
        makePrivateDirectory(dirname(path))
        replacePrivateFile(path, `${JSON.stringify(saved)}\n`)
      } catch (error) {
        io.err(`warning: the access token cannot be kept: ${error instanceof Error ? error.message : String(error)}\n`)
      }
    },
  }
}
