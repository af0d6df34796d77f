/** Messages that cannot be decrypted are counted by direction and logged at a bounded rate. */
import { expect, test } from 'vitest'
import { createRegistry } from '../../../infra/metrics/registry.ts'
import { countUnreadMessages } from '../../../infra/metrics/transport-metrics.ts'
import { createUnopenedLog } from '../../../infra/nats/message-bodies.ts'
import type { LogFields } from '../../../runtime/ports/log.ts'
import { sampleOf } from './samples.ts'

const NAME = 'ledger_messages_not_opened_total'

test('each message is counted by its direction, and counters start at 0', async () => {
  const registry = createRegistry()
  const count = countUnreadMessages(registry)
  expect(sampleOf(await registry.metrics(), NAME, { direction: 'reply' })).toBe(0)
  for (const direction of ['request', 'request', 'reply'] as const) count(direction)
  expect(sampleOf(await registry.metrics(), NAME, { direction: 'request' })).toBe(2)
  expect(sampleOf(await registry.metrics(), NAME, { direction: 'reply' })).toBe(1)
})

test('many messages cause one line at once and then one per ten seconds, with their number', () => {
  let nowMs = 5
  const lines: (readonly [string, LogFields | undefined])[] = []
  const silent = (): void => undefined
  const error = (event: string, fields?: LogFields): void => void lines.push([event, fields])
  const tell = createUnopenedLog({ info: silent, warn: silent, error }, () => nowMs)
  for (; nowMs < 10_005; nowMs += 1) tell(nowMs % 2 === 0 ? 'request' : 'reply')
  tell('reply')
  expect(lines).toEqual([
    ['messages_not_opened', { requests: 0, replies: 1 }],
    ['messages_not_opened', { requests: 5_000, replies: 5_001 }],
  ])
})
