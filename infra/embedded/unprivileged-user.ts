/** PostgreSQL refuses to run as root. A launcher that is root runs it as an unprivileged user. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

export interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** In order of preference. */
const NAMES = ['postgres', 'nobody']

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** The user for PostgreSQL; undefined: the launcher's user. */
export function unprivilegedUser(): User | undefined {
  if (!isRoot()) {
    refuseNameless()
    return undefined
  }
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name: name ?? '', uid: Number(uid), gid: Number(gid) }))
  for (const name of NAMES) {
    const user = users.find((candidate) => candidate.name === name && candidate.uid > 0 && candidate.gid > 0)
    if (user !== undefined) return user
  }
  throw new Error(
    `PostgreSQL cannot run as root and there is no user ${NAMES.join(' or ')} to run it as: create one, run as an ordinary user, or set LEDGER_DATABASE_URL`,
  )
}

/** initdb looks the user up, and a container's user may have no name. */
function refuseNameless(): void {
  try {
    userInfo()
  } catch (cause) {
    throw new Error(
      `PostgreSQL needs a user with a name, and user ${process.getuid?.() ?? ''} has none on this system: run as another user, or set LEDGER_DATABASE_URL`,
      { cause },
    )
  }
}

/** Asks the system, because mode bits alone do not decide. */
export function canEnter(user: User | undefined, directory: string): boolean {
  return succeeds(user, '/bin/sh', ['-c', 'cd "$1"', 'sh', directory])
}

export function canRun(user: User | undefined, program: string, args: readonly string[]): boolean {
  return succeeds(user, program, args)
}

function succeeds(user: User | undefined, program: string, args: readonly string[]): boolean {
  const result = spawnSync(program, args, {
    cwd: '/',
    stdio: 'ignore',
    timeout: 20_000,
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  })
  return result.status === 0
}
