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

  test('help names every measurement', () => {
    expect(readOptions(['--help'])).toBeUndefined()
    expect(MEASUREMENTS.filter((name) => !HELP.includes(`\n  ${name} `))).toEqual([])
  })
})
