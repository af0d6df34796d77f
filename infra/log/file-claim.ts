/**
 * Keeps a second process of this machine from a file. The claim is a file beside it, with the process that has it. A process
 * that died has no claim.
 */
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { identityOf, isAlive, type ProcessIdentity } from '../embedded/process-table.ts'
import { readPrivateFile } from '../system/private-file.ts'

/** The message names the file and the process. */
export class FileInUse extends Error {
  override readonly name = 'FileInUse'
}

/** Returns the end of the claim. Throws FileInUse. */
export function claimFile(path: string): () => void {
  const claim = `${path}.lock`
  const holder = holderIn(claim)
  if (holder !== undefined && isAlive(holder)) throw new FileInUse(`${path} is in use by the process ${holder.pid}`)
  if (holder !== undefined) rmSync(claim, { force: true })
  const file = create(path, claim)
  try {
    writeFileSync(file, JSON.stringify(identityOf(process.pid) ?? { pid: process.pid, startTicks: '' }))
  } finally {
    closeSync(file)
  }
  return () => rmSync(claim, { force: true })
}

function create(path: string, claim: string): number {
  try {
    return openSync(claim, 'wx', 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      throw new FileInUse(`${path} is in use by another process that has just begun, or ${claim} is damaged`, {
        cause: error,
      })
    }
    throw error
  }
}

/** Undefined: there is no claim, or an unreadable one. */
function holderIn(claim: string): ProcessIdentity | undefined {
  try {
    const { pid, startTicks } = JSON.parse(readPrivateFile(claim) ?? '{}') as Partial<ProcessIdentity>
    return pid === undefined || startTicks === undefined ? undefined : { pid, startTicks }
  } catch {
    return undefined
  }
}
