/**
 * A server that runs beside the ledger as a process of its own.
 *   E1. It is in a session of its own: Ctrl-C in a terminal reaches the launcher only, which stops things in order.
 *   E2. Its end is always seen: `exited` settles once, whoever ended it.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

export interface EmbeddedServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly exited: Promise<ServerExit>
  /** Ends the server in order and resolves when it is gone. May be called more than once. */
  readonly stop: () => Promise<void>
  /** Ends it at once. What it had made durable stays so. */
  readonly kill: () => void
}

export interface ServerExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ServerCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Whom to run as; undefined: as the launcher itself. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  readonly log: (line: string) => void
}

export interface ServerProcess {
  readonly pid: number
  readonly exited: Promise<ServerExit>
  readonly running: () => boolean
  /** The last lines it wrote, oldest first. */
  readonly lastLines: () => readonly string[]
  readonly signal: (signal: NodeJS.Signals) => void
}

/** How many of the last lines are kept to explain a start that failed. */
const KEPT_LINES = 30

/** Rejects when the program cannot be started at all. */
export async function spawnServer(command: ServerCommand): Promise<ServerProcess> {
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    env: { ...command.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...(command.user === undefined ? {} : { uid: command.user.uid, gid: command.user.gid }),
  })
  const lines: string[] = []
  const keep = (line: string): void => {
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    command.log(line)
  }
  eachLine(child.stdout, keep)
  eachLine(child.stderr, keep)
  let running = true
  const exited = new Promise<ServerExit>((resolve) => {
    child.once('close', (code, signal) => {
      running = false
      resolve({ code, signal })
    })
  })
  const pid = await spawned(child, command.program)
  return {
    pid,
    exited,
    running: () => running,
    lastLines: () => lines,
    signal: (signal) => {
      if (running) child.kill(signal)
    },
  }
}

function eachLine(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine)
}

function spawned(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(new Error(`${program} cannot be started: ${error.message}`, { cause: error }))
    })
    child.once('spawn', () => {
      if (child.pid !== undefined) resolve(child.pid)
    })
  })
}

/** One signal after the other until the process is gone: [signal, how long to wait after it]. */
export async function stopByStages(
  server: ServerProcess,
  stages: readonly (readonly [NodeJS.Signals, number])[],
): Promise<void> {
  for (const [signal, waitMs] of stages) {
    server.signal(signal)
    if (await endsWithin(server.exited, waitMs)) return
  }
  await server.exited
}

async function endsWithin(exited: Promise<ServerExit>, waitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs)
  })
  const ended = await Promise.race([exited.then(() => true as const), late])
  clearTimeout(timer)
  return ended
}

/** Asks again and again until the answer is true; false when the time is over. */
export async function pollUntil(condition: () => boolean, timeoutMs: number, everyMs = 50): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() >= deadline) return false
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  return true
}
