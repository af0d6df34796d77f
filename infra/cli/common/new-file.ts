/**
 * A file that a command creates.
 *   N1. A file with the given name is complete and synced to disk. Until then the file is called `.unfinished-PID`.
 *   N2. An existing file is never replaced.
 *   N3. The file is created before the command sends a request, so that an unwritable path costs nothing.
 */
import { existsSync } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CommandFailed, type CommandIo } from './command.ts'

export interface NewFile {
  /** The path until `finish`. */
  readonly unfinished: string
  /** Throws FileUnwritable. */
  readonly write: (bytes: string | Uint8Array) => Promise<void>
  /** Gives the file its name (N1). Throws FileUnwritable. */
  readonly finish: () => Promise<void>
}

/** The message names the file and the reason. */
export class FileUnwritable extends CommandFailed {}

/** Removes the file if `work` ends before `finish`. Throws FileUnwritable. `name`: as the user gave it. */
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
  // `finish` would also find it, but perhaps an hour later.
  if (existsSync(path)) throw new FileUnwritable(`${name} already exists`)
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
      return 'already exists'
    case 'ENOENT':
      return `cannot be written: there is no directory ${dirname(path)}`
    case 'ENOTDIR':
      return `cannot be written: ${dirname(path)} is not a directory`
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `cannot be written: ${dirname(path)} is not writable`
    case 'ENOSPC':
    case 'EDQUOT':
      return 'cannot be written: the disk is full'
    default:
      return `cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`
  }
}
