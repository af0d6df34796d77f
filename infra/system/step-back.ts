/** Lowers the priority of background work, so that requests on the same machine come first. Failure has no effect. */
import { readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Gives a thread about a third of the time of a thread with normal priority. */
const THREAD_NICENESS = 5
const { PRIORITY_BELOW_NORMAL: PROCESS_NICENESS } = constants.priority
/** proc(5), `/proc/self/stat`: index of the session among the fields after the name. */
const SESSION = 3

/** Lowers the priority of the calling thread. */
export function threadStepsBack(): void {
  try {
    // Only Linux sets the priority of a single thread.
    if (process.platform === 'linux') setPriority(THREAD_NICENESS)
  } catch {
    // Not permitted: the priority stays.
  }
}

/**
 * Lowers the priority of this process and its children. Linux shares processors between sessions first, and by niceness only
 * within a session (sched(7), autogroup). So a process with its own session lowers the session.
 */
export function processStepsBack(): void {
  try {
    setPriority(PROCESS_NICENESS)
    if (process.platform === 'linux' && leadsSession()) writeFileSync('/proc/self/autogroup', String(PROCESS_NICENESS))
  } catch {
    // Not permitted: the priority stays.
  }
}

function leadsSession(): boolean {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return Number(fields[SESSION]) === process.pid
}
