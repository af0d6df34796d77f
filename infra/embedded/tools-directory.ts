import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRoot } from './unprivileged-user.ts'

/** Where root keeps what other users must reach: programs, and data whose own place they cannot enter. */
export const SYSTEM_PLACE = '/var/lib/ledger'

/** A directory for programs that were fetched or copied, kept between runs; writable by its owner only. */
export function toolsDirectory(): string {
  if (isRoot()) return made(join(SYSTEM_PLACE, 'tools'), 0o755)
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  try {
    return made(join(cache, 'ledger'), 0o755)
  } catch {
    return made(join(tmpdir(), `ledger-${process.getuid?.() ?? 0}`), 0o700)
  }
}

/** Throws when somebody else could have put something into it. */
function made(directory: string, mode: number): string {
  mkdirSync(directory, { recursive: true })
  const found = lstatSync(directory)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${directory} must be a directory that only its owner, this user, can write to`)
  }
  // Whatever the umask is.
  chmodSync(directory, mode)
  return directory
}
