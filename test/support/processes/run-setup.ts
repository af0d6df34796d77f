/** Before the first test file and after the last: what the files of a run share. */
import type { TestProject } from 'vitest/node'
import { endServers, newServerNotes } from './server-notes.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The directory in which a process that runs test files notes the servers that it leaves running. */
    readonly serverNotes: string
  }
}

let serverNotes: string | undefined

export function setup({ provide }: TestProject): void {
  serverNotes = newServerNotes()
  provide('serverNotes', serverNotes)
}

export async function teardown(): Promise<void> {
  if (serverNotes !== undefined) await endServers(serverNotes)
}
