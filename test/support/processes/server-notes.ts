/** Which servers the processes that run test files have started and left running: notes in a directory, one of each. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identityOf, isAlive, type ProcessIdentity } from '../../../infra/embedded/process-table.ts'
import { pollUntil } from '../../../infra/embedded/server-process.ts'
import { readRecord } from '../../../infra/embedded/server-record.ts'

export interface StartedServer {
  readonly pid: number
  /** Thrown away with it. */
  readonly dataDir: string
}

type Note = ProcessIdentity & Pick<StartedServer, 'dataDir'>

const ENDS_WITHIN_MS = 180_000

/** Where notes go; with `endServers` it goes away. */
export function newServerNotes(): string {
  return mkdtempSync(join(tmpdir(), 'ledger-servers-'))
}

/** Throws when the server does not run. */
export function noteServer(notes: string, { pid, dataDir }: StartedServer): void {
  const identity = identityOf(pid)
  if (identity === undefined) throw new Error(`the server ${pid} has ended`)
  writeFileSync(join(notes, String(pid)), JSON.stringify({ ...identity, dataDir } satisfies Note))
}

/** Ends all that were noted, at once, and removes their data. */
export async function endServers(notes: string): Promise<void> {
  const servers = readdirSync(notes).map((name) => JSON.parse(readFileSync(join(notes, name), 'utf8')) as Note)
  for (const server of servers.filter(isAlive)) process.kill(server.pid, 'SIGQUIT')
  const ended = await pollUntil(() => !servers.some(isAlive), ENDS_WITHIN_MS)
  for (const { dataDir } of servers) {
    // The data may have to be elsewhere, where the server's own user can enter.
    const place = readRecord(dataDir)?.place
    for (const directory of [place ?? dataDir, dataDir]) rmSync(directory, { recursive: true, force: true })
  }
  rmSync(notes, { recursive: true, force: true })
  if (!ended) throw new Error(`PostgreSQL does not end: ${servers.map(({ dataDir }) => dataDir).join()}`)
}
