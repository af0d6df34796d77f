/**
 * Starts and stops server processes beside the ledger.
 *   E1. A server has its own session: Ctrl-C in a terminal reaches the launcher only, which stops the parts in order.
 *   E2. `exited` always settles, however the process ends.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

export interface EmbeddedServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly exited: Promise<ServerExit>
  /** Stops the server in order, and resolves when it has ended. May be called more than once. */
  readonly stop: () => Promise<void>
  /** Ends the server at once. Durable data stays. */
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
  /** The user of the process; undefined: the launcher's user. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  /** Written to its standard input, which is closed otherwise. */
  readonly input?: string
  /** Opens a channel, by which the child notices the end of this process. */
  readonly ipc?: boolean
  readonly log: (line: string) => void
}

export interface ServerProcess {
  readonly pid: number
  readonly exited: Promise<ServerExit>
  readonly running: () => boolean
  /** The last lines of its output, oldest first. */
  readonly lastLines: () => readonly string[]
  readonly signal: (signal: NodeJS.Signals) => void
}

/** Lines of output that explain a failed start. */
const KEPT_LINES = 30

/** Runs a program until it ends. Throws with its last lines if it fails. */
export async function runToEnd(command: ServerCommand): Promise<void> {
  const run = await spawnServer(command)
  const { code, signal } = await run.exited
  if (code === 0) return
  throw new Error(`${command.program} failed (${code ?? signal ?? 'unknown'}):\n${run.lastLines().join('\n')}`)
}

/** Rejects if the program cannot be started. */
export async function spawnServer(command: ServerCommand): Promise<ServerProcess> {
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    env: { ...command.env },
    stdio: [
      command.input === undefined ? 'ignore' : 'pipe',
      'pipe',
      'pipe',
      ...(command.ipc === true ? ['ipc' as const] : []),
    ],
    detached: true,
    ...(command.user === undefined ? {} : { uid: command.user.uid, gid: command.user.gid }),
  })
  // A child that ends before it reads its input is reported by its exit.
  child.stdin?.on('error', () => undefined).end(command.input)
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

function eachLine(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream === null) return
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

/** Sends the signals in order until the process has ended. Returns false if the first did not suffice. */
export async function stopByStages(
  server: ServerProcess,
  stages: readonly (readonly [signal: NodeJS.Signals, waitMs: number])[],
): Promise<boolean> {
  for (const [index, [signal, waitMs]] of stages.entries()) {
    server.signal(signal)
    if (await endsWithin(server.exited, waitMs)) return index === 0
  }
  await server.exited
  return false
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

/** Polls until the condition is true. False after the timeout. */
export async function pollUntil(condition: () => boolean, timeoutMs: number, everyMs = 50): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() >= deadline) return false
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  return true
}
