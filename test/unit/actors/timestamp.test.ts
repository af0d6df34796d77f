import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isoTimestamp, parseTimestamp } from '../../../actors/timestamp.ts'

describe('timestamps', () => {
  test('what is written can be read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (timeMs) => {
        expect(parseTimestamp(isoTimestamp(timeMs))).toBe(timeMs)
      }),
    )
  })

  test.for([
    ['1970-01-01T00:00:00Z', 0],
    ['2025-06-01T10:59:00Z', Date.UTC(2025, 5, 1, 10, 59)],
    ['2024-02-29T23:59:59.999Z', Date.UTC(2024, 1, 29, 23, 59, 59, 999)],
    ['2000-02-29t12:00:00z', Date.UTC(2000, 1, 29, 12)],
    ['2025-03-01T01:30:00+01:30', Date.UTC(2025, 2, 1)],
    ['2025-03-01T01:59:00+01:59', Date.UTC(2025, 2, 1)],
    ['2025-12-31T23:00:00-05:45', Date.UTC(2026, 0, 1, 4, 45)],
    ['2025-06-01T00:00:00-00:00', Date.UTC(2025, 5, 1)],
    ['1969-12-31T23:59:59.5Z', -500],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000],
    ['2026-02-28T23:30:00.5-01:30', Date.UTC(2026, 2, 1, 1, 0, 0, 500)],
    ['9999-12-31T23:59:59Z', Date.UTC(9999, 11, 31, 23, 59, 59)],
  ] as const)('%s is read exactly', ([text, timeMs]) => {
    expect(parseTimestamp(text)).toBe(timeMs)
  })

  test('every day of eight centuries agrees with the calendar of the platform', () => {
    let wrong = 0
    for (let day = Date.UTC(1600, 0, 1); day < Date.UTC(2400, 0, 1); day += 86_400_000) {
      if (parseTimestamp(new Date(day).toISOString()) !== day) wrong += 1
    }
    expect(wrong).toBe(0)
  })

  test.for([
    ['0.0001', 0.5],
    ['0.00000000000000000000001', 0.5],
    ['0.9990000', 999],
    ['0.99900000000001', 999.5],
    ['0.1', 100],
  ] as const)('T4: a fraction of %s s compares exactly with whole milliseconds', ([fraction, expected]) => {
    expect(parseTimestamp(`1970-01-01T00:00:00${fraction.slice(1)}Z`)).toBe(expected)
  })

  test('T3: a leap second is read where there can be one, and nowhere else', () => {
    expect(parseTimestamp('2016-12-31T23:59:60Z')).toBe(Date.UTC(2017, 0, 1))
    expect(parseTimestamp('2015-07-01T01:59:60+02:00')).toBe(Date.UTC(2015, 6, 1))
    expect(parseTimestamp('2016-12-30T23:59:60Z')).toBeUndefined()
    expect(parseTimestamp('2016-12-31T22:59:60Z')).toBeUndefined()
  })

  test.for([
    '',
    '2025-01-01',
    '2025-01-01T00:00:00',
    '2025-01-01 00:00:00Z',
    '2025-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2025-04-31T00:00:00Z',
    '2025-00-10T00:00:00Z',
    '2025-13-10T00:00:00Z',
    '2025-01-00T00:00:00Z',
    '2025-01-01T24:00:00Z',
    '2025-01-01T00:60:00Z',
    '2025-01-01T00:00:61Z',
    '2025-01-01T00:00:00+24:00',
    '2025-01-01T00:00:00+0100',
    '2025-01-01T00:00:00.Z',
    '2025-01-01T00:00:00,5Z',
    '+2025-01-01T00:00:00Z',
    ' 2025-01-01T00:00:00Z',
    '2025-01-01T00:00:00Z\n',
    `2025-01-01T00:00:00.${'0'.repeat(60)}Z`,
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2025-01-01T00:00:60Z',
  ])('T1, T2, T5: %j is no timestamp', (text) => {
    expect(parseTimestamp(text)).toBeUndefined()
  })
})
