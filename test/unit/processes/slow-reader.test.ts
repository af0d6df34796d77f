/** Goal: a list that is streamed as lines waits for its reader and ends with the connection. */
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { STALLED_AFTER_MS } from '../../../api/http/text-stream.ts'
import { type HttpServer, listen } from '../../../infra/processes/http-server.ts'
import { freePort } from '../../support/free-ports.ts'
import { createEdgeFixture, createFakeReads, type EdgeFixture, transactionView } from '../api/edge-fixture.ts'

const ROWS_OF_A_PAGE = 1_000
/** Far more than the buffers of a connection. */
const MOST_PAGES = 500
const LONG_MS = 180_000

let server: HttpServer | undefined
let socket: Socket | undefined

afterEach(async () => {
  socket?.destroy()
  await server?.stop()
})

interface Serving {
  readonly edge: EdgeFixture
  readonly pages: () => number
  readonly port: number
}

/** An endless list. */
async function serving(): Promise<Serving> {
  let pages = 0
  const transactions = Array.from({ length: ROWS_OF_A_PAGE }, () => transactionView())
  const reads = {
    ...createFakeReads(),
    transactions: () => {
      pages += 1
      if (pages > MOST_PAGES) return Promise.reject(new Error('more pages than a reader needs'))
      const next = { position: null, txnId: `txn_${pages}` }
      return Promise.resolve({ transactions, next, ended: false, count: null })
    },
  }
  const edge = createEdgeFixture({ reads })
  const port = await freePort()
  server = await listen(edge.app, '127.0.0.1', port, 'https://ledger.example/errors')
  return { edge, pages: () => pages, port }
}

/** Reads only the beginning of the response. */
async function beginReading({ edge, port }: Serving): Promise<Socket> {
  const token = await edge.tokenFor('viewer')
  const head = `GET /v1/transactions HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const opened = connect(port, '127.0.0.1', () => opened.write(head))
  socket = opened
  opened.on('error', () => undefined)
  const [first] = await new Promise<readonly [Buffer]>((resolve) => {
    opened.once('data', (chunk: Buffer) => {
      opened.pause()
      resolve([chunk])
    })
  })
  expect(first.toString('latin1')).toContain(' 200 ')
  return opened
}

function endsOf({ edge }: Serving): readonly unknown[] {
  return edge.log.filter(({ event }) => event === 'transactions_streamed').map(({ fields }) => fields['end'])
}

test('T1, T2: for a client that does not read, no further pages are read, and it is disconnected', async () => {
  const scene = await serving()
  await beginReading(scene)
  // Pages are read until the buffers of the connection are full, which takes some time.
  await vi.waitFor(
    async () => {
      await scene.edge.clock.advance(STALLED_AFTER_MS)
      expect(endsOf(scene)).toEqual(['stalled'])
    },
    { timeout: LONG_MS, interval: 20 },
  )
  expect(scene.pages()).toBeLessThan(MOST_PAGES)
})

test('T3: a client that disconnects ends the reads', async () => {
  const scene = await serving()
  const reader = await beginReading(scene)
  reader.destroy()
  await vi.waitFor(() => expect(endsOf(scene)).toEqual(['left']), { timeout: LONG_MS, interval: 5 })
  const pages = scene.pages()
  await scene.edge.clock.advance(10 * STALLED_AFTER_MS)
  expect(scene.pages()).toBeLessThanOrEqual(pages + 1)
})
