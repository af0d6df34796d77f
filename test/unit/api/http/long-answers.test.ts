/** Goal: E3: an answer that is long in coming, or goes on being sent, is judged again: what was revoked or changed meanwhile holds (D17). */
import { describe, expect, test } from 'vitest'
import type { ClientRecord } from '../../../../runtime/ports/access-store.ts'
import type { TransactionView } from '../../../../runtime/ports/ledger-reads.ts'
import {
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  GROUP_ID,
  groupView,
  refusalOf,
  TXN_ID,
  transactionView,
} from '../fakes/edge-fixture.ts'
import { WRITTEN } from '../routes/written-requests.ts'

const VIEWER = 'client-viewer'
const CHANGES: readonly (readonly [string, Partial<ClientRecord>, number, string])[] = [
  ['is revoked', { revokedAtMs: 1 }, 401, 'ERR_UNAUTHORIZED'],
  ['may not see the account any more', { accounts: ['zoe'] }, 404, 'ERR_NOT_FOUND'],
]

interface Waited {
  readonly path: string
  /** The resource: pending, then final. */
  readonly show: (edge: EdgeFixture, done: boolean) => void
}

const PENDING = { status: 'pending', processedAtMs: null, auditHash: null } as const

function transactionOf(done: boolean): TransactionView {
  return transactionView({ groupId: GROUP_ID, ...(done ? {} : PENDING) })
}

const WAITED: readonly Waited[] = [
  {
    path: `/v1/transactions/${TXN_ID}`,
    show: ({ reads }, done) => void reads.transactionViews.set(TXN_ID, transactionOf(done)),
  },
  {
    path: `/v1/settlement-groups/${GROUP_ID}`,
    show: ({ reads }, done) =>
      void reads.groupViews.set(GROUP_ID, groupView(done ? { status: 'settled', finishedAtMs: 2 } : {})),
  },
  {
    path: `/v1/transactions/group/${GROUP_ID}`,
    show: ({ reads }, done) => {
      reads.page = { ...reads.page, transactions: [transactionOf(done)] }
    },
  },
]

describe.for(WAITED)('GET $path with Prefer: wait', ({ path, show }) => {
  /** The response if the client is changed during the wait, 10 s before the end. */
  async function waited(change: Partial<ClientRecord>): Promise<Response> {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('viewer')
    show(edge, false)
    const pending = edge.get(path, token, { prefer: 'wait=30' })
    await edge.clock.timersSet(1)
    edge.access.clients.set(VIEWER, { ...clientOf(VIEWER, 'viewer'), ...change })
    await edge.clock.advance(10_000)
    show(edge, true)
    await edge.clock.advance(20_000)
    return pending
  }

  test.for(CHANGES)('E3: a client that %s meanwhile does not see it', async ([, change, status, code]) => {
    expect(await refusalOf(await waited(change))).toMatchObject({ status, codes: [code] })
  })

  test('another sees it', async () => {
    const answer = await waited({})
    expect(answer.headers.get('preference-applied')).toBe('wait=30')
    expect(JSON.stringify(await bodyOf(answer))).toMatch(/"status":"(completed|settled)"/)
  })
})

describe('an export', () => {
  const ADMIN = 'client-admin'
  const { account_ids: _, ...ASKED } = { ...WRITTEN.createExport.body, all: true }

  /** One that is being read: `made` says how many lines its source has given, `left` whether it was told to stop. */
  async function begun(accounts: readonly string[] | null = null) {
    const source = { made: 0, left: false, fail: undefined as ((failure: Error) => void) | undefined }
    const content = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          source.fail = (failure) => controller.error(failure)
        },
        pull: (controller) => {
          source.made += 1
          if (source.made > 3) controller.close()
          else controller.enqueue(Buffer.from(`{"line":${source.made}}\n`))
        },
        cancel: () => {
          source.left = true
        },
      },
      { highWaterMark: 0 },
    )
    const edge = createEdgeFixture({ exports: { begin: () => Promise.resolve({ kind: 'begun', content }) } })
    edge.access.clients.set(ADMIN, { ...clientOf(ADMIN, 'admin'), accounts })
    const response = await edge.post('/v1/exports', ASKED, await edge.tokenFor('admin'))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const next = async () => {
      const { done, value } = await reader.read()
      return done ? 'the end' : Buffer.from(value).toString()
    }
    return { edge, source, next, reader }
  }

  test('is sent to its end while nothing changes, though the copy of the clients is renewed meanwhile', async () => {
    const { edge, next } = await begun(['bob', 'alice*'])
    for (const expected of ['{"line":1}\n', '{"line":2}\n', '{"line":3}\n', 'the end']) {
      expect(await next()).toBe(expected)
      await edge.clock.advance(5000)
    }
    expect(edge.access.checked).toBeGreaterThan(1)
  })

  test.for<[string, Partial<ClientRecord>]>([
    ['is revoked', { revokedAtMs: 1 }],
    ['is no administrator any more', { role: 'transactor' }],
    ['may see less', { accounts: ['alice*'] }],
    ['may see others', { accounts: ['bob', 'alice*', 'carol'] }],
    ['may see all', { accounts: null }],
  ])('E3: breaks off, and its source ends, when its client %s', async ([, change]) => {
    const { edge, source, next } = await begun(['bob', 'alice*'])
    expect(await next()).toBe('{"line":1}\n')
    edge.access.clients.set(ADMIN, { ...clientOf(ADMIN, 'admin'), accounts: ['bob', 'alice*'], ...change })
    await edge.clock.advance(5000)
    await expect(next()).rejects.toThrow('may not have the rest')
    expect(source.left).toBe(true)
  })

  test('breaks off with its source, also without a reader; a reader that leaves ends the source', async () => {
    const broken = await begun()
    expect(await broken.next()).toBe('{"line":1}\n')
    broken.source.fail?.(new Error('a row is damaged'))
    await expect(broken.reader.closed).rejects.toThrow('a row is damaged')
    const left = await begun()
    await left.reader.cancel()
    expect(left.source.left).toBe(true)
  })
})
