/**
 * Starts a node, an edge or the auditor as a child process.
 *   D1. The child has its own session: Ctrl-C in a terminal reaches the launcher only, which stops the parts in order.
 *   D2. The child notices every end of its launcher by the channel between them.
 *   D3. The child receives secrets by its standard input, never by arguments or its environment.
 */
import { fileURLToPath } from 'node:url'
import { spawnServer, stopByStages } from '../embedded/server-process.ts'
import { HANDED_BY_INPUT, type HandedSecrets, textOfSecrets } from './handed-secrets.ts'
import type { RunningPart } from './kept-part.ts'
import { ALLOCATOR, COLLECTOR_HERE } from './part-memory.ts'

export interface ChildOptions {
  readonly command: 'node' | 'edge' | 'auditor'
  readonly env: Readonly<Record<string, string>>
  readonly secrets: HandedSecrets
  readonly onLine: (line: string) => void
}

const STOP_TIMEOUT_MS = 25_000

export async function spawnChild({ command, env, secrets, onLine }: ChildOptions): Promise<RunningPart> {
  const program = fileURLToPath(new URL('../main/ledger.js', import.meta.url))
  const child = await spawnServer({
    program: process.execPath,
    args: ['--enable-source-maps', ...COLLECTOR_HERE, program, command],
    cwd: process.cwd(),
    env: { ...ALLOCATOR, ...env, ...HANDED_BY_INPUT },
    user: undefined,
    input: textOfSecrets(secrets),
    ipc: true,
    log: onLine,
  })
  return {
    pid: child.pid,
    exited: child.exited,
    kill: () => child.signal('SIGKILL'),
    stop: async () => {
      const inTime = await stopByStages(child, [
        ['SIGTERM', STOP_TIMEOUT_MS],
        ['SIGKILL', STOP_TIMEOUT_MS],
      ])
      if (!inTime) throw new Error(`did not stop within ${STOP_TIMEOUT_MS / 1_000} s, and was killed`)
    },
  }
}
