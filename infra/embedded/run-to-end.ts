import { spawnServer, type ServerCommand } from './server-process.ts'

/** Runs a program until it ends. Throws with its last lines when it fails. */
export async function runToEnd(command: ServerCommand): Promise<void> {
  const run = await spawnServer(command)
  const { code, signal } = await run.exited
  if (code === 0) return
  throw new Error(`${command.program} failed (${code ?? signal ?? 'unknown'}):\n${run.lastLines().join('\n')}`)
}
