/**
 * Keeps a second process of this machine from a file. A claim is an empty file beside it with the name of its process. It
 * precedes the look at the other claims: of two processes that begin at a time, one goes on at most. A process that died has
 * no claim.
 */
import { closeSync, openSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import * as processTable from '../embedded/process-table.ts'
import type { ProcessIdentity } from '../embedded/process-table.ts'

/** The message names the file and the process. */
export class FileInUse extends Error {
  override readonly name = 'FileInUse'

  constructor(path: string, { pid }: ProcessIdentity) {
    super(`${path} is in use by the process ${pid}`)
  }
}

const CLAIM = /^(?<pid>[0-9]+)-(?<startTicks>[0-9]*)$/

/** `processes`: of this machine. Returns the end of the claim. Throws FileInUse. */
export function claimFile(
  path: string,
  { identityOf, isAlive }: Pick<typeof processTable, 'identityOf' | 'isAlive'> = processTable,
): () => void {
  const own = identityOf(process.pid) ?? { pid: process.pid, startTicks: '' }
  const claim = claimOf(path, own)
  create(path, own)
  const end = (): void => rmSync(claim, { force: true })
  const others = holdersOf(path).filter((holder) => claimOf(path, holder) !== claim)
  const living = others.find(isAlive)
  if (living !== undefined) {
    end()
    throw new FileInUse(path, living)
  }
  for (const dead of others) rmSync(claimOf(path, dead), { force: true })
  return end
}

function claimOf(path: string, { pid, startTicks }: ProcessIdentity): string {
  return `${path}.lock.${pid}-${startTicks}`
}

function create(path: string, own: ProcessIdentity): void {
  try {
    closeSync(openSync(claimOf(path, own), 'wx', 0o600))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw new FileInUse(path, own)
    throw error
  }
}

function holdersOf(path: string): readonly ProcessIdentity[] {
  const beginning = `${basename(path)}.lock.`
  return readdirSync(dirname(path)).flatMap((name) => {
    const found = name.startsWith(beginning) ? CLAIM.exec(name.slice(beginning.length))?.groups : undefined
    return found === undefined ? [] : [{ pid: Number(found['pid']), startTicks: found['startTicks'] ?? '' }]
  })
}
