/**
 * A file that a command makes.
 *   N1. Under its name it is whole and on the disk, or it is not there; until then it has another, `.unfinished-…`.
 *   N2. What stands under its name is never replaced.
 *   N3. It is begun before anything is asked of a ledger: what cannot be written is known before anything was done for it.
 */
import { existsSync } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CommandFailed, type CommandIo } from './command.ts'

export interface NewFile {
  /** Where it is until it is finished. */
  readonly unfinished: string
  /** Throws FileUnwritable, as all of these do. */
  readonly write: (bytes: string | Uint8Array) => Promise<void>
  /** Gives it its name (N1). */
  readonly finish: () => Promise<void>
}

/** The message names the file and says why. */
export class FileUnwritable extends CommandFailed {}

/** `name`: as it was given, for messages too. What is not finished when `work` ends is removed. Throws FileUnwritable. */
export async function withNewFile<T>(name: string, io: CommandIo, work: (file: NewFile) => Promise<T>): Promise<T> {
  const path = resolve(io.cwd, name)
  const unfinished = `${path}.unfinished-${process.pid}`
  const attempt = async <R>(step: () => Promise<R>): Promise<R> => {
    try {
      return await step()
    } catch (cause) {
      throw new FileUnwritable(`${name} ${whyNot(cause, path)}`, { cause })
    }
  }
  // Seen now, and not only when the name is given to what took an hour to write.
  if (existsSync(path)) throw new FileUnwritable(`${name} is there already`)
  const handle = await attempt(() => open(unfinished, 'wx', 0o600))
  try {
    return await work({
      unfinished,
      write: (bytes) => attempt(() => handle.writeFile(bytes)),
      finish: () =>
        attempt(async () => {
          await handle.sync()
          await link(unfinished, path)
        }),
    })
  } finally {
    await handle.close()
    await rm(unfinished, { force: true })
  }
}

function whyNot(cause: unknown, path: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'EEXIST':
      return 'is there already'
    case 'ENOENT':
      return `cannot be written: there is no directory ${dirname(path)}`
    case 'ENOTDIR':
      return `cannot be written: ${dirname(path)} is no directory`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `cannot be written: ${dirname(path)} may not be written to`
    case 'ENOSPC':
    case 'EDQUOT':
      return 'cannot be written: there is no room left'
    default:
      return `cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}
