/** Runs the system's package manager: as root where it must, with the proxy settings of this process. */
import { findProgram } from './programs.ts'
import { runToEnd } from './server-process.ts'
import { isRoot } from './unprivileged-user.ts'

/** The prefix that runs a command as root; undefined if that needs a password. */
export function rootPrefix(): readonly string[] | undefined {
  if (isRoot()) return []
  return findProgram('sudo') === undefined ? undefined : ['sudo', '-n']
}

export function prefixed(
  prefix: readonly string[],
  program: string,
  args: readonly string[],
): [program: string, args: readonly string[]] {
  const [first, ...rest] = [...prefix, program, ...args]
  return [first ?? program, rest]
}

/** Throws with the last lines of the program's output if it fails. */
export function runPackageManager(
  program: string,
  args: readonly string[],
  cwd: string,
  log: (line: string) => void,
): Promise<void> {
  return runToEnd({
    program: findProgram(program) ?? program,
    args,
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: process.env['HOME'] ?? '/',
      DEBIAN_FRONTEND: 'noninteractive',
      ...proxySettings(),
    },
    user: undefined,
    log,
  })
}

function proxySettings(): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
    const value = process.env[name]
    if (value !== undefined) settings[name] = value
  }
  return settings
}
