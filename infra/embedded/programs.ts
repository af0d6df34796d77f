import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'

/** Directories that may be missing from an ordinary user's PATH. */
const DEFAULT_DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Searches the PATH and the default directories. */
export function findProgram(name: string): string | undefined {
  const directories = [
    ...(process.env['PATH'] ?? '').split(':').filter((directory) => directory.startsWith('/')),
    ...DEFAULT_DIRECTORIES,
  ]
  return directories.map((directory) => join(directory, name)).find(isProgram)
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
