/** A node logs a request under its IDs and counts it. */
import { describe, expect, test } from 'vitest'
import type { LogFields } from '../../../../../runtime/ports/log.ts'
import type { NodeMetrics } from '../../../../../runtime/ports/metrics.ts'
import type { Trail } from '../../../../../runtime/ports/trail.ts'
import { START_MS } from '../../../../support/accounts.ts'
import { applied, credit, hosting, type Limits, register, transfer } from '../../../../support/shard-hosting.ts'

interface Line {
  readonly level: string
  readonly event: string
  readonly fields: LogFields
}

function watchedHosting(limits: Limits = {}) {
  const lines: Line[] = []
  const counted: (readonly [string, ...(string | number)[]])[] = []
  const write =
    (level: string) =>
    (event: string, fields: LogFields = {}): void =>
      void lines.push({ level, event, fields })
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  const metrics: NodeMetrics = {
    items: (fate, items) => void counted.push(['items', fate, items]),
    commit: (result, durationMs) => void counted.push(['commit', result, durationMs]),
    batch: (commands, shards) => void counted.push(['batch', commands, shards]),
    moves: (move, shards) => void counted.push(['moves', move, shards]),
  }
  const linesOf = (event: string) => lines.filter((line) => line.event === event)
  const countsOf = (kind: string) => counted.filter(([of]) => of === kind).map(([, ...rest]) => rest)
  return { ...hosting([0, 1], limits, { log, metrics }), lines, linesOf, countsOf }
}

const trailOf = (requestId: string): Trail => ({
  requestId,
  trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: 'c'.repeat(16), sampled: true, state: '' },
})
/** The span of the node stands under that of the edge. */
const named = (requestId: string) => ({
  request_id: requestId,
  trace_id: 'a'.repeat(32),
  span_id: '0'.repeat(16),
  parent_span_id: 'b'.repeat(16),
})

describe('how a request is followed on a node', () => {
  test('at debug: a line when it is stepped, and one when the batch of the same number is committed', async () => {
    const { clock, linesOf, send, item } = watchedHosting()
    send(item(0, 'a', register, { trail: trailOf('mine-1') }))
    await clock.pass(10)
    const fields = { ...named('mine-1'), submission: 'request-1', operation: 'register', shard: 0 }
    const [stepped] = linesOf('submission_stepped')
    expect(stepped).toMatchObject({ level: 'debug', fields })
    expect(linesOf('submission_committed')).toEqual([
      { level: 'debug', event: 'submission_committed', fields: { ...fields, batch: stepped?.fields['batch'] } },
    ])
    expect(stepped?.fields['batch']).toBeTypeOf('number')
  })

  test('messages between shards are no requests, and have no log lines', async () => {
    const { clock, linesOf, send, item } = watchedHosting()
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(10)
    send(item(0, 'a', credit('a', 'c1', undefined, '5')))
    await clock.pass(10)
    send(item(0, 'a', transfer('a', 'b', 't1')))
    await clock.pass(1_000)
    expect(
      linesOf('submission_committed')
        .map(({ fields }) => String(fields['submission']))
        .sort(),
    ).toEqual(['request-1', 'request-2', 'request-3', 'request-4'])
  })

  test('the line about what the store cannot take names the request alone, and not what it held', async () => {
    const { clock, control, linesOf, send, item } = watchedHosting()
    send(item(0, 'a', register))
    await clock.pass(10)
    control.commit = (batch) =>
      batch.shards.some(({ transactions }) => transactions.some((row) => row.transaction.idempotencyKey === 'poison'))
        ? { kind: 'failed', cause: 'data', detail: 'a row' }
        : applied(batch)
    send(item(0, 'a', credit('a', 'good')), item(0, 'a', credit('a', 'poison'), { trail: trailOf('mine-2') }))
    await clock.pass(100)
    expect(linesOf('command_refused')).toEqual([
      {
        level: 'error',
        event: 'command_refused',
        fields: {
          ...named('mine-2'),
          submission: 'request-3',
          operation: 'submit',
          shard: 0,
          stage: 'commit',
          cause: 'a row',
        },
      },
    ])
  })

  test('a commit of unknown outcome names those it is unknown of, so many and no more', async () => {
    const { clock, control, linesOf, send, item } = watchedHosting()
    control.commit = () => ({ kind: 'unknown', detail: 'lost' })
    control.raises = false
    send(...Array.from({ length: 25 }, (_, index) => item(0, `a${index}`, register, { trail: trailOf(`m${index}`) })))
    await clock.pass(10)
    const first = Array.from({ length: 20 }, (_, index) => `m${index}`).join(' ')
    expect(linesOf('commit_unknown')[0]?.fields).toMatchObject({ detail: 'lost', requests: 25, request_ids: first })
    await clock.pass(1_000)
    expect(linesOf('mailbox_given_up')).toMatchObject([{ fields: { shard: 0, requests: 25, request_ids: first } }])
    expect(linesOf('submission_given_up')).toHaveLength(25)
    expect(linesOf('submission_given_up')[0]?.fields).toMatchObject({ ...named('m0'), because: 'shard_ended' })
  })

  test('a broken invariant names the request that it was broken on', async () => {
    const { clock, control, linesOf, countsOf, send, item } = watchedHosting()
    control.commit = () => ({ kind: 'failed', cause: 'invariant', detail: 'version' })
    send(item(0, 'a', register, { trail: trailOf('mine-3') }))
    await clock.pass(100)
    expect(linesOf('shard_quarantined')[0]?.fields).toMatchObject({ ...named('mine-3'), shard: 0, cause: 'version' })
    expect(countsOf('moves')).toEqual([['quarantined', 1]])
  })

  test('what comes too late says so', async () => {
    const { clock, linesOf, countsOf, send, item } = watchedHosting()
    send(item(0, 'a', register, { trail: trailOf('mine-4'), deadlineMs: START_MS - 1 }))
    await clock.pass(100)
    expect(linesOf('submission_given_up')[0]?.fields).toMatchObject({ ...named('mine-4'), because: 'late' })
    expect(countsOf('items')).toEqual([
      ['entered', 1],
      ['given_up', 1],
    ])
  })
})

describe('what a node counts', () => {
  test('items by what became of them on arrival', async () => {
    const { clock, countsOf, send, item } = watchedHosting({ maxShardMailbox: 1 })
    send(
      item(0, 'a', register),
      item(0, 'a2', register),
      item(5, 'a3', register),
      item(1, 'b', register, { epoch: 9 }),
      item(1, 'a4', register),
    )
    await clock.pass(10)
    expect(countsOf('items').map(([fate]) => fate)).toEqual(['entered', 'overloaded', 'moved', 'moved', 'rejected'])
  })

  test('each commit by its result, and what it made durable only if it did', async () => {
    const { clock, control, countsOf, send, item } = watchedHosting()
    const failed = { kind: 'failed', cause: 'transient', detail: '' } as const
    const verdicts = [failed, { kind: 'unknown', detail: '' } as const]
    control.commit = (batch) => verdicts.shift() ?? applied(batch)
    send(item(0, 'a', register), item(1, 'b', register), item(1, 'b2', register))
    await clock.pass(500)
    expect(countsOf('commit').map(([result]) => result)).toEqual(['failed', 'unknown', 'applied'])
    expect(countsOf('batch')).toEqual([[3, 2]])
  })

  test('a shard that the fence holds back because it is another’s is lost once', async () => {
    const { clock, control, countsOf, linesOf, give, send, item } = watchedHosting()
    send(item(0, 'a', register), item(1, 'b', register))
    control.commit = (batch) => {
      give(1, 'another')
      control.commit = applied
      return applied(batch)
    }
    await clock.pass(500)
    expect(countsOf('commit')[0]?.[0]).toBe('held_back')
    expect(countsOf('batch')).toEqual([[1, 1]])
    expect(countsOf('moves')).toEqual([['fenced', 1]])
    expect(linesOf('shard_fenced')).toHaveLength(1)
  })

  test('what waits is seen while it waits, and gone once it is done', async () => {
    const { clock, control, host, send, item } = watchedHosting()
    const counts = {
      mailboxes: 0,
      lookUps: 0,
      parked: 0,
      unacknowledged: 0,
      unsent: 0,
      owned: 2,
      quarantined: 0,
      commitsFail: false,
    }
    expect(host.measures()).toEqual({ ...counts, residents: 0 })
    const idle = { ...counts, residents: 2 }
    let answer: () => void = () => undefined
    control.lookUps = new Promise((resolve) => {
      answer = resolve
    })
    send(item(0, 'a', register), item(1, 'b', register))
    await clock.pass(1)
    expect(host.measures()).toEqual({ ...counts, residents: 0, mailboxes: 2, lookUps: 2 })
    answer()
    await clock.pass(10)
    expect(host.measures()).toEqual(idle)
    send(item(0, 'a', credit('a', 'c', undefined, '5')))
    await clock.pass(10)
    control.carry = () => 'lost'
    control.commit = (batch) =>
      batch.shards.some(({ marks }) => marks.length > 0)
        ? { kind: 'failed', cause: 'transient', detail: '' }
        : applied(batch)
    send(item(0, 'a', transfer('a', 'b', 't')))
    await clock.pass(10)
    expect(host.measures()).toMatchObject({ unacknowledged: 1, unsent: 0 })
    control.commit = applied
    await clock.pass(10_000)
    expect(host.measures()).toEqual(idle)
  })
})
