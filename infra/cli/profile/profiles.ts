/**
 * Profiles: a ledger's address and the credentials of a client, one file each, in the user's configuration directory.
 *   Q1. A profile's file has the mode 600, its directory 700. A file that others can read is refused.
 *   Q2. Errors and output never show a secret.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import * as v from 'valibot'
import type { Credentials } from '../../../api/client/access-tokens.ts'
import { makePrivateDirectory, readPrivateFile, replacePrivateFile } from '../../system/private-file.ts'
import { PROFILE_VARIABLE } from '../../config/configuration.ts'
import { CommandFailed, type CommandIo, UsageError } from '../common/command.ts'
import { configDirectory, makeUserDirectory, refuseSharedDirectory, refuseSharedFile } from './config-directory.ts'
import { readKeyFile } from './key-files.ts'

export interface Profile {
  readonly name: string
  /** Without a slash at the end. */
  readonly url: string
  readonly clientId: string
  readonly proof: ClientProof
  /** The ledger at the address when the profile was stored. Its accounts' keys have a directory of their own. */
  readonly ledgerId: string
}

/** A secret, or the path of the client's private key, which stays in its file. */
export type ClientProof = { readonly clientSecret: string } | { readonly keyFile: string }

export interface ProfileOptions {
  readonly profile?: string
}

const DEFAULT_NAME = 'default'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const entries = {
  url: v.pipe(v.string(), v.url()),
  client_id: v.string(),
  ledger_id: v.pipe(v.string(), v.uuid()),
}
const fileSchema = v.union([
  v.object({ ...entries, client_secret: v.string() }),
  v.object({ ...entries, key_file: v.string() }),
])

export function addProfileOption(command: Command): Command {
  return command.option('--profile <name>', 'profile of ledger login (default: LEDGER_PROFILE, else default)')
}

/** Throws UsageError for a malformed name. */
export function profileName({ profile }: ProfileOptions, { env }: CommandIo): string {
  const fromVariable = env[PROFILE_VARIABLE] ?? ''
  const name = profile ?? (fromVariable === '' ? DEFAULT_NAME : fromVariable)
  if (NAME.test(name)) return name
  const source = profile === undefined ? PROFILE_VARIABLE : '--profile'
  throw new UsageError(`${source} must be 1 to 64 letters, digits, dots, _ and -, and begin with a letter or digit`)
}

/** Removes the stored credentials of a profile. Returns the path; undefined if there was none. */
export function removeProfile(name: string, io: CommandIo): string | undefined {
  const path = profilePath(name, io)
  const isThere = existsSync(path)
  rmSync(path, { force: true })
  return isThere ? path : undefined
}

export function profilePath(name: string, io: CommandIo): string {
  return join(configDirectory(io), 'profiles', `${name}.json`)
}

/** Returns the path. */
export function storeProfile({ name, url, clientId, proof, ledgerId }: Profile, io: CommandIo): string {
  makeUserDirectory(configDirectory(io))
  makePrivateDirectory(join(configDirectory(io), 'profiles'))
  const path = profilePath(name, io)
  const proved = 'keyFile' in proof ? { key_file: proof.keyFile } : { client_secret: proof.clientSecret }
  const stored = { url, client_id: clientId, ...proved, ledger_id: ledgerId }
  replacePrivateFile(path, `${JSON.stringify(stored, null, 2)}\n`)
  return path
}

/** Throws UsageError and CommandFailed: there is no such profile, it is damaged, or others can read it (Q1). */
export function readProfile(options: ProfileOptions, io: CommandIo): Profile {
  const name = profileName(options, io)
  const path = profilePath(name, io)
  refuseSharedDirectory(configDirectory(io))
  refuseSharedDirectory(join(configDirectory(io), 'profiles'))
  refuseSharedFile(path, 'the profile')
  const text = readPrivateFile(path)
  if (text === undefined) {
    const login = name === DEFAULT_NAME ? 'ledger login' : `ledger login --profile ${name}`
    throw new CommandFailed(`there is no profile ${name}: run ${login} first`)
  }
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), fileSchema), text)
  // Without details: they could quote the secret.
  if (!read.success) throw new CommandFailed(`the profile ${path} is damaged: run ledger login again`)
  const { url, client_id: clientId, ledger_id: ledgerId } = read.output
  const proof =
    'key_file' in read.output ? { keyFile: read.output.key_file } : { clientSecret: read.output.client_secret }
  return { name, url, clientId, proof, ledgerId }
}

/** Throws CommandFailed if the key cannot be read, or others can read it (Q1). */
export function credentialsOf({ clientId, proof }: Pick<Profile, 'clientId' | 'proof'>): Credentials {
  if ('clientSecret' in proof) return { clientId, clientSecret: proof.clientSecret }
  const key = readKeyFile(proof.keyFile).key.export({ format: 'pem', type: 'pkcs8' })
  return { clientId, clientKey: key.toString() }
}
