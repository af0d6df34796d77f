import { expect, test } from 'vitest'
import { createJsonLinesLog, type LogLevel } from '../../../infra/system/log-json-lines.ts'

function linesOf(
  level: LogLevel,
  use: (log: ReturnType<typeof createJsonLinesLog>) => void,
): Record<string, unknown>[] {
  const lines: string[] = []
  use(createJsonLinesLog({ level, fields: { part: 'node' }, write: (line) => void lines.push(line) }))
  return lines.map((line) => {
    expect(line.endsWith('\n')).toBe(true)
    return JSON.parse(line) as Record<string, unknown>
  })
}

test('a line has time, level, event and the fields of the process', () => {
  const [line] = linesOf('info', (log) => log.info('started', { shards: 3 }))
  expect(line).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    level: 'info',
    event: 'started',
    part: 'node',
    shards: 3,
  })
})

test('events below the level are dropped', () => {
  const lines = linesOf('warn', (log) => {
    log.info('a')
    log.warn('b')
    log.error('c')
  })
  expect(lines.map((line) => line['event'])).toEqual(['b', 'c'])
})

test('the debug method exists at level debug only', () => {
  const lines = linesOf('debug', (log) => {
    log.debug?.('a', { request_id: 'x' })
    log.info('b')
  })
  expect(lines.map((line) => [line['level'], line['event']])).toEqual([
    ['debug', 'a'],
    ['info', 'b'],
  ])
  linesOf('info', (log) => expect(log.debug).toBeUndefined())
})

test('texts that look like secrets are masked, and long texts are cut', () => {
  const [line] = linesOf('info', (log) =>
    log.info('failed', {
      error:
        'connect postgres://me:hunter2@db/ledger nats://hunter2@n -----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----',
      long: 'x'.repeat(100_000),
    }),
  )
  expect(line?.['error']).toBe('connect postgres://***@db/ledger nats://***@n ***')
  expect(line?.['long']).toHaveLength(2_000)
})
