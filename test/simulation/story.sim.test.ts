/** A story names actors, actions, times and the violation; the run does not depend on it. */
import { expect, test } from 'vitest'
import { FAULT_KINDS } from './cluster/faults.ts'
import { busy } from './mutation-list.ts'
import { ATTACKER, planOf } from './plan.ts'
import { attempt, storyOf } from './runner/runner-attempt.ts'
import { shownLines, type StoryLine } from './story.ts'

test('S1: a run with a story is the same run, and shows commits, messages, owners and faults', async () => {
  const plan = planOf(6)
  const { text, ...replayed } = await storyOf(plan, null, true)
  expect(replayed).toEqual(await attempt(plan, null))
  const all = text.join('\n')
  expect(all).toMatch(/ s {2}shard \d is node-\w’s in epoch 1.0, and was unowned in epoch 0.0/)
  expect(all).toMatch(/node-\w commits shard \d \(epoch \d\.\d\): .*accounts .*accountId account-\d.* balances /)
  expect(all).toMatch(/node-\w -> node-\w: from shard \d \(epoch \d+\) to shard \d: \d+: /)
  expect(all).toMatch(/ s {2}FAULT: /)
  expect(all).not.toMatch(/\b[0-9a-f]{32}\b/)
})

test('client, edge, node and the broken invariant are shown', async () => {
  const plan = { ...planOf(2), faultsMs: 4_000, idleClients: new Set([ATTACKER]) }
  const { text, end } = await storyOf(plan, 'replyBeforeCommit', true)
  const all = text.join('\n')
  expect(all).toMatch(/ s {2}client asks edge-\w: #\d+ register account-\d/)
  expect(all).toMatch(/ s {2}edge-\w -> node-\w: #\d+ \(attempt 1\) register for account-\d, shard \d in epoch \d/)
  expect(all).toMatch(/ s {2}node-\w -> edge-\w: #\d+ \(attempt 1\) .*registered/)
  expect(all).toMatch(/BROKEN:\n {2}at [\d.]+ ms: I10: node-\w#1 replies to register/)
  expect(all).toContain('  I10: An answer leaves only after its commit')
  expect(all).toContain(`hash ${end.hash}`)
})

test('the loss of the database server, the ended processes and the recovery are shown', async () => {
  const failovers = ['blow.failover', 'blow.failover_lossy']
  const without = new Set(FAULT_KINDS.filter((kind) => !failovers.includes(kind)))
  const { text } = await storyOf({ ...busy(14), without, harsh: new Set(failovers) }, null, true)
  const all = text.join('\n')
  expect(all).toContain('FAULT: failover (')
  expect(all).toContain('FAULT: failover lossy (')
  expect(all).toMatch(/node-\w logs server_refused .*the server is on timeline 2, which .* not accepted/)
  expect(all).toContain('an administrator accepts the server')
  expect(all).toContain('the server that was lost is back')
})

test('a long story shows lines about the violation, faults and the end, and counts the omitted lines', () => {
  const line = (atMs: number, text: string, kind: StoryLine['kind'] = 'message'): StoryLine => ({ atMs, kind, text })
  const lines = [
    line(1, 'node-a commits shard 1: account-1 version 1', 'commit'),
    ...Array.from({ length: 200 }, (_, index) => line(2 + index, `of account-12, ${index}`)),
    line(300, 'FAULT: node-a crashes', 'fault'),
    ...Array.from({ length: 100 }, (_, index) => line(301 + index, `of account-13, ${index}`)),
  ]
  const shown = shownLines(lines, [{ name: 'I4', text: 'at 9 ms: I4: 1 account-1: is off' }])
  expect(shown.slice(0, 4)).toEqual([
    '   0.001 s  node-a commits shard 1: account-1 version 1',
    '            … 200 lines left out',
    '   0.300 s  FAULT: node-a crashes',
    '            … 60 lines left out',
  ])
  expect(shown).toHaveLength(44)
  expect(shown.at(-1)).toBe('   0.400 s  of account-13, 99')
})
