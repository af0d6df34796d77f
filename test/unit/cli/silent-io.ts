import type { CommandIo } from '../../../infra/cli/common/command.ts'

/** The input and output of a command that reads and prints nothing. */
export function silentIo(parts: Partial<CommandIo> = {}): CommandIo {
  return {
    env: {},
    cwd: '/',
    readInput: () => Promise.reject(new Error('nothing is read')),
    readHidden: () => Promise.reject(new Error('nothing is read')),
    terminal: { input: false, output: false, error: false },
    out: () => undefined,
    err: () => undefined,
    stopSignal: () => new AbortController().signal,
    ...parts,
  }
}
