/**
 * The one file of a monitor: the last head of the log that was verified as a whole, and the entries of accounts that were
 * found in it.
 *   S1. It is replaced as a whole, and synced to disk.
 *   S2. A file that cannot be read is never written anew: a monitor that forgot what it saw would accept another history.
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { type LogHead, parseCheckpoint } from '../../../api/client/log/checkpoint.ts'
import { parseNote } from '../../../api/client/log/signed-note.ts'
import { EMPTY_TREE, HASH_BYTES, rootOf, TILE_WIDTH, type TreeEdge, widthOf } from '../../../runtime/log/tree.ts'
import { readPrivateFile, replacePrivateFile } from '../../system/private-file.ts'
import { ENTRY_BYTES } from '../log-entry.ts'
import type { FoundEntry, WatchedAccount } from './account-tags.ts'

/** The message says why the file cannot be used. */
export class MonitorFileUnusable extends Error {
  override readonly name = 'MonitorFileUnusable'
}

export interface VerifiedHead extends LogHead {
  /** The signed note. */
  readonly note: string
}

export interface MonitorState {
  /** The last head that was verified with all entries below it; undefined before the first. */
  readonly verified: VerifiedHead | undefined
  /** All entries below its size were read. More than in the verified head, or fewer, while a run is incomplete. */
  readonly edge: TreeEdge
  /** Entries that were searched ahead of the known ones. */
  readonly ahead: number
  /** Entries of each watched account in the places below the edge. */
  readonly found: ReadonlyMap<WatchedAccount, readonly FoundEntry[]>
}

export interface MonitorStore {
  /** `accounts`: that are watched now. Undefined for those that the file does not have. */
  readonly load: (accounts: readonly WatchedAccount[]) => MonitorState | undefined
  readonly save: (state: MonitorState) => void
}

const FORMAT = 1
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const bytes = (least: number) =>
  v.pipe(
    v.string(),
    v.base64(),
    v.transform((text) => Buffer.from(text, 'base64')),
    v.check((buffer) => buffer.length % least === 0),
  )
const schema = v.strictObject({
  format: v.literal(FORMAT),
  verified: v.nullable(v.string()),
  size: count,
  levels: v.array(v.union([v.literal(''), bytes(HASH_BYTES)])),
  ahead: count,
  accounts: v.array(
    v.strictObject({ key_hash: v.string(), found: v.array(v.tuple([count, count, bytes(ENTRY_BYTES)])) }),
  ),
})

/** Throws MonitorFileUnusable when it is used (S2). */
export function createMonitorFile(path: string): MonitorStore {
  return {
    load: (accounts) => {
      const text = readText(path)
      if (text === undefined) return undefined
      try {
        return stateOf(v.parse(schema, JSON.parse(text)), accounts)
      } catch (cause) {
        throw new MonitorFileUnusable(`${path} is not the file of a monitor, or is damaged`, { cause })
      }
    },
    save: (state) => {
      try {
        replacePrivateFile(path, `${JSON.stringify(contentOf(state))}\n`)
      } catch (cause) {
        throw new MonitorFileUnusable(`${path} cannot be written: ${reasonOf(cause)}`, { cause })
      }
    },
  }
}

function readText(path: string): string | undefined {
  try {
    return readPrivateFile(path)
  } catch (cause) {
    throw new MonitorFileUnusable(`${path} cannot be read: ${reasonOf(cause)}`, { cause })
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

function stateOf(content: v.InferOutput<typeof schema>, accounts: readonly WatchedAccount[]): MonitorState {
  const { verified, size, levels, ahead } = content
  const edge = { size, levels: levels.map((level) => (level === '' ? Buffer.alloc(0) : level)) }
  const isWhole = levels.every((level, at) => level.length === (widthOf(at, size) % TILE_WIDTH) * HASH_BYTES)
  if (!isWhole || widthOf(levels.length, size) > 0) throw new RangeError('the tree is not one of its size')
  const head = verified === null ? undefined : headOf(verified)
  if (head?.size === size && !rootOf(edge).equals(head.root))
    throw new RangeError('the tree does not have the root of the head')
  const found = new Map<WatchedAccount, readonly FoundEntry[]>()
  for (const account of accounts) {
    const known = content.accounts.find(({ key_hash: keyHash }) => keyHash === keyHashOf(account))
    // One that was not watched: its entries must be searched from the beginning.
    if (known === undefined) return { verified: head, edge: EMPTY_TREE, ahead, found: new Map() }
    found.set(
      account,
      known.found.map(([sequence, place, entry]) => ({ sequence, place, entry })),
    )
  }
  return { verified: head, edge, ahead, found }
}

function headOf(note: string): VerifiedHead {
  const head = parseCheckpoint(parseNote(note)?.text ?? '')
  if (head === undefined) throw new RangeError('the head is malformed')
  return { ...head, note }
}

function contentOf({ verified, edge, ahead, found }: MonitorState): v.InferInput<typeof schema> {
  return {
    format: FORMAT,
    verified: verified?.note ?? null,
    size: edge.size,
    levels: edge.levels.map((level) => level.toString('base64')),
    ahead,
    accounts: [...found].map(([account, entries]) => ({
      key_hash: keyHashOf(account),
      found: entries.map(({ sequence, place, entry }) => [sequence, place, entry.toString('base64')]),
    })),
  }
}

/** The file does not have the keys. */
function keyHashOf({ accountId, key }: WatchedAccount): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${accountId}\0`), key]))
}
