/**
 * Reads a log of C2SP over HTTP. https://c2sp.org/tlog-tiles
 *   L1. The log is not trusted: a reply has a bounded length, and its bytes are compared with a signed head by the caller.
 *   L2. A log that does not respond, and one that responds without a part of its tree, are different failures.
 */
import { request } from 'undici'
import { HASH_BYTES, TILE_WIDTH } from '../../../runtime/log/tree.ts'
import { type TileAddress, tilePath } from '../../../runtime/log/tile-paths.ts'
import { ENTRY_BYTES } from '../log-entry.ts'

/** There was no reply, or none that says anything about the log. */
export class LogUnreachable extends Error {
  override readonly name = 'LogUnreachable'
}

/** The log responds, and lacks a part of the tree that its signed head has, or has other bytes in its place. */
export class LogIncomplete extends Error {
  override readonly name = 'LogIncomplete'
}

export interface LogReader {
  /** The signed head that the log shows. */
  readonly checkpoint: () => Promise<string>
  /** The first `width` hashes of a tile. */
  readonly hashes: (level: number, number: number, width: number) => Promise<Buffer>
  /** The first `width` entries of a tile, 48 bytes each. */
  readonly entries: (number: number, width: number) => Promise<Buffer>
}

export interface LogReply {
  readonly status: number
  readonly body: Buffer
}

/** `path`: under the address of the log. Throws LogUnreachable. */
export type GetFromLog = (path: string, maxBytes: number) => Promise<LogReply>

const TIMEOUT_MS = 30_000
const MAX_CHECKPOINT_BYTES = 65_536
const LENGTH_BYTES = 2
const [OK, NOT_FOUND, GONE] = [200, 404, 410]

/** `url`: of the log, or of a witness. */
export function getOver(url: string): GetFromLog {
  const base = url.replace(/\/+$/, '')
  return async (path, maxBytes) => {
    try {
      const reply = await request(`${base}/${path}`, {
        headers: { 'user-agent': 'ledger-monitor' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of reply.body as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > maxBytes) return { status: reply.statusCode, body: Buffer.alloc(0) }
        chunks.push(chunk)
      }
      return { status: reply.statusCode, body: Buffer.concat(chunks) }
    } catch (cause) {
      throw new LogUnreachable(`${base} does not respond`, { cause })
    }
  }
}

/** `address`: of the log, for messages. */
export function createLogReader(get: GetFromLog, address = 'the log'): LogReader {
  /** Logs may delete an incomplete tile once the complete one exists. */
  async function tile(address: TileAddress, bytesPerItem: number): Promise<Buffer> {
    const found = await get(`tile/${tilePath(address)}`, TILE_WIDTH * bytesPerItem)
    if (!isMissing(found) || address.width === TILE_WIDTH) return bodyOf(found, address)
    const complete = { ...address, width: TILE_WIDTH }
    return bodyOf(await get(`tile/${tilePath(complete)}`, TILE_WIDTH * bytesPerItem), complete)
  }

  return {
    checkpoint: async () => {
      const { status, body } = await get('checkpoint', MAX_CHECKPOINT_BYTES)
      if (status !== OK) throw new LogUnreachable(`${address} shows no head at /checkpoint (status ${status})`)
      return body.toString('utf8')
    },
    hashes: async (level, number, width) => {
      const body = await tile({ level, number, width }, HASH_BYTES)
      if (body.length < width * HASH_BYTES) throw tooShort({ level, number, width })
      return body.subarray(0, width * HASH_BYTES)
    },
    entries: async (number, width) => {
      const address = { level: 'entries', number, width } as const
      return entriesIn(await tile(address, LENGTH_BYTES + ENTRY_BYTES), address)
    },
  }
}

function isMissing({ status }: LogReply): boolean {
  return status === NOT_FOUND || status === GONE
}

function bodyOf(reply: LogReply, address: TileAddress): Buffer {
  if (isMissing(reply)) throw new LogIncomplete(`the log does not show its tile ${tilePath(address)}`)
  if (reply.status !== OK) throw new LogUnreachable(`the log did not send a tile (status ${reply.status})`)
  return reply.body
}

function entriesIn(bundle: Buffer, address: TileAddress): Buffer {
  const step = LENGTH_BYTES + ENTRY_BYTES
  if (bundle.length < address.width * step) throw tooShort(address)
  const entries = Buffer.alloc(address.width * ENTRY_BYTES)
  for (let index = 0; index < address.width; index += 1) {
    const at = index * step
    if (bundle.readUInt16BE(at) !== ENTRY_BYTES) {
      const place = address.number * TILE_WIDTH + index
      throw new LogIncomplete(`the entry in place ${place} does not have ${ENTRY_BYTES} bytes`)
    }
    bundle.copy(entries, index * ENTRY_BYTES, at + LENGTH_BYTES, at + step)
  }
  return entries
}

function tooShort(address: TileAddress): LogIncomplete {
  return new LogIncomplete(`the tile ${tilePath(address)} is too short`)
}
