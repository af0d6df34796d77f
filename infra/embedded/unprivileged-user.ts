/**
 * PostgreSQL refuses to run as root, for good reason. Under root it runs as an unprivileged user, who must be able to
 * reach its programs and its data.
 */
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

/** Whom PostgreSQL is to run as; undefined: as the user who runs this. */
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

/** PostgreSQL's initdb looks the user up; in a container the user may be a mere number. */
function refuseNameless(): void {
  try {
    userInfo()
  } catch (cause) {
    throw new Error(
      `PostgreSQL must be run by a user with a name, and user ${process.getuid?.() ?? ''} has none on this system: run as another, or set LEDGER_DATABASE_URL`,
      { cause },
    )
  }
}

/** Whether the user may go into the directory; asked of the system, which knows about more than mode bits. */
export function canEnter(user: User | undefined, directory: string): boolean {
  return succeeds(user, '/bin/sh', ['-c', 'cd "$1"', 'sh', directory])
}

/** Whether the user can run the program there. */
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
