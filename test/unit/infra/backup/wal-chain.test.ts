import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WalPiece } from '../../../../infra/backup/backup-directory.ts'
import { chainOf } from '../../../../infra/backup/wal-copy.ts'
import { formatPosition, parsePosition, segmentName, segmentStart } from '../../../../infra/backup/wal-position.ts'

const SEGMENT = 16 * 1_048_576

function piece([start, end]: readonly [number, number]): WalPiece {
  return { timeline: '00000001', start, end, atMs: 0 }
}

function reached(pieces: readonly (readonly [number, number])[], from: number): number {
  return chainOf(pieces.map(piece), from).at(-1)?.end ?? from
}

describe('the chain of WAL pieces', () => {
  test('ends where bytes are missing, and has no gap', () => {
    const ranges = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 10 })), { maxLength: 12 })
    fc.assert(
      fc.property(ranges, fc.nat(10), (drawn, from) => {
        const pieces = drawn.map(([start, length]) => [start, start + length] as const)
        let end = from
        while (pieces.some(([start, stop]) => start <= end && end < stop)) end += 1
        expect(reached(pieces, from)).toBe(end)
        let at = from
        for (const { start, end: next } of chainOf(pieces.map(piece), from)) {
          expect([start <= at, next > at]).toEqual([true, true])
          at = next
        }
      }),
    )
  })

  test('is empty without a piece at its beginning', () => {
    expect(chainOf([piece([5, 9])], 4)).toEqual([])
  })
})

describe('a position in the WAL', () => {
  test('has the text of PostgreSQL, and the file of pg_walfile_name', () => {
    expect([parsePosition('16/B374D848'), formatPosition(parsePosition('16/B374D848'))]).toEqual([
      0x16_b3_74_d8_48,
      '16/B374D848',
    ])
    expect(segmentName('00000001', parsePosition('16/B374D848'), SEGMENT)).toBe('0000000100000016000000B3')
    expect(segmentStart(parsePosition('16/B374D848'), SEGMENT)).toBe(parsePosition('16/B3000000'))
    expect(() => parsePosition('16-B3')).toThrow('is no position in the WAL')
  })
})
