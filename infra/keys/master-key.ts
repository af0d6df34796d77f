/**
 * The master key: 32 random bytes from which all wrapping keys are derived (wrapping-keys.ts). It can be replaced, so keys
 * that must outlive it derive from the ledger's root secret instead (root-secret.ts).
 * In its place there may be the reference of a key outside (outside/outside-master-key.ts).
 *   M1. In memory it is a KeyObject, which reveals nothing in logs or JSON.
 *   M2. A file is complete or absent, and readable by its owner only.
 */
import { createSecretKey, randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { decodeBase64 } from './base64.ts'
import { isKeyReference } from './key-reference.ts'
import { type WrappingKeys, wrappingKeysOf } from './wrapping-keys.ts'

/** A master key in an HSM or KMS. */
export interface OutsideMasterKey {
  readonly outside: string
}

export type GivenMasterKey = WrappingKeys | OutsideMasterKey

const OUTSIDE = 'outside:'

export const MASTER_KEY_BYTES = 32
/** Far more than the rotations at one time. */
export const MAX_MASTER_KEYS = 8

/** A master key, or a key derived from one, is missing or malformed. */
export class KeyUnusable extends Error {
  override readonly name = 'KeyUnusable'
}

/** Reads base64url (or base64) of exactly 32 bytes; white space around it is ignored. Throws KeyUnusable. */
export function readMasterKey(text: string): WrappingKeys {
  const bytes = decodeBase64(text.trim())
  if (bytes?.length !== MASTER_KEY_BYTES) {
    throw new KeyUnusable(`The master key must be base64url of ${MASTER_KEY_BYTES} bytes.`)
  }
  const master = createSecretKey(bytes)
  bytes.fill(0)
  return wrappingKeysOf(master)
}

/** The same, or `outside:` and the reference of a key outside. Throws KeyUnusable. */
export function readGivenMasterKey(text: string): GivenMasterKey {
  const trimmed = text.trim()
  if (!trimmed.startsWith(OUTSIDE)) return readMasterKey(text)
  const outside = trimmed.slice(OUTSIDE.length)
  if (isKeyReference(outside)) return { outside }
  throw new KeyUnusable('The reference of a master key outside must be printable ASCII without spaces and commas.')
}

/** Reads the key from a file. Throws KeyUnusable if it is missing or malformed. */
export async function loadMasterKey(path: string): Promise<WrappingKeys> {
  return load(path, readMasterKey)
}

/** The same, or a key outside. */
export async function loadGivenMasterKey(path: string): Promise<GivenMasterKey> {
  return load(path, readGivenMasterKey)
}

async function load<T>(path: string, read: (text: string) => T): Promise<T> {
  const text = await textOf(path)
  try {
    return read(text)
  } catch (cause) {
    if (text.trimStart().startsWith(OUTSIDE) && cause instanceof KeyUnusable) throw cause
    throw new KeyUnusable(
      `${path} has no master key (base64url of ${MASTER_KEY_BYTES} bytes): restore the file from a copy.`,
      { cause },
    )
  }
}

/** Reads one or more keys, separated by white space or commas. Throws KeyUnusable. */
export function readMasterKeys(text: string): readonly GivenMasterKey[] {
  const texts = text.split(/[\s,]+/).filter((one) => one !== '')
  if (texts.length === 0 || texts.length > MAX_MASTER_KEYS) {
    throw new KeyUnusable(`There must be 1 to ${MAX_MASTER_KEYS} master keys.`)
  }
  return texts.map(readGivenMasterKey)
}

/** Throws KeyUnusable if the file has none. */
export async function loadMasterKeys(path: string): Promise<readonly GivenMasterKey[]> {
  return readMasterKeys(await textOf(path))
}

/** Creates the file with a new key if it is absent (M2). Safe for concurrent processes. */
export async function loadOrCreateMasterKey(path: string): Promise<WrappingKeys> {
  try {
    await createMasterKeyFile(path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw new KeyUnusable('The master key file cannot be created.', { cause: error })
  }
  return loadMasterKey(path)
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new KeyUnusable(`The master key file ${path} cannot be read.`, { cause })
  }
}

/** Writes a draft and links it: a crash leaves no partial key, and an existing file is never replaced (EEXIST). */
async function createMasterKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(MASTER_KEY_BYTES).toString('base64url')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(draft, path)
  } finally {
    await unlink(draft)
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
