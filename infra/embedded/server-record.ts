/**
 * The record of an embedded server in its directory: port, password, place of the data, and launcher.
 *   R1. The file holds a password: only its owner can read it. It is replaced atomically.
 *   R2. Only one launcher runs a server, and no other touches it while that launcher is alive.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import * as v from 'valibot'
import { readPrivateFile, replacePrivateFile } from '../system/private-file.ts'
import { identityOf, isAlive } from './process-table.ts'

const FILE = 'server.json'

const recordSchema = v.object({
  port: v.nullable(v.number()),
  password: v.string(),
  /** The place of the data, which may be outside the directory. */
  place: v.string(),
  /** True after data was created: missing data is then an error, and is never created again. */
  made: v.optional(v.boolean(), false),
  launcher: v.nullable(v.object({ pid: v.number(), startTicks: v.string() })),
})

export type ServerRecord = v.InferOutput<typeof recordSchema>

/** undefined: no record. Throws for a damaged record: a new one would start an empty server beside the data. */
export function readRecord(directory: string): ServerRecord | undefined {
  const path = join(directory, FILE)
  const text = readPrivateFile(path)
  if (text === undefined) return undefined
  try {
    return v.parse(recordSchema, JSON.parse(text))
  } catch (cause) {
    throw new Error(`${path} is damaged: restore it from a copy (port, password, place and launcher, as JSON)`, {
      cause,
    })
  }
}

export function writeRecord(directory: string, record: ServerRecord): void {
  replacePrivateFile(join(directory, FILE), `${JSON.stringify(record)}\n`)
}

/** The record of a server with a port and a living launcher. */
export function runningRecord(directory: string): (ServerRecord & { readonly port: number }) | undefined {
  const record = readRecord(directory)
  if (record === undefined || record.port === null || record.launcher === null) return undefined
  return isAlive(record.launcher) ? { ...record, port: record.port } : undefined
}

/** Directories of the servers that this process runs. */
const running = new Set<string>()

/** Throws if a living launcher, even this process, runs the server. */
export function refuseSecondLauncher(directory: string, record: ServerRecord | undefined): void {
  const launcher = record?.launcher ?? null
  if (launcher === null || !isAlive(launcher)) return
  // This process may restart a server that has ended.
  if (launcher.pid === process.pid && !running.has(directory)) return
  throw new Error(`${directory} is in use by the running process ${launcher.pid}`)
}

/** Prevents a second server on the directory until this one has ended. */
export function markRunning(directory: string, exited: Promise<unknown>): void {
  running.add(directory)
  void exited.finally(() => running.delete(directory))
}

export function thisLauncher(): ServerRecord['launcher'] {
  return identityOf(process.pid) ?? null
}

/** 256 bits, in characters that need no escape in a URL. */
export function newPassword(): string {
  return randomBytes(32).toString('base64url')
}
