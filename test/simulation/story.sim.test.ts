/** A story names who did what, when, and what broke; and a run does not depend on whether it is told. */
import { expect, test } from 'vitest'
import { FAULT_KINDS } from './faults.ts'
import { busy } from './mutation-list.ts'
import { ATTACKER, planOf } from './plan.ts'
import { attempt, toldAttempt } from './runner-attempt.ts'
import { shownLines, type StoryLine } from './story-lines.ts'
import { taleText } from './story-tale.ts'

test('S1: a run with a story is the same run', async () => {
  const plan = planOf(5)
  const { lines, ...told } = await toldAttempt(plan, null)
  expect(told).toEqual(await attempt(plan, null))
  expect(lines.length).toBeGreaterThan(200)
})

test('client, edge, node, commit, fault, owner and the broken invariant are told, in order of time', async () => {
  const broken = 'replyBeforeCommit'
  const plan = { ...planOf(2), faultsMs: 4_000, idleClients: new Set([ATTACKER]) }
  const told = await toldAttempt(plan, broken)
  const text = taleText({ plan, ...told, full: true }).join('\n')
  expect(text).toMatch(/ s {2}client asks edge-\w: #\d+ register account-\d/)
  expect(text).toMatch(/ s {2}edge-\w -> node-\w: #\d+ \(attempt 1\) register for account-\d, shard \d in epoch \d/)
  expect(text).toMatch(/ s {2}node-\w -> edge-\w: #\d+ \(attempt 1\) registered account-\d/)
  expect(text).toMatch(/ s {2}shard \d is node-\w’s in epoch 1.0, and was nobody’s in epoch 0.0/)
  expect(text).toMatch(/BROKEN:\n {2}at [\d.]+ ms: I10: node-\w#1 said of register/)
  expect(text).toContain('  I10: Nothing is said before the commit that it tells of')
  expect(text).toContain(`hash ${told.end.hash}`)
  const times = told.lines.map(({ atMs }) => atMs)
  expect(times).toEqual(times.toSorted((left, right) => left - right))
})

test('commits with their balances and messages, deliveries between nodes and faults are told of a whole run', async () => {
  const plan = planOf(6)
  const { lines } = await toldAttempt(plan, null)
  const has = (kind: StoryLine['kind'], text: RegExp): boolean =>
    lines.some((line) => line.kind === kind && text.test(line.text))
  expect(
    has('commit', /node-\w commits shard \d \(epoch \d\.\d\): .*account-\d version \d+ on \d+, entry \d+ \[.* BASE/),
  ).toBe(true)
  expect(has('commit', /txn_\w{26} \(new, credit [\d.]+ BASE account-\d\) completed/)).toBe(true)
  expect(has('commit', /message \d+ to shard \d \(/)).toBe(true)
  expect(has('message', /^node-\w -> node-\w: from shard \d \(epoch \d+\) to shard \d: \d+: \w+/)).toBe(true)
  expect(has('fault', /^FAULT: /)).toBe(true)
  expect(lines.filter(({ text }) => /\b[0-9a-f]{32}\b/.test(text))).toEqual([])
})

test('that the database server was lost, who ended by it, and how it went on is told', async () => {
  const failovers = ['blow.failover', 'blow.failover_lossy']
  const without = new Set(FAULT_KINDS.filter((kind) => !failovers.includes(kind)))
  const { lines } = await toldAttempt({ ...busy(14), without, harsh: new Set(failovers) }, null)
  const told = lines.filter(({ kind }) => kind === 'fault' || kind === 'log').map(({ text }) => text)
  const texts = told.join('\n')
  expect(texts).toContain('FAULT: the database server is lost; its standby, which has all that was answered')
  expect(texts).toContain('FAULT: the database server is lost; a standby that lacks commits takes its place')
  expect(texts).toMatch(/node-\w logs server_refused .*the server is on timeline 2, which .* not accepted/)
  expect(texts).toMatch(/edge-\w logs server_refused/)
  expect(texts).toContain('an administrator accepts the server')
  expect(texts).toContain('the server that was lost is back')
})

const line = (atMs: number, text: string, kind: StoryLine['kind'] = 'message'): StoryLine => ({ atMs, kind, text })
const broken = [{ name: 'I4', text: 'at 9 ms: I4: 1 account-1: is off' }]

test('a long story shows what touches the violation, what went wrong, and its end; and says what it leaves out', () => {
  const lines = [
    line(1, 'node-a commits shard 1: account-1 version 1', 'commit'),
    ...Array.from({ length: 200 }, (_, index) => line(2 + index, `of account-12, ${index}`)),
    line(300, 'FAULT: node-a crashes', 'fault'),
    ...Array.from({ length: 100 }, (_, index) => line(301 + index, `of account-13, ${index}`)),
  ]
  const shown = shownLines(lines, broken)
  expect(shown.slice(0, 4)).toEqual([
    '   0.001 s  node-a commits shard 1: account-1 version 1',
    '            … 200 lines left out',
    '   0.300 s  FAULT: node-a crashes',
    '            … 60 lines left out',
  ])
  expect(shown).toHaveLength(44)
  expect(shown.at(-1)).toBe('   0.400 s  of account-13, 99')
})

test('a story is shown from its last calm moment on, when that is short enough', () => {
  const early = Array.from({ length: 100 }, (_, index) => line(index, `early ${index}`))
  const late = Array.from({ length: 60 }, (_, index) => line(1_000 + index, `late ${index}`))
  const shown = shownLines([...early, ...late], broken)
  expect(shown[0]).toBe('            … 100 lines left out')
  expect(shown.slice(1)).toHaveLength(60)
})
