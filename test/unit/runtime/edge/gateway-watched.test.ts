/** An edge logs each request to nodes under its IDs and counts it once, by the client's outcome. */
import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../../runtime/protocol/messages.ts'
import type { LogFields } from '../../../../runtime/ports/log.ts'
import type { SubmissionEnd } from '../../../../runtime/ports/metrics.ts'
import type { Trail } from '../../../../runtime/ports/trail.ts'
import { NOT_DELIVERED, type NotDelivered } from '../../../../runtime/ports/transport.ts'
import { START_MS } from '../../../support/accounts.ts'
import { edge } from './gateway-fixture.ts'

const TRAIL: Trail = {
  requestId: 'mine-1',
  trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: 'c'.repeat(16), sampled: true, state: 'v=1' },
}

async function watchedEdge(always: Verdict | NotDelivered | undefined, level: 'debug' | 'info' = 'debug') {
  const counted: (readonly [string, SubmissionEnd])[] = []
  const lines: { readonly event: string; readonly fields: LogFields | undefined }[] = []
  const note = (event: string, fields?: LogFields) => void lines.push({ event, fields })
  const log = { info: note, warn: note, error: note }
  const { ask, ...others } = await edge([{ shardId: 0 }], {
    always,
    maxWaiting: 1,
    metrics: { submission: (operation, end) => void counted.push([operation, end]) },
    log: level === 'debug' ? { ...log, debug: note } : log,
    accountTag: (accountId) => `tag of ${accountId.length} characters`,
  })
  return { ...others, counted, lines, ask: (trail?: Trail) => void ask('a0', undefined, trail) }
}

const REFUSED: Verdict = {
  kind: 'answered',
  answer: { kind: 'refused', code: 'account_not_found', detail: 'no alice', field: null },
}
const ACCEPTED: Verdict = {
  kind: 'answered',
  answer: {
    kind: 'accepted',
    receipt: { txnId: 'txn', accountId: 'a0', shardId: 0, enqueuedAtMs: START_MS, groupId: null },
    replayed: false,
    mismatch: false,
  },
}

describe('what an edge counts', () => {
  test.for([
    ['an answer', ACCEPTED, { outcome: 'accepted' }],
    ['a refusal, with its code', REFUSED, { outcome: 'refused', code: 'account_not_found' }],
    ['a full mailbox', { kind: 'overloaded' }, { outcome: 'overloaded', code: 'overloaded' }],
    ['an undelivered request', NOT_DELIVERED, { outcome: 'not_applied', code: 'shard_unavailable' }],
    ['an undecided request', { kind: 'undecided' }, { outcome: 'unknown', code: 'shard_unavailable' }],
    ['a request without a reply', undefined, { outcome: 'unknown', code: 'shard_unavailable' }],
  ] as const)('%s is counted once, when its client is told', async ([, reply, end]) => {
    const { clock, counted, ask, gateway } = await watchedEdge(reply)
    ask(TRAIL)
    expect(counted).toEqual([])
    expect(gateway.measures()).toEqual({ waiting: 1 })
    await clock.pass(60_000)
    expect(counted).toEqual([['submit', end]])
    expect(gateway.measures()).toEqual({ waiting: 0 })
  })

  test('what finds no room is counted and told of, too', async () => {
    const { counted, lines, ask } = await watchedEdge(undefined)
    ask()
    ask(TRAIL)
    expect(lines.at(-1)).toMatchObject({
      event: 'submission_answered',
      fields: { request_id: 'mine-1', operation: 'submit', outcome: 'overloaded', attempts: 0 },
    })
    expect(counted).toEqual([['submit', { outcome: 'overloaded', code: 'overloaded' }]])
  })
})

describe('how an edge lets a request be followed', () => {
  test('the trail goes with every attempt, and what has none stays without', async () => {
    const traced = await watchedEdge(NOT_DELIVERED)
    traced.ask(TRAIL)
    await traced.clock.pass(60_000)
    expect(traced.sent.length).toBeGreaterThan(1)
    for (const { items } of traced.sent) expect(items).toMatchObject([{ trail: TRAIL }])
    const untraced = await watchedEdge(ACCEPTED)
    untraced.ask()
    await untraced.clock.pass(10)
    expect(untraced.sent.flatMap(({ items }) => items.map((item) => 'trail' in item))).toEqual([false])
  })

  test('at debug there is a line when it comes and one when its client gets the reply, without its content', async () => {
    const { clock, lines, ask } = await watchedEdge(REFUSED)
    ask(TRAIL)
    await clock.pass(10)
    const named = {
      request_id: 'mine-1',
      trace_id: 'a'.repeat(32),
      span_id: 'b'.repeat(16),
      parent_span_id: 'c'.repeat(16),
      submission: 'request-1',
      operation: 'submit',
      shard: 0,
      account: 'tag of 2 characters',
    }
    expect(lines).toEqual([
      { event: 'submission_received', fields: named },
      {
        event: 'submission_answered',
        fields: { ...named, outcome: 'refused', code: 'account_not_found', attempts: 1, duration_ms: 0 },
      },
    ])
  })

  test('above debug there is none', async () => {
    const { clock, lines, ask } = await watchedEdge(REFUSED, 'info')
    ask(TRAIL)
    await clock.pass(10)
    expect(lines).toEqual([])
  })
})
