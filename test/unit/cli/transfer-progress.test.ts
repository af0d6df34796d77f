import { expect, test } from 'vitest'
import { progressText, sizeText } from '../../../infra/cli/backup/transfer-progress.ts'

test('names bytes, per cent, rate and remaining time', () => {
  expect(progressText(1_048_576, 4_194_304, 2_000)).toBe('1.0 MiB of 4.0 MiB, 25 %, 512.0 KiB/s, 6 s left')
  expect(progressText(0, 4_194_304, 2_000)).toBe('0 B of 4.0 MiB, 0 %, 0 B/s')
  expect(progressText(1, 1_000_000, 1_000)).toContain('277 h 46 min left')
  expect(progressText(0, 0, 0)).toContain('100 %')
})

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KiB'],
  [5 * 2 ** 40, '5.0 TiB'],
  [5 * 2 ** 50, '5120.0 TiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
