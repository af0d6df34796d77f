/** Directories for what a test throws away: where there is room in memory, there (run-setup.ts). */
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One that servers can enter which run as another user; what is in it has modes of its own. */
export function serverDirectory(prefix: string): string {
  const directory = mkdtempSync(join(tmpdir(), prefix))
  chmodSync(directory, 0o711)
  return directory
}
