import { expect, test } from 'vitest'
import { readOwnRate, readRate, showOwnRate, showRate } from '../../../actors/rate.ts'

test.for([
  ['50', { perSecond: 50, burst: 50 }],
  ['50/200', { perSecond: 50, burst: 200 }],
  ['0.5', { perSecond: 0.5, burst: 1 }],
  ['2.5/1', { perSecond: 2.5, burst: 1 }],
  ['1000000/1000000', { perSecond: 1_000_000, burst: 1_000_000 }],
] as const)('%s is a rate with a burst, and is read as it is shown', ([text, rate]) => {
  expect(readRate(text)).toEqual(rate)
  expect(readRate(showRate(rate))).toEqual(rate)
})

test.for(['', '0', '0.0001', '-1', '1/0', '1/2.5', '1/', '/1', '1e3', ' 1', '1 ', '1000001', '1/1000001', 'none'])(
  '%j is no rate',
  (text) => {
    expect(readRate(text)).toBeUndefined()
  },
)

test('a client may have no limit where there is a default', () => {
  expect(readOwnRate('none')).toBe('none')
  expect([showOwnRate('none'), showOwnRate(null), showOwnRate({ perSecond: 5, burst: 9 })]).toEqual([
    'none',
    null,
    '5/9',
  ])
})
