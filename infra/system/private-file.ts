/** Files and directories that only their owner can read. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
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
  mkdirSync(dirname(path), { recursive: true })
  mkdirSync(path, { recursive: true, mode: 0o700 })
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
