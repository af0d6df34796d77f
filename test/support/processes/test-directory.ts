/** Directories for what a test throws away: in memory where there is room, since servers wait for disks at each commit. */
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 2 ** 30

/** One that servers can enter which run as another user; what is in it has modes of its own. */
export function serverDirectory(prefix: string): string {
  const directory = mkdtempSync(join(hasRoom() ? MEMORY : tmpdir(), prefix))
  chmodSync(directory, 0o711)
  return directory
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}
