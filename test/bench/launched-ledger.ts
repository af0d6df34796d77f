/** `ledger up` on a data directory that stays, as a process of the bench's own. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../support/cluster-process.ts'
import { clusterProcesses } from '../support/cluster-process-table.ts'

export interface LaunchOptions {
  readonly dataDir: string
  /** Of the first edge. */
  readonly port: number
  readonly nodes: number
  readonly edges: number
  readonly env: Readonly<Record<string, string>>
}

export interface LaunchedLedger {
  readonly pid: number
  readonly hasEnded: () => boolean
  readonly lastLines: () => string
  /** In order; what is left after a minute is ended at once. */
  readonly stop: () => Promise<void>
}

/** What is measured may take longer than a token lives by default. */
export const LONG_TOKENS = { LEDGER_ACCESS_TOKEN_TTL_SECONDS: '86400' }
export const STOP_LIMIT_MS = 60_000
export const READY_LIMIT_MS = 120_000
const KEPT_LINES = 200

/** Throws when it cannot be started at all. */
export function launchLedger({ dataDir, port, nodes, edges, env }: LaunchOptions): LaunchedLedger {
  const program = join(projectRoot(), 'infra', 'main', 'ledger.mjs')
  const child = spawn(process.execPath, [program, 'up', '--nodes', String(nodes), '--edges', String(edges)], {
    cwd: dataDir,
    env: {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LEDGER_'))),
      LEDGER_PORT: String(port),
      LEDGER_DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C reaches the bench, which stops the ledger in order.
    detached: true,
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      lines.push(...text.split('\n').filter((line) => line !== ''))
      lines.splice(0, Math.max(0, lines.length - KEPT_LINES))
    })
  }
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  const { pid } = child
  if (pid === undefined) throw new Error('`ledger up` could not be started')
  return {
    pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    lastLines: () => lines.join('\n'),
    stop: async () => {
      const descendants = clusterProcesses(pid)
      child.kill('SIGTERM')
      const late = setTimeout(() => {
        for (const left of [...descendants, ...clusterProcesses(pid)]) tryKill(left.pid)
      }, STOP_LIMIT_MS)
      await exited
      clearTimeout(late)
    },
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
