/** Files and directories that only their owner can read. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a temporary file and renames it, mode 0600. A power loss leaves the old file or the new one, complete. */
export function replacePrivateFile(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`
  const file = openSync(beside, 'w', 0o600)
  try {
    // A single write may store a part only, as on a full disk.
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
  const directory = openSync(dirname(path), 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** undefined: there is no such file. Throws for an unreadable file, so that its contents are never generated again. */
export function readPrivateFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Makes a directory that only its owner can read. Missing parent directories get the default mode. */
export function makePrivateDirectory(path: string): void {
  makeDirectory(dirname(path), 0o777)
  makeDirectory(path, 0o700)
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EEXIST', 'there is a file of this name'],
  ['ENOTDIR', 'a part of its path is a file'],
  ['ENOENT', 'the file system refuses new names there'],
  ['EACCES', 'permission is denied'],
  ['EROFS', 'the file system is read-only'],
])

/**
 * `recursive` of mkdirSync never returns where a parent exists and refuses names with ENOENT, as /proc and automatic mounts
 * do.
 */
function makeDirectory(path: string, mode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  try {
    if (!existsSync(dirname(path))) makeDirectory(dirname(path), 0o777)
    mkdirSync(path, { mode })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    // Another process was first.
    if (code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
    throw new Error(`the directory ${path} cannot be created: ${REASONS.get(code) ?? code}`, { cause })
  }
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
