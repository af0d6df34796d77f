/** The spans of a node: each command, its steps and commits, and its messages, under the span of the edge. */
import { describe, expect, test } from 'vitest'
import { createNodeSpans } from '../../../../../runtime/node/shard/command-span.ts'
import type { Span } from '../../../../../runtime/ports/tracing.ts'
import type { Trail } from '../../../../../runtime/ports/trail.ts'
import { deliveriesIn } from '../../../../support/bodies.ts'
import { createMemoryTracing } from '../../../../support/memory/tracing-memory.ts'
import { applied, credit, hosting, register, transfer } from '../../../../support/shard-hosting.ts'

const TRACE_ID = 'a'.repeat(32)
const EDGE_SPAN_ID = 'b'.repeat(16)

function trailOf(sampled = true): Trail {
  const trace = { traceId: TRACE_ID, spanId: EDGE_SPAN_ID, parentSpanId: 'c'.repeat(16), sampled, state: 'x=y' }
  return { requestId: 'mine-1', trace }
}

/** The span IDs of the node begin with 1; that of a request is zero (shard-hosting.ts). */
async function tracedHosting() {
  let number = 0
  const random = { hex: (size: number) => (number += 1).toString(16).padStart(size * 2, '0') }
  const elapsed = { ms: 0 }
  const tracing = createMemoryTracing({ monotonic: () => elapsed.ms })
  const scene = hosting([0, 1], {}, { spans: createNodeSpans({ tracing, random }) })
  scene.send(scene.item(0, 'a', register), scene.item(1, 'b', register))
  await scene.clock.pass(10)
  scene.send(scene.item(0, 'a', credit('a', 'c1', undefined, '5')))
  await scene.clock.pass(10)
  return { ...scene, spans: tracing.spans }
}

/** A line for each span below the parent, and indented ones for those below it. */
function treeOf(spans: readonly Span[], parentSpanId: string, indent = ''): readonly string[] {
  return spans
    .filter((span) => span.parentSpanId === parentSpanId)
    .flatMap(({ spanId, work }) => [indent + work.kind, ...treeOf(spans, spanId, `${indent}  `)])
}

describe('spans of a node', () => {
  test('a transfer is one tree over both shards, in one trace', async () => {
    const { clock, send, item, spans } = await tracedHosting()
    expect(spans).toEqual([])
    send(item(0, 'a', transfer('a', 'b', 't1'), { trail: trailOf() }))
    await clock.pass(1_000)
    expect(treeOf(spans, EDGE_SPAN_ID)).toEqual([
      'request',
      '  step',
      '  commit',
      '    delivery',
      '      message',
      '        step',
      '        commit',
      '          delivery',
      '            message',
      '              step',
      '              commit',
    ])
    expect(spans).toHaveLength(11)
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]))
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(11)
    const ofKind = (kind: string) => spans.filter(({ work }) => work.kind === kind).map(({ work }) => work)
    expect(ofKind('request')).toEqual([{ kind: 'request', operation: 'submit', verdict: 'answered' }])
    expect(ofKind('commit')[0]).toEqual({ kind: 'commit', result: 'applied', commands: 1 })
  })

  test('a span has no members of the request: only IDs, times and closed values', async () => {
    const { clock, send, item, spans } = await tracedHosting()
    send(item(0, 'a', transfer('a', 'b', 't1'), { trail: trailOf() }))
    await clock.pass(1_000)
    const members = new Set(spans.flatMap((span) => Object.keys(span)))
    expect(members).toEqual(new Set(['traceId', 'spanId', 'parentSpanId', 'startedMs', 'endedMs', 'work']))
    const ofWork = new Set(spans.flatMap(({ work }) => Object.keys(work)))
    expect(ofWork).toEqual(new Set(['kind', 'operation', 'verdict', 'result', 'commands']))
  })

  test('each commit of a command has a span with its result', async () => {
    const { clock, control, send, item, spans } = await tracedHosting()
    control.commit = () => {
      control.commit = applied
      return { kind: 'unknown', detail: 'no answer' }
    }
    send(item(0, 'a', credit('a', 'c2'), { trail: trailOf() }))
    await clock.pass(5_000)
    const commits = spans.flatMap(({ work }) => (work.kind === 'commit' ? [work.result] : []))
    expect(commits).toEqual(['unknown', 'applied'])
    expect(spans.filter(({ work }) => work.kind === 'request')).toHaveLength(1)
  })

  test('a message has one span, also if a commit of it fails', async () => {
    const { clock, control, send, item, spans } = await tracedHosting()
    let commits = 0
    control.commit = (batch) => {
      commits += 1
      return commits === 2 ? { kind: 'unknown', detail: 'no answer' } : applied(batch)
    }
    send(item(0, 'a', transfer('a', 'b', 't1'), { trail: trailOf() }))
    await clock.pass(5_000)
    const results = spans.flatMap(({ work }) => (work.kind === 'commit' ? [work.result] : []))
    expect(results).toEqual(['applied', 'unknown', 'applied', 'applied'])
    expect(spans.filter(({ work }) => work.kind === 'message')).toHaveLength(2)
  })

  test('an item that does not enter a mailbox has a span with its verdict', async () => {
    const { send, item, spans } = await tracedHosting()
    send(item(0, 'a', credit('a', 'c2'), { trail: trailOf(), epoch: 7 }))
    expect(spans.map(({ parentSpanId, work }) => [parentSpanId, work])).toEqual([
      [EDGE_SPAN_ID, { kind: 'request', operation: 'submit', verdict: 'moved' }],
    ])
  })

  test('a message between nodes names the span of its delivery alone, and only in a recorded trace', async () => {
    const carried: string[] = []
    const scene = await tracedHosting()
    const { clock, control, give, send, item, spans } = scene
    control.carry = (_, message) => {
      carried.push(message)
      return 'lost'
    }
    give(1, 'another')
    await scene.routes.refresh()
    send(item(0, 'a', transfer('a', 'b', 't1'), { trail: trailOf(false) }))
    await clock.pass(10)
    send(item(0, 'a', transfer('a', 'b', 't2'), { trail: trailOf() }))
    await clock.pass(10)
    const messages = carried.flatMap((message) => deliveriesIn(message)).flatMap((delivery) => delivery.messages)
    const commit = spans.find(({ work }) => work.kind === 'commit')
    expect(messages.map(({ number, trace }) => [number, trace])).toEqual([
      [1, undefined],
      [2, { traceId: TRACE_ID, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string }],
    ])
    expect(messages[1]?.trace?.spanId).not.toBe(commit?.spanId)
  })
})
