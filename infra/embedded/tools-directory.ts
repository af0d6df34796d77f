import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRoot } from './unprivileged-user.ts'

/** Root's directory for programs and data that other users must reach. */
export const SYSTEM_PLACE = '/var/lib/ledger'

/** The persistent directory of downloaded and copied programs, writable by its owner only. */
export function toolsDirectory(): string {
  if (isRoot()) return makeDirectory(join(SYSTEM_PLACE, 'tools'), 0o755)
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  try {
    return makeDirectory(join(cache, 'ledger'), 0o755)
  } catch {
    return makeDirectory(join(tmpdir(), `ledger-${process.getuid?.() ?? 0}`), 0o700)
  }
}

/** Throws if another user can write to the directory. */
function makeDirectory(directory: string, mode: number): string {
  mkdirSync(directory, { recursive: true })
  const found = lstatSync(directory)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${directory} must be a directory that only its owner, this user, can write to`)
  }
  // mkdir applies the umask.
  chmodSync(directory, mode)
  return directory
}
