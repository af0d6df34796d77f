/** The user's directory for profiles and keys of accounts. */
import { mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { CommandFailed, type CommandIo } from '../common/command.ts'

const OTHERS = 0o077
const OTHERS_WRITE = 0o022
const PERMISSIONS = 0o777

/** `ledger` in XDG_CONFIG_HOME, by default in ~/.config (XDG Base Directory Specification 0.8). It may be missing. */
export function configDirectory({ env }: CommandIo): string {
  const { XDG_CONFIG_HOME: given, HOME: home } = env
  // The specification lets programs ignore relative paths.
  if (given !== undefined && isAbsolute(given)) return join(given, 'ledger')
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), '.config', 'ledger')
}

/** Makes the directory and missing parents, readable by the user only. */
export function makeUserDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
}

/** Throws CommandFailed if others can read the file, or replace it. A missing file passes. */
export function refuseSharedFile(path: string, what: string): void {
  const mode = modeOf(path)
  if (mode !== undefined && (mode & OTHERS) !== 0) {
    throw new CommandFailed(
      `${what} ${path} can be used by others (mode ${mode.toString(8)}): run chmod 600 ${path}, and replace the secret if others had access`,
    )
  }
}

/** Throws CommandFailed if others can put files into the directory. */
export function refuseSharedDirectory(path: string): void {
  const mode = modeOf(path)
  if (mode !== undefined && (mode & OTHERS_WRITE) !== 0) {
    throw new CommandFailed(`others can write to ${path} (mode ${mode.toString(8)}): run chmod 700 ${path}`)
  }
}

function modeOf(path: string): number | undefined {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  return mode === undefined ? undefined : mode & PERMISSIONS
}
