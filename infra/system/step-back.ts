/**
 * Work that takes seconds steps back for what serves requests on the same machine. Where that cannot be, it runs as it is.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** A third of what a thread gets that has not stepped back. */
const THREAD_NICENESS = 5
const { PRIORITY_BELOW_NORMAL: PROCESS_NICENESS } = constants.priority
/** Of proc(5), `/proc/self/stat`: the session, counted from the process's state, which follows its name. */
const SESSION = 3

/** The thread that calls it. */
export function threadStepsBack(): void {
  try {
    // On Linux this is the thread's alone.
    if (process.platform === 'linux') setPriority(THREAD_NICENESS)
  } catch {
    // It runs as it is.
  }
}

/**
 * This process, with what it starts. Linux shares processors between sessions first (sched(7), autogroup), and niceness
 * only decides within one: a process that has a session of its own steps back with all of it.
 */
export function processStepsBack(): void {
  try {
    setPriority(PROCESS_NICENESS)
    if (process.platform === 'linux' && leadsSession()) writeFileSync('/proc/self/autogroup', String(PROCESS_NICENESS))
  } catch {
    // It runs as it is.
  }
}

function leadsSession(): boolean {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return Number(fields[SESSION]) === process.pid
}
