/** Texts and figures as the console shows them. */
import { describe, expect, test } from 'vitest'
import { LedgerError } from '../../../api/client/index.ts'
import { failureText } from '../../../api/console/parts/failure-text.ts'
import {
  agoText,
  countText,
  durationText,
  groupedDigits,
  rateText,
  shownTime,
} from '../../../api/console/parts/figures.ts'
import { shownText } from '../../../api/console/parts/shown-text.ts'
import { entryFields } from '../../../api/console/pages/account/entry-fields.ts'

describe('the text of a client', () => {
  const partsOf = (text: string): readonly string[] =>
    shownText(text, 1_000).parts.map((part) => (part.isEscape ? `[${part.text}]` : part.text))

  test('shows characters that change the order of others, and invisible ones', () => {
    expect(partsOf('a\u202Eb\u200Bc\u{E0041}')).toEqual(['a', '[U+202E]', 'b', '[U+200B]', 'c', '[U+E0041]'])
    expect(partsOf('one\ntwo\u0000')).toEqual(['one', '[↵]', 'two', '[U+0000]'])
    expect(partsOf('\uD800x')).toEqual(['[U+D800]', 'x'])
  })

  test('keeps markup, other scripts and emoji as they are', () => {
    for (const text of ['<script>x</script>', '\u05E9\u05DC\u05D5\u05DD', '日本語', '😀', 'é'])
      expect(partsOf(text)).toEqual([text])
  })

  test('has no more marks on a character than any language', () => {
    expect(partsOf(`Z${'\u0310'.repeat(40)}!`)).toEqual([`Z${'\u0310'.repeat(4)}!`])
  })

  test('is cut between characters, and tells how much is left out', () => {
    const { parts, left } = shownText('😀'.repeat(10), 4)
    expect(parts).toEqual([{ text: '😀'.repeat(4), isEscape: false }])
    expect(left).toBe(12)
  })
})

describe('a figure', () => {
  test('has its digits in groups, and loses none of them', () => {
    expect(groupedDigits('-123456789012345678.000000000000000001')).toBe('-123,456,789,012,345,678.000000000000000001')
    expect(groupedDigits('999')).toBe('999')
    expect(groupedDigits('+1000')).toBe('+1,000')
  })

  test('has a unit that fits its size', () => {
    expect([0, 0.44, 12.3, 3_900].map(rateText)).toEqual(['0', '0.4', '12', '3,900'])
    expect([12.4, 1_240].map(durationText)).toEqual(['12 ms', '1.2 s'])
    expect([countText(1, 'entry', 'entries'), countText(1_200, 'movement')]).toEqual(['1 entry', '1,200 movements'])
    expect([1_000, 61_000, 7_200_000, 200_000_000].map((ms) => agoText(0, ms))).toEqual([
      'now',
      '1 minute ago',
      '2 hours ago',
      '2 days ago',
    ])
  })

  test('of a time is that of the ledger, in UTC', () => {
    expect(shownTime('2026-11-29T09:18:01.123Z')).toBe('2026-11-29 09:18:01')
    expect(shownTime('never')).toBe('never')
  })
})

test('an error is told with its fields, the next step and the request', () => {
  const problem = { detail: 'The body is invalid.', errors: [{ field: 'amount', message: 'must be positive' }] }
  const error = new LedgerError('Bad Request', {
    codes: ['ERR_INVALID_AMOUNT'],
    status: 403,
    requestId: 'r1',
    problem: problem as never,
  })
  expect(failureText(error)).toEqual({
    summary: 'The body is invalid. amount: must be positive',
    advice: 'The role or the scope of this client does not permit it.',
    requestId: 'r1',
  })
  expect(failureText('odd')).toEqual({ summary: 'The reason is unknown.' })
})

test('an entry of a chain is named by its type or its kind, also if its payload is erased or no JSON', () => {
  expect(entryFields('{"kind":"transaction","type":"credit","processed_at":"t"}')).toEqual({
    kind: 'credit',
    time: 't',
  })
  expect(entryFields('{"kind":"registration","created_at":"t"}')).toEqual({ kind: 'registration', time: 't' })
  expect(entryFields(null)).toEqual({ kind: 'erased', time: undefined })
  expect(entryFields('{')).toEqual({ kind: 'unreadable', time: undefined })
})
