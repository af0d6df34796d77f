/**
 * Starts a node, an edge or the auditor as a child process.
 *   D1. The child has its own session: Ctrl-C in a terminal reaches the launcher only, which stops the parts in order.
 *   D2. The child notices every end of its launcher by the channel between them.
 *   D3. The child receives secrets by its standard input, never by arguments or its environment.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
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

export async function spawnChild(options: ChildOptions): Promise<RunningPart> {
  const program = fileURLToPath(new URL('../main/ledger.js', import.meta.url))
  const child = spawn(process.execPath, ['--enable-source-maps', ...COLLECTOR_HERE, program, options.command], {
    env: { ...ALLOCATOR, ...options.env, ...HANDED_BY_INPUT },
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  // A child that ended before it read them is reported by its exit.
  child.stdin?.on('error', () => undefined).end(textOfSecrets(options.secrets))
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', options.onLine)
  }
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => {
      if (child.pid !== undefined) resolve(child.pid)
    })
  })
  return {
    pid,
    exited,
    kill: () => void child.kill('SIGKILL'),
    stop: async () => {
      child.kill('SIGTERM')
      let isLate = false
      const late = setTimeout(() => {
        // False if the child has ended by itself.
        isLate = child.kill('SIGKILL')
      }, STOP_TIMEOUT_MS)
      await exited
      clearTimeout(late)
      if (isLate) throw new Error(`did not stop within ${STOP_TIMEOUT_MS / 1_000} s, and was killed`)
    },
  }
}
