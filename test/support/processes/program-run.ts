/** Runs a compiled program to its end, as a process of its own. */
import { execFile } from 'node:child_process'
import { constants, setPriority } from 'node:os'

export interface ProgramRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

export interface ProgramOptions {
  readonly timeoutMs: number
  readonly environment?: Readonly<Record<string, string>>
  /** It takes what processors have left: for what has no deadlines, beside what has. */
  readonly givesWay?: boolean
}

const LARGEST_OUTPUT_BYTES = 64 * 1_048_576

/** Rejects if it does not end by itself. */
export function runProgram(
  path: string,
  args: readonly string[],
  { timeoutMs, environment = {}, givesWay = false }: ProgramOptions,
): Promise<ProgramRun> {
  const options = { timeout: timeoutMs, maxBuffer: LARGEST_OUTPUT_BYTES, env: { ...process.env, ...environment } }
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [path, ...args], options, (error, stdout, stderr) => {
      if (child.exitCode === null) reject(error ?? new Error(`${path} was ended by ${child.signalCode}`))
      else resolve({ stdout, stderr, exitCode: child.exitCode })
    })
    // Threads that it begins later are as it is by then.
    if (givesWay && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  })
}
