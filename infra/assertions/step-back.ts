/** Threads that compute for seconds step back for the one that serves requests. */
import { setPriority } from 'node:os'

/** A third of what a thread gets that has not stepped back. */
const NICENESS = 5

export function stepBack(): void {
  try {
    // On Linux this is the thread's alone.
    if (process.platform === 'linux') setPriority(NICENESS)
  } catch {
    // It runs as it is.
  }
}
