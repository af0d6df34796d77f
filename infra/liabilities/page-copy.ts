/**
 * Writes pages with COPY, about two megabytes per transaction. One batch is written while the next one is made.
 */
import { finished } from 'node:stream/promises'
import { type Connection, withDeadline } from '../postgres/connection/connection.ts'
import { PAGE_KINDS, sealPage } from './liability-pages.ts'
import type { PageSink } from './liability-trees.ts'

export interface PageCopy extends PageSink {
  /** Resolves when all pages are stored. */
  readonly end: () => Promise<void>
  readonly sizeBytes: () => number
}

const COPY_BYTES = 2_097_152
/** The driver does not report a COPY that fails after all data was sent: only this timeout ends the wait. */
const COPY_TIMEOUT_MS = 5_000

/** PostgreSQL documentation, COPY, binary format: signature, flags, and the length of an empty extension. */
const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
const TRAILER = Buffer.from([0xff, 0xff])
const FIELDS = 4
const ROW_HEAD_BYTES = 2 + (4 + 8) + (4 + 2) + (4 + 4) + 4

export function createPageCopy(connection: Connection, runId: string, sealingKey: Buffer): PageCopy {
  let rows: Uint8Array[] = [HEADER]
  let waiting = 0
  let total = 0
  let copying: Promise<void> = Promise.resolve()

  async function copy(): Promise<void> {
    await copying
    const batch = Buffer.concat([...rows, TRAILER])
    rows = [HEADER]
    total += waiting
    waiting = 0
    copying = withDeadline(copyBatch(connection, batch), COPY_TIMEOUT_MS, connection.destroy)
    // The next await reports the error; until then it must not count as unhandled.
    copying.catch(() => undefined)
  }

  return {
    add: (kind, number, page) => {
      const sealed = sealPage(sealingKey, runId, kind, number, page)
      rows.push(rowHead(runId, PAGE_KINDS[kind], number, sealed.length), sealed)
      waiting += ROW_HEAD_BYTES + sealed.length
    },
    ready: async () => {
      if (waiting >= COPY_BYTES) await copy()
    },
    end: async () => {
      if (waiting > 0) await copy()
      await copying
    },
    sizeBytes: () => total + waiting,
  }
}

async function copyBatch({ sql }: Connection, batch: Buffer): Promise<void> {
  const stream = await sql`COPY liability_pages (run_id, kind, number, page) FROM STDIN (FORMAT binary)`.writable()
  stream.end(batch)
  await finished(stream)
}

function rowHead(runId: string, kind: number, number: number, length: number): Buffer {
  const head = Buffer.alloc(ROW_HEAD_BYTES)
  let at = head.writeInt16BE(FIELDS, 0)
  at = head.writeInt32BE(8, at)
  at = head.writeBigInt64BE(BigInt(runId), at)
  at = head.writeInt32BE(2, at)
  at = head.writeInt16BE(kind, at)
  at = head.writeInt32BE(4, at)
  at = head.writeInt32BE(number, at)
  head.writeInt32BE(length, at)
  return head
}
