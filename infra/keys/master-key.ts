/**
 * The master key: 32 random bytes under which the ledger's own secrets are sealed (master-seal.ts). It can be replaced, so
 * nothing that must outlive it is derived from it: that comes from the root secret of the ledger (root-secret.ts).
 *   M1. It is a KeyObject from the moment it is read: it shows nothing when it is logged or turned into JSON.
 *   M2. Each purpose has a key of its own; none of them gives another, or the master key, away.
 *   M3. A file is complete or not there at all, and readable by its owner only.
 */
import { createHash, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { decodeBase64 } from './base64.ts'

export type MasterKey = KeyObject

export const MASTER_KEY_BYTES = 32
/** Far more than rotations that can be under way at once. */
const MOST_PREVIOUS_KEYS = 8

/** The master keys that a process was given: `current` seals, and all of them open what they sealed. */
export interface MasterKeys {
  readonly current: MasterKey
  readonly previous: readonly MasterKey[]
}

/** What is sealed under a master key, with a key of its own for each. A name once released is never given to anything else. */
export type MasterKeyUse =
  | 'root-secret'
  | 'shard-secret'
  | 'index-secret'
  | 'index-secret-of-encrypted'
  | 'data-keys'
  | 'service-keys'
  | 'master-key-id'

export class MasterKeyUnusable extends Error {
  override readonly name = 'MasterKeyUnusable'
}

/** Reads base64url (or base64) of exactly 32 bytes; white space around it is ignored. Throws MasterKeyUnusable. */
export function readMasterKey(text: string): MasterKey {
  const bytes = decodeBase64(text.trim())
  if (bytes?.length !== MASTER_KEY_BYTES) {
    throw new MasterKeyUnusable(`The master key must be base64url of ${MASTER_KEY_BYTES} bytes.`)
  }
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return key
}

/** Reads the key from a file. Throws MasterKeyUnusable when there is none or it is ill-formed. */
export async function loadMasterKey(path: string): Promise<MasterKey> {
  return readMasterKey(await textOf(path))
}

/** Reads one key or several, with white space or commas between them. Throws MasterKeyUnusable. */
export function readMasterKeys(text: string): readonly MasterKey[] {
  const texts = text.split(/[\s,]+/).filter((one) => one !== '')
  if (texts.length === 0 || texts.length > MOST_PREVIOUS_KEYS) {
    throw new MasterKeyUnusable(`There must be 1 to ${MOST_PREVIOUS_KEYS} master keys.`)
  }
  return texts.map(readMasterKey)
}

/** `readMasterKeys` of a file. Throws MasterKeyUnusable when there is none. */
export async function loadMasterKeys(path: string): Promise<readonly MasterKey[]> {
  return readMasterKeys(await textOf(path))
}

/** Loads the key from a file, which is made with a new key when there is none (M3). Safe when two processes do it at once. */
export async function loadOrCreateMasterKey(path: string): Promise<MasterKey> {
  try {
    await createMasterKeyFile(path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw new MasterKeyUnusable('The master key file cannot be made.', { cause: error })
  }
  return loadMasterKey(path)
}

/** The secret key for one use: 32 bytes, HKDF-SHA-256 (RFC 5869). */
export function deriveKey(master: MasterKey, use: MasterKeyUse): Buffer {
  return Buffer.from(hkdfSync('sha256', master, '', `ledger/${use}/1`, MASTER_KEY_BYTES))
}

/** Names a master key: 16 hexadecimal digits that give nothing of it away. */
export function masterKeyIdOf(master: MasterKey): string {
  return createHash('sha256').update(deriveKey(master, 'master-key-id')).digest('hex').slice(0, 16)
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new MasterKeyUnusable('The master key file cannot be read.', { cause })
  }
}

/** Writes beside the path and links: a crash leaves no half-written key, and an existing one is never replaced (EEXIST). */
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
