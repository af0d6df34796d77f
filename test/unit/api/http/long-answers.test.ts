/** E3: the edge checks the client again after a wait and during a stream, so revocations and changes apply (D17). */
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
  signedIn,
} from '../fakes/edge-fixture.ts'
import { WRITTEN } from '../routes/written-requests.ts'

const VIEWER = 'client-viewer'
const CHANGES: readonly (readonly [string, Partial<ClientRecord>, number, string])[] = [
  ['is revoked', { revokedAtMs: 1 }, 401, 'ERR_UNAUTHORIZED'],
  ['loses the account from its scope', { accounts: ['zoe'] }, 404, 'ERR_NOT_FOUND'],
]

interface Waited {
  readonly path: string
  /** Puts the resource into the ledger, pending or final. */
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
  /** The response if the client changes during the wait. */
  async function waited(change: Partial<ClientRecord>): Promise<Response> {
    const { edge, token } = await signedIn('viewer')
    show(edge, false)
    const pending = edge.get(path, token, { prefer: 'wait=30' })
    await edge.clock.timersSet(1)
    edge.access.clients.set(VIEWER, { ...clientOf(VIEWER, 'viewer'), ...change })
    await edge.clock.advance(10_000)
    show(edge, true)
    await edge.clock.advance(20_000)
    return pending
  }

  test.for(CHANGES)('E3: a client that %s during the wait gets a refusal', async ([, change, status, code]) => {
    expect(await refusalOf(await waited(change))).toMatchObject({ status, codes: [code] })
  })

  test('an unchanged client gets the final resource', async () => {
    const answer = await waited({})
    expect(answer.headers.get('preference-applied')).toBe('wait=30')
    expect(JSON.stringify(await bodyOf(answer))).toMatch(/"status":"(completed|settled)"/)
  })
})

describe('an export', () => {
  const ADMIN = 'client-admin'
  const { account_ids: _, ...ASKED } = { ...WRITTEN.createExport.body, all: true }

  /** A running export. `made`: the lines that its source produced. `left`: whether the source was cancelled. */
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

  test('is sent whole while its client does not change, across renewals of the cached clients', async () => {
    const { edge, next } = await begun(['bob', 'alice*'])
    for (const expected of ['{"line":1}\n', '{"line":2}\n', '{"line":3}\n', 'the end']) {
      expect(await next()).toBe(expected)
      await edge.clock.advance(5000)
    }
    expect(edge.access.checked).toBeGreaterThan(1)
  })

  test.for<[string, Partial<ClientRecord>]>([
    ['is revoked', { revokedAtMs: 1 }],
    ['loses the role admin', { role: 'transactor' }],
    ['loses accounts from its scope', { accounts: ['alice*'] }],
    ['gains accounts in its scope', { accounts: ['bob', 'alice*', 'carol'] }],
    ['loses its scope', { accounts: null }],
  ])('E3: is aborted, and its source cancelled, when its client %s', async ([, change]) => {
    const { edge, source, next } = await begun(['bob', 'alice*'])
    expect(await next()).toBe('{"line":1}\n')
    edge.access.clients.set(ADMIN, { ...clientOf(ADMIN, 'admin'), accounts: ['bob', 'alice*'], ...change })
    await edge.clock.advance(5000)
    await expect(next()).rejects.toThrow('may not have the rest')
    expect(source.left).toBe(true)
  })

  test('is aborted when its source fails, and a reader that leaves cancels the source', async () => {
    const broken = await begun()
    expect(await broken.next()).toBe('{"line":1}\n')
    broken.source.fail?.(new Error('a row is damaged'))
    await expect(broken.reader.closed).rejects.toThrow('a row is damaged')
    const left = await begun()
    await left.reader.cancel()
    expect(left.source.left).toBe(true)
  })
})
