/** The operator sees warnings, errors and the progress of a long start from the servers' output, without repeats. */
import { expect, test } from 'vitest'
import { lineHandler, serverLineHandler } from '../../../infra/launcher/child-lines.ts'

test('errors and the progress of a replay are printed, the rest goes only to the file', () => {
  const said: string[] = []
  const written: string[] = []
  const onLine = serverLineHandler('PostgreSQL', { append: (line) => void written.push(line) }, (text) =>
    said.push(text),
  )
  const lines = [
    '2026-11-25 10:00:00.000 UTC [7] LOG:  starting PostgreSQL 17.10',
    '2026-11-25 10:00:10.000 UTC [8] LOG:  redo in progress, elapsed time: 10.00 s, current LSN: 0/5000000',
    '2026-11-25 10:00:10.100 UTC [8] LOG:  restored log file "000000010000000000000005" from archive',
    '2026-11-25 10:00:11.000 UTC [9] FATAL:  the database system is starting up',
    '2026-11-25 10:00:12.000 UTC [9] FATAL:  lock file "postmaster.pid" is empty',
  ]
  for (const line of lines) onLine(line)
  expect(written).toEqual(lines)
  expect(said).toEqual([
    'PostgreSQL: LOG:  redo in progress, elapsed time: 10.00 s, current LSN: 0/5000000',
    'PostgreSQL: FATAL:  lock file "postmaster.pid" is empty',
  ])
})

test('the file of a part has its log alone: warnings about the configuration come from the launcher', () => {
  const said: string[] = []
  const written: string[] = []
  const file = { append: (line: string) => void written.push(line) }
  const onLine = lineHandler('node-1', file, (text) => said.push(text))
  const logged = '{"level":"warn","event":"clock_skew_exceeded","ms":3}'
  for (const line of ['warning: Node.js 20 is old', logged, 'Error: a crash']) onLine(line)
  expect(written).toEqual([logged, 'Error: a crash'])
  expect(said).toEqual(['node-1: warn clock_skew_exceeded ms=3', 'node-1: Error: a crash'])
})
