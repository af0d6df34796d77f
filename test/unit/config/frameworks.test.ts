/** The operator names the frameworks and their controls, and unknown controls are refused. */
import { expect, test } from 'vitest'
import { CONTROLS } from '../../../runtime/audit/finding.ts'
import { readConfiguration } from '../../../infra/config/configuration.ts'

function read(text: string | undefined) {
  const result = readConfiguration(text === undefined ? {} : { LEDGER_FRAMEWORKS: text }, '/somewhere')
  return result.ok ? result.value.configuration.frameworks : result.error
}

test('the default is one framework with all controls', () => {
  expect(read(undefined)).toEqual([{ name: 'ledger-integrity-1', controls: CONTROLS }])
})

test('a name alone has all controls, or else the listed ones', () => {
  expect(read('ours-2, books=supply_reconciles+value_is_conserved')).toEqual([
    { name: 'ours-2', controls: CONTROLS },
    { name: 'books', controls: ['supply_reconciles', 'value_is_conserved'] },
  ])
})

test('invalid names, unknown controls and duplicates are refused with the allowed values', () => {
  const wrong = ['a b', ',', 'a,', 'a,a', 'a=', 'a=chains', 'a=chains_verify+chains_verify', 'a=b=c', '-a']
  const many = Array.from({ length: 17 }, (_, index) => `f${index}`).join(',')
  for (const text of [...wrong, many]) {
    expect([text, read(text)]).toEqual([text, [expect.stringContaining('chains_verify, value_is_conserved')]])
  }
})
