/** Tests that the auditor's coverage and its time are never overstated. */
import { expect, test } from 'vitest'
import { CONTROLS } from '../../../runtime/audit/finding.ts'
import { startOf, WHOLE_PASS } from '../../../infra/audit/pass.ts'
import {
  asOfMsOf,
  type AuditProgress,
  beginPass,
  coveredBy,
  currentPass,
  newProgress,
  notePass,
  noteSince,
  noteUnlisted,
  readProgress,
  type TailPlace,
} from '../../../infra/audit/progress.ts'

const NEW = newProgress('7', 1_000)
const seen = (entries: number) => ({ checked: { chains_verify: entries }, findings: [] })

function tail(changes: Partial<TailPlace>): AuditProgress {
  return { ...NEW, tail: { ...NEW.tail, asOfMs: 100, momentAtMs: 70, suppliesAtMs: 75, ...changes } }
}

test('the time is unknown before everything was checked once', () => {
  expect(asOfMsOf(NEW, ['provenance'])).toBeNull()
  expect(asOfMsOf(NEW, CONTROLS)).toBeNull()
  expect(asOfMsOf(tail({ momentAtMs: null }), CONTROLS)).toBeNull()
  expect(asOfMsOf(tail({ suppliesAtMs: null }), CONTROLS)).toBeNull()
  expect(asOfMsOf(tail({ momentAtMs: null, suppliesAtMs: null }), ['provenance'])).toBe(100)
})

test('the time is that of the oldest check of the requested subjects', () => {
  expect(asOfMsOf(tail({}), ['provenance'])).toBe(100)
  expect(asOfMsOf(tail({}), ['value_is_conserved'])).toBe(70)
  expect(asOfMsOf(tail({}), ['supply_reconciles'])).toBe(75)
  expect(asOfMsOf(tail({ momentAtMs: 95, suppliesAtMs: 95 }), CONTROLS)).toBe(95)
})

test('P1: a pass counts once it is complete, with the counts of the tail since then', () => {
  const begun = beginPass(NEW, 1_000)
  expect(begun.pass).toMatchObject({ beganXid: '7', place: startOf(WHOLE_PASS) })
  const within = notePass(noteSince(begun, { chains_verify: 2 }), { walk: 'chains', cursor: null }, seen(10), 1_001)
  expect([coveredBy(within), within.last]).toEqual([{}, null])
  const complete = notePass(noteSince(within, { chains_verify: 3 }), null, seen(20), 1_002)
  expect([coveredBy(complete), complete.pass]).toEqual([{ chains_verify: 35 }, null])
  const next = noteSince(beginPass(complete, 2_000), { chains_verify: 4 })
  expect(coveredBy(next)).toEqual({ chains_verify: 39 })
  expect(coveredBy(notePass(next, null, seen(33), 2_001))).toEqual({ chains_verify: 37 })
})

test('P2: numbers of passes grow even if the clock does not', () => {
  const first = notePass(beginPass(NEW, 5_000), null, seen(1), 5_001)
  expect([currentPass(NEW), currentPass(beginPass(NEW, 5_000)), currentPass(first)]).toEqual([0, 5_000, 5_000])
  expect(currentPass(beginPass(first, 4_000))).toBe(5_001)
})

test('unlisted findings count for the current pass, or else for the last', () => {
  const counts = { provenance: 3 }
  expect(noteUnlisted(NEW, counts)).toEqual(NEW)
  const begun = beginPass(NEW, 1)
  expect(noteUnlisted(begun, counts).pass?.unlisted).toEqual(counts)
  const complete = notePass(begun, null, seen(1), 2)
  expect(noteUnlisted(complete, counts).last?.unlisted).toEqual(counts)
})

test('a step outside of a pass changes nothing', () => {
  expect(notePass(NEW, null, seen(1), 1)).toEqual(NEW)
})

test('a document of another format is ignored', () => {
  expect(readProgress(JSON.stringify(NEW))).toEqual(NEW)
  const unseen = tail({ suppliesAtMs: null })
  expect(readProgress(JSON.stringify(unseen))).toEqual(unseen)
  expect(readProgress('{"format":1}')).toBeUndefined()
})
