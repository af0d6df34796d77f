/**
 * Allows one launcher per data directory.
 *   K1. A lock of a living holder is never taken, and a lock of a dead holder never blocks a start.
 * The lock names its holder by pid and start time, because pids are reused.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { identityOf, isAlive, type ProcessIdentity } from '../embedded/process-table.ts'

const holderSchema = v.object({ pid: v.number(), startTicks: v.string() })
const TRIES = 20

/** Returns a function that releases the lock. Throws if a living launcher holds it. */
export function takeLauncherLock(dataDir: string): () => void {
  const path = join(dataDir, 'launcher.lock')
  const own = JSON.stringify(identityOf(process.pid))
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, own, { mode: 0o600 })
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (linked(draft, path)) return () => rmSync(path, { force: true })
      const holder = holderOf(path)
      if (holder !== undefined && isAlive(holder)) {
        throw new Error(
          `a ledger runs on ${dataDir} already (process ${holder.pid}): stop it, or set LEDGER_DATA_DIR to another directory`,
        )
      }
      removeStale(path)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  throw new Error(`${path} cannot be taken: remove it if no ledger runs on this directory`)
}

/** Links are atomic, so a lock always names its holder. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function holderOf(path: string): ProcessIdentity | undefined {
  try {
    const read = v.safeParse(holderSchema, JSON.parse(readFileSync(path, 'utf8')))
    return read.success ? read.output : undefined
  } catch {
    return undefined
  }
}

/** Moves the file away first: by now it may be the lock of a new holder, which is then restored. */
function removeStale(path: string): void {
  const moved = `${path}.stale.${process.pid}`
  try {
    renameSync(path, moved)
  } catch {
    return
  }
  const holder = holderOf(moved)
  if (holder !== undefined && isAlive(holder)) linked(moved, path)
  rmSync(moved, { force: true })
}
