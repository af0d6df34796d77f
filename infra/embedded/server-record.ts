/**
 * What is remembered of an embedded server in its directory: port, password, where its data is, and who runs it.
 *   R1. The file is readable by its owner only (it holds a password) and is replaced whole, never half written.
 *   R2. One launcher at a time: a server whose launcher lives is never touched by another.
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
  /** Where the data is; it may have to be outside the directory. */
  place: v.string(),
  /** Whether data was made there: if it is gone then, nothing may be made in its stead. */
  made: v.optional(v.boolean(), false),
  launcher: v.nullable(v.object({ pid: v.number(), startTicks: v.string() })),
})

export type ServerRecord = v.InferOutput<typeof recordSchema>

/** Undefined when there is none. Throws when it is damaged: guessing would start an empty server beside the data. */
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

/** The record of a server whose launcher lives and that has a port; undefined when there is none. */
export function runningRecord(directory: string): (ServerRecord & { readonly port: number }) | undefined {
  const record = readRecord(directory)
  if (record === undefined || record.port === null || record.launcher === null) return undefined
  return isAlive(record.launcher) ? { ...record, port: record.port } : undefined
}

/** Directories whose server this process runs. */
const running = new Set<string>()

/** Throws when a living launcher, be it this process, runs the server. */
export function refuseSecondLauncher(directory: string, record: ServerRecord | undefined): void {
  const launcher = record?.launcher ?? null
  if (launcher === null || !isAlive(launcher)) return
  // This process may start a server again that has died.
  if (launcher.pid === process.pid && !running.has(directory)) return
  throw new Error(`${directory} is in use by the running process ${launcher.pid}`)
}

/** From now until the server has ended nobody else, this process included, starts one on the directory. */
export function noteRunning(directory: string, exited: Promise<unknown>): void {
  running.add(directory)
  void exited.finally(() => running.delete(directory))
}

export function thisLauncher(): ServerRecord['launcher'] {
  return identityOf(process.pid) ?? null
}

/** 256 bits, in characters that need no escaping in a URL. */
export function newPassword(): string {
  return randomBytes(32).toString('base64url')
}
