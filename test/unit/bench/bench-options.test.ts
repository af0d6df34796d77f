/** Goal: what the bench is told to measure is what it measures, and a mistake is told instead of measured. */
import { describe, expect, test } from 'vitest'
import { HELP, MEASUREMENTS, readOptions } from '../../bench/options.ts'

describe('the options of the bench', () => {
  test('without any, everything is measured, at rates that the closed loop decides', () => {
    expect(readOptions([])).toMatchObject({ only: MEASUREMENTS, openLoop: [], seconds: 10, json: undefined })
  })

  test('--only chooses, in the order in which measurements follow each other', () => {
    expect(readOptions(['--only', 'queries, submit'])?.only).toEqual(['submit', 'queries'])
  })

  test.each(['submit,', 'submits', ''])('--only %j is refused, and all names are told', (text) => {
    expect(() => readOptions(['--only', text])).toThrow(MEASUREMENTS.join(', '))
  })

  test('--open-loop takes several rates', () => {
    expect(readOptions(['--open-loop', '100,2500'])?.openLoop).toEqual([100, 2_500])
  })

  test.each(['0', '-5', '1.5', 'fast', '100,', '50001'])('--open-loop %s is refused', (text) => {
    expect(() => readOptions([`--open-loop=${text}`])).toThrow('--open-loop must be a whole number from 1 to 50000')
  })

  test('--growth takes sizes: accounts, with one transaction each or as many as are named', () => {
    expect(readOptions(['--growth', '10000, 1000000:10000000'])?.growth).toEqual([
      { accounts: 10_000, transactionsEach: 1 },
      { accounts: 1_000_000, transactionsEach: 10 },
    ])
    expect(readOptions([])?.growth).toEqual([])
  })

  test.each(['', '0', '100,', '10000001', '1e6', '10:'])('--growth %j is no size', (text) => {
    expect(() => readOptions([`--growth=${text}`])).toThrow('--growth: a size is 1 to 10000000 accounts')
  })

  test.each(['10:15', '10:5', '10:0', '10:1000000'])('--growth %j gives accounts what they cannot have', (text) => {
    expect(() => readOptions([`--growth=${text}`])).toThrow('--growth: every account has the same number')
  })

  test.each([
    [[], undefined],
    [['--soak'], 60],
    [['--soak', '--accounts', '500'], 60],
    [['--soak', '90'], 90],
    [['--soak=0.5'], 0.5],
  ] as const)('%j soaks for %s minutes', (args, minutes) => {
    expect(readOptions(args)?.soakMinutes).toBe(minutes)
  })

  test.each(['0', '0.2', '-5', 'long', '10081'])('--soak %s is refused', (text) => {
    expect(() => readOptions([`--soak=${text}`])).toThrow('--soak must be minutes')
  })

  test('help names every measurement', () => {
    expect(readOptions(['--help'])).toBeUndefined()
    expect(MEASUREMENTS.filter((name) => !HELP.includes(`\n  ${name} `))).toEqual([])
  })
})
