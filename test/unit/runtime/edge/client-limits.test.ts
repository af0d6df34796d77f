/** L1, L2 and L4, at edges that are connected by a list of calls. */
import { expect, test } from 'vitest'
import type { Rate } from '../../../../actors/rate.ts'
import { createClientLimits } from '../../../../runtime/edge/client-limits.ts'
import type { LogFields } from '../../../../runtime/ports/log.ts'
import type { ClientUsage } from '../../../../runtime/ports/usage-exchange.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const RATE: Rate = { perSecond: 10, burst: 20 }

function createEdges(count: number, defaultRate: Rate | null = null) {
  const clock = createManualClock(0)
  const told: ((usages: readonly ClientUsage[]) => void)[] = []
  const sent: ClientUsage[][] = []
  const lines: { readonly event: string; readonly fields: LogFields | undefined }[] = []
  const counted: [string, number][] = []
  const log = {
    info: () => undefined,
    warn: (event: string, fields?: LogFields) => void lines.push({ event, fields }),
    error: () => undefined,
  }
  const edges = Array.from({ length: count }, (_, index) =>
    createClientLimits({
      clock,
      log,
      defaultRate,
      exchange: {
        onTold: (handle) => void (told[index] = handle),
        tell: (usages) => {
          sent.push([...usages])
          for (const [other, handle] of told.entries()) if (other !== index) handle(usages)
        },
      },
      metrics: { limited: (reason, requests) => void counted.push([reason, requests]) },
    }),
  )
  return { clock, edges, sent, lines, counted }
}

test('L1: a client that keeps asking at three edges gets its rate, after one burst at each', async () => {
  const { clock, edges } = createEdges(3)
  let taken = 0
  for (let second = 0; second < 60; second += 0.1) {
    for (const edge of edges) taken += edge.of('busy', RATE)?.take(5) ?? 0
    await clock.pass(100)
  }
  expect(taken).toBeGreaterThanOrEqual(60 * RATE.perSecond)
  expect(taken).toBeLessThanOrEqual(60 * RATE.perSecond + 3 * RATE.burst)
})

test('L1: what one edge let through is gone at the others 200 ms later, for this client alone', async () => {
  const { clock, edges, sent } = createEdges(2)
  expect(edges[0]?.of('busy', RATE)?.take(20)).toBe(20)
  await clock.pass(200)
  expect(sent).toEqual([[{ clientId: 'busy', rate: RATE, requests: 20 }]])
  expect(edges[1]?.of('busy', RATE)?.take(20)).toBe(0)
  expect(edges[1]?.of('calm', RATE)?.take(20)).toBe(20)
})

test('L2: without a limit nothing is sent; a client may have none where there is a default', async () => {
  const unlimited = createEdges(1)
  expect(unlimited.edges[0]?.of('any', null)).toBeUndefined()
  const { clock, edges, sent } = createEdges(1, RATE)
  expect(edges[0]?.of('any', 'none')).toBeUndefined()
  await clock.pass(1_000)
  expect(sent).toEqual([])
  expect(edges[0]?.of('any', null)?.rate).toEqual(RATE)
})

test('refusals are counted, and logged once a client and minute', async () => {
  const { clock, edges, lines, counted } = createEdges(1)
  const limit = edges[0]?.of('busy', { perSecond: 0.001, burst: 1 })
  for (const wanted of [3, 4]) limit?.take(wanted)
  await clock.pass(60_000)
  limit?.take(1)
  expect(counted).toEqual([
    ['client_rate', 2],
    ['client_rate', 4],
    ['client_rate', 1],
  ])
  expect(lines).toEqual([
    { event: 'client_rate_limited', fields: { client_id: 'busy', requests: 2 } },
    { event: 'client_rate_limited', fields: { client_id: 'busy', requests: 5 } },
  ])
})

test('L4: a refusal leaves 100 ms late, but at once while 1,000 others wait', async () => {
  const { clock, edges } = createEdges(1)
  const limit = edges[0]?.of('busy', RATE)
  const leftMs: number[] = []
  const refuse = async (): Promise<void> => {
    await limit?.refusal()
    leftMs.push(clock.monotonic())
  }
  const late = Array.from({ length: 1_000 }, refuse)
  await refuse()
  expect(leftMs).toEqual([0])
  await clock.pass(100)
  await Promise.all(late)
  const next = refuse()
  await clock.pass(100)
  await next
  expect(leftMs.slice(1)).toEqual([...late.map(() => 100), 200])
})
