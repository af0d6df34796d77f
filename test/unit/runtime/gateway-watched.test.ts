/** Goal: what an edge asks of nodes can be followed and is counted once, by what its client was told. */
import { describe, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import { Gateway, GATEWAY_DEFAULTS } from '../../../runtime/edge/gateway.ts'
import type { Item, Verdict } from '../../../runtime/messages.ts'
import type { LogFields } from '../../../runtime/ports/log.ts'
import type { SubmissionEnd } from '../../../runtime/ports/metrics.ts'
import { NO_RARE_PATHS } from '../../../runtime/ports/rare-paths.ts'
import type { Trail } from '../../../runtime/ports/trail.ts'
import { NOT_DELIVERED } from '../../../runtime/ports/transport.ts'
import { Routes } from '../../../runtime/routes.ts'
import { CALLER, START_MS } from '../../support/accounts.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { itemsIn, verdictsBody } from '../../support/bodies.ts'

const TRAIL: Trail = {
  requestId: 'mine-1',
  trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: 'c'.repeat(16), sampled: true, state: 'v=1' },
}

/** `reply`: what the node says of each item; nothing: it never answers. */
async function edge(reply: Verdict | typeof NOT_DELIVERED | undefined, level: 'debug' | 'info' = 'debug') {
  const clock = createManualClock(START_MS)
  const counted: (readonly [string, SubmissionEnd])[] = []
  const lines: { readonly event: string; readonly fields: LogFields | undefined }[] = []
  const sent: Item[] = []
  const routes = new Routes({
    store: { shards: () => Promise.resolve([{ shardId: 7, epoch: 1, attempt: 0, nodeId: 'node', session: 'one' }]) },
    leases: { watchHints: () => ({ stop: () => undefined }) },
    clock,
    rare: NO_RARE_PATHS,
  })
  await routes.start()
  const note = (event: string, fields?: LogFields) => void lines.push({ event, fields })
  const log = { info: note, warn: note, error: note }
  const gateway = new Gateway({
    transport: {
      request: (_subject, message, _timeoutMs, onReply) => {
        const items = itemsIn(message)
        sent.push(...items)
        const verdicts = (verdict: Verdict) =>
          verdictsBody(items.map(({ requestId, attempt }) => ({ requestId, attempt, verdict })))
        if (reply !== undefined) onReply(reply === NOT_DELIVERED ? reply : verdicts(reply))
        return { close: () => undefined }
      },
      serve: () => ({ drain: () => Promise.resolve() }),
      maxMessageBytes: () => 100_000,
    },
    routes,
    clock,
    random: { hex: () => 'of-the-gateway', integer: () => 0 },
    rare: NO_RARE_PATHS,
    homeOf: () => 7,
    settings: { ...GATEWAY_DEFAULTS, maxWaiting: 1 },
    metrics: { submission: (operation, end) => void counted.push([operation, end]) },
    log: level === 'debug' ? { ...log, debug: note } : log,
    accountTag: (accountId) => `tag of ${accountId.length} characters`,
  })
  const ask = (trail?: Trail) =>
    void gateway.ask({
      actor: accountAddress('alice'),
      caller: CALLER,
      operation: { kind: 'submit', payload: '{}', signature: 'secret' },
      ...(trail === undefined ? {} : { trail }),
    })
  return { clock, counted, lines, sent, ask, gateway }
}

const REFUSED: Verdict = {
  kind: 'answered',
  answer: { kind: 'refused', code: 'account_not_found', detail: 'no alice', field: null },
}
const ACCEPTED: Verdict = {
  kind: 'answered',
  answer: {
    kind: 'accepted',
    receipt: { txnId: 'txn', accountId: 'alice', shardId: 7, enqueuedAtMs: START_MS, groupId: null },
    replayed: false,
    mismatch: false,
  },
}

describe('what an edge counts', () => {
  test.for([
    ['an answer', ACCEPTED, { outcome: 'accepted' }],
    ['a refusal, with its code', REFUSED, { outcome: 'refused', code: 'account_not_found' }],
    ['a full mailbox', { kind: 'overloaded' }, { outcome: 'overloaded', code: 'overloaded' }],
    ['what reached nobody', NOT_DELIVERED, { outcome: 'not_applied', code: 'shard_unavailable' }],
    ['what nobody can tell', { kind: 'undecided' }, { outcome: 'unknown', code: 'shard_unavailable' }],
    ['what nobody answers', undefined, { outcome: 'unknown', code: 'shard_unavailable' }],
  ] as const)('%s is counted once, when its client is told', async ([, reply, end]) => {
    const { clock, counted, ask, gateway } = await edge(reply)
    ask(TRAIL)
    expect(counted).toEqual([])
    expect(gateway.measures()).toEqual({ waiting: 1 })
    await clock.pass(60_000)
    expect(counted).toEqual([['submit', end]])
    expect(gateway.measures()).toEqual({ waiting: 0 })
  })

  test('what finds no room is counted and told of, too', async () => {
    const { counted, lines, ask } = await edge(undefined)
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
    const traced = await edge(NOT_DELIVERED)
    traced.ask(TRAIL)
    await traced.clock.pass(60_000)
    expect(traced.sent.length).toBeGreaterThan(1)
    for (const { trail } of traced.sent) expect(trail).toEqual(TRAIL)
    const untraced = await edge(ACCEPTED)
    untraced.ask()
    await untraced.clock.pass(10)
    expect(untraced.sent.map((item) => 'trail' in item)).toEqual([false])
  })

  test('at debug there is a line when it comes and one when its client is told, with no word of what it holds', async () => {
    const { clock, lines, ask } = await edge(REFUSED)
    ask(TRAIL)
    await clock.pass(10)
    const named = {
      request_id: 'mine-1',
      trace_id: 'a'.repeat(32),
      span_id: 'b'.repeat(16),
      parent_span_id: 'c'.repeat(16),
      submission: 'of-the-gateway',
      operation: 'submit',
      shard: 7,
      account: 'tag of 5 characters',
    }
    expect(lines).toEqual([
      { event: 'submission_received', fields: named },
      {
        event: 'submission_answered',
        fields: { ...named, outcome: 'refused', code: 'account_not_found', attempts: 1, durationMs: 0 },
      },
    ])
  })

  test('above debug there is none', async () => {
    const { clock, lines, ask } = await edge(REFUSED, 'info')
    ask(TRAIL)
    await clock.pass(10)
    expect(lines).toEqual([])
  })
})
