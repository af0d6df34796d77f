/** Lost spans are counted, and reported by one line when that begins and one when it has ended. */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { QUIET_MS, watchExports } from '../../../infra/tracing/export-watch.ts'

const OK: ExportResult = { code: ExportResultCode.SUCCESS }

function scene(maxQueued = 4) {
  const lines: unknown[] = []
  const write = (event: string, fields: unknown): void => void lines.push([event, fields])
  const time = { ms: 0 }
  let result = OK
  const exporter = {
    export: (_: unknown, done: (result: ExportResult) => void) => done(result),
    shutdown: () => Promise.resolve(),
  }
  const log = { info: write, warn: write, error: write }
  const watch = watchExports(exporter, { maxQueued, log, nowMs: () => time.ms })
  const send = (count: number, end: ExportResult = OK): void => {
    result = end
    const spans = Array.from<ReadableSpan>({ length: count })
    watch.exporter.export(spans, () => undefined)
  }
  const offer = (count: number): number => Array.from({ length: count }, () => watch.admits()).filter(Boolean).length
  return { lines, time, send, offer }
}

function failed(error: Error & { code?: string | number }): ExportResult {
  return { code: ExportResultCode.FAILED, error }
}

test('no more spans wait than the bound, and those taken make room', () => {
  const { offer, send, lines } = scene()
  expect(offer(7)).toBe(4)
  send(3)
  expect(offer(7)).toBe(3)
  expect(lines).toEqual([['spans_dropped', { cause: 'spans come faster than the collector takes them' }]])
})

test('a collector that fails again and again is one line, and one when nothing was lost for a minute', () => {
  const { offer, send, lines, time } = scene()
  for (const _ of [1, 2, 3]) {
    offer(4)
    send(4, failed(Object.assign(new Error('the collector’s text'), { code: 500 })))
    offer(1)
    send(1)
  }
  expect(lines).toEqual([['spans_not_exported', { cause: 'HTTP status 500' }]])
  time.ms = QUIET_MS
  send(0)
  send(0)
  expect(lines.slice(1)).toEqual([['spans_exported_again', { lost: 12 }]])
  send(1, failed(new Error('the collector’s text')))
  expect(lines.slice(2)).toEqual([['spans_not_exported', { cause: 'no valid response in time' }]])
})
