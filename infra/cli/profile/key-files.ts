/**
 * Private keys of accounts: PEM files (PKCS #8), mode 600, in a directory for each ledger.
 *   J1. A key is on disk before its public part is sent anywhere.
 *   J2. A file is never overwritten: a retired key is kept under another name.
 *   J3. A file's name stays in the directory, and two accounts never share one, also if the disk ignores case.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { publicJwkOf, thumbprintOf } from '../../keys/public-key.ts'
import { makePrivateDirectory } from '../../system/private-file.ts'
import { CommandFailed, type CommandIo } from '../common/command.ts'
import { unreadable } from '../common/given-file.ts'
import { configDirectory, makeUserDirectory, refuseSharedFile } from './config-directory.ts'

const SUFFIX = '.pem'
/** Its account's next key, until the ledger has accepted it. No name of an account has a tilde. */
const NEXT_SUFFIX = '~next.pem'
/** IDs that are file names as they are. */
const PLAIN_ID = /^[a-z0-9_][a-z0-9_.@-]{0,127}$/
const NOT_PLAIN = /[^a-z0-9_.@-]/g
const READABLE_LENGTH = 64
const HASH_DIGITS = 32

export interface KeyFile {
  readonly path: string
  readonly key: KeyObject
  /** RFC 7638 thumbprint. */
  readonly keyId: string
}

export function createKeyFiles(ledgerId: string, io: CommandIo) {
  const directory = join(configDirectory(io), 'keys', ledgerId)
  const pathOf = (accountId: string): string => join(directory, `${fileNameOf(accountId)}${SUFFIX}`)
  const nextPathOf = (accountId: string): string => join(directory, `${fileNameOf(accountId)}${NEXT_SUFFIX}`)

  const existing = (path: string): KeyFile | undefined => (existsSync(path) ? readKeyFile(path) : undefined)
  const made = (path: string): KeyFile => {
    makeUserDirectory(configDirectory(io))
    makePrivateDirectory(join(configDirectory(io), 'keys'))
    makePrivateDirectory(directory)
    return writeNewKey(path)
  }

  return {
    /** The account's key, from `file` if it is given. Throws CommandFailed if there is none. */
    read: (accountId: string, file?: string): KeyFile => {
      if (file !== undefined) return readKeyFile(resolve(io.cwd, file), file)
      const found = existing(pathOf(accountId))
      if (found !== undefined) return found
      throw new CommandFailed(`there is no key of ${accountId} here (${pathOf(accountId)}): name its file with --key`)
    },
    find: (accountId: string): KeyFile | undefined => existing(pathOf(accountId)),
    /** Generates a key. Throws CommandFailed if the file exists (J2). */
    make: (accountId: string): KeyFile => made(pathOf(accountId)),
    /** For a key whose account was refused. */
    remove: ({ path }: KeyFile): void => rmSync(path),
    pathOf,
    /** The key of a rotation that the ledger may have accepted already. */
    findNext: (accountId: string): KeyFile | undefined => existing(nextPathOf(accountId)),
    /** Generates the key of a rotation. Throws CommandFailed if there is one. */
    makeNext: (accountId: string): KeyFile => made(nextPathOf(accountId)),
    /** Makes the next key the account's key. Returns the new path of the retired one (J2). */
    replace: (accountId: string): string | undefined => {
      const retired = existing(pathOf(accountId))
      const kept = retired && join(directory, `${fileNameOf(accountId)}~${retired.keyId}${SUFFIX}`)
      if (retired !== undefined && kept !== undefined && !existsSync(kept)) linkSync(retired.path, kept)
      renameSync(nextPathOf(accountId), pathOf(accountId))
      syncDirectory(directory)
      return kept
    },
    /** All keys of the account here, the retired ones included. */
    all: (accountId: string): readonly KeyFile[] => {
      if (!existsSync(directory)) return []
      const own = fileNameOf(accountId)
      return readdirSync(directory)
        .filter((name) => name === `${own}${SUFFIX}` || name.startsWith(`${own}~`))
        .map((name) => readKeyFile(join(directory, name)))
    },
  }
}

/** J3. An ID with other characters or capital letters gets a part of its SHA-256; no other name has a `%`. */
function fileNameOf(accountId: string): string {
  if (PLAIN_ID.test(accountId)) return accountId
  const readable = accountId.toLowerCase().replaceAll(NOT_PLAIN, '-').slice(0, READABLE_LENGTH)
  return `_${readable}%${createHash('sha256').update(accountId).digest('hex').slice(0, HASH_DIGITS)}`
}

export type KeyFiles = ReturnType<typeof createKeyFiles>

/** Throws CommandFailed: the file is missing, readable by others, or has no P-256 key. `name`: as the user gave it. */
export function readKeyFile(path: string, name = path): KeyFile {
  refuseSharedFile(path, 'the key file')
  let pem: Buffer
  try {
    pem = readFileSync(path)
  } catch (cause) {
    throw unreadable(name, cause)
  }
  const key = privateKeyOf(pem, name)
  return { path, key, keyId: thumbprintOf(publicJwkOf(key)) }
}

/** Throws CommandFailed. `name`: of the file, for messages. */
export function privateKeyOf(pem: Buffer, name: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (cause) {
    throw new CommandFailed(`${name} is not an unencrypted private key in PEM, as ledger keygen writes it`, { cause })
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new CommandFailed(`the key in ${name} is not a P-256 key`)
  }
  return key
}

/** Generates a key and writes its file. Throws CommandFailed if it cannot be written, or exists. */
export function writeNewKey(path: string, name = path): KeyFile {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      writeSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString())
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    const isThere = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
    const why = isThere ? 'it already exists' : cause instanceof Error ? cause.message : String(cause)
    throw new CommandFailed(`${name} cannot be written: ${why}`, { cause })
  }
  return { path, key: privateKey, keyId: thumbprintOf(publicJwkOf(privateKey)) }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
