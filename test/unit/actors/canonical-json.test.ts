/** RFC 8785: the vectors of the RFC and of its authors. */
import { describe, expect, test } from 'vitest'
import { canonicalJson, type Json } from '../../../actors/canonical-json.ts'

describe('RFC 8785', () => {
  /** testdata/ of github.com/cyberphone/json-canonicalization, Copyright 2018 Anders Rundgren, Apache License 2.0. */
  test.for([
    [
      'arrays',
      '[\n  56,\n  {\n    "d": true,\n    "10": null,\n    "1": [ ]\n  }\n]\n',
      '[56,{"1":[],"10":null,"d":true}]',
    ],
    [
      'french',
      '{\n  "peach": "This sorting order",\n  "p\u00e9ch\u00e9": "is wrong according to French",\n  "p\u00eache": "but canonicalization MUST",\n  "sin":   "ignore locale"\n}\n',
      '{"peach":"This sorting order","p\u00e9ch\u00e9":"is wrong according to French","p\u00eache":"but canonicalization MUST","sin":"ignore locale"}',
    ],
    [
      'structures',
      '{\n  "1": {"f": {"f": "hi","F": 5} ,"\\n": 56.0},\n  "10": { },\n  "": "empty",\n  "a": { },\n  "111": [ {"e": "yes","E": "no" } ],\n  "A": { }\n}',
      '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
    ],
    ['unicode', '{\n  "Unnormalized Unicode":"A\\u030a"\n}\n', '{"Unnormalized Unicode":"A\u030a"}'],
    [
      'values',
      '{\n  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n  "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",\n  "literals": [null, true, false]\n}',
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ],
    [
      'weird',
      '{\n  "\\u20ac": "Euro Sign",\n  "\\r": "Carriage Return",\n  "\\u000a": "Newline",\n  "1": "One",\n  "\\u0080": "Control\\u007f",\n  "\\ud83d\\ude02": "Smiley",\n  "\\u00f6": "Latin Small Letter O With Diaeresis",\n  "\\ufb33": "Hebrew Letter Dalet With Dagesh",\n  "</script>": "Browser Challenge"\n}\n',
      '{"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign","\ud83d\ude02":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
  ] as const)('the vector %s', ([, input, output]) => {
    expect(canonicalJson(JSON.parse(input) as Json)).toBe(output)
  })

  test('keys are ordered by UTF-16 code units, independent of the input order (3.2.3)', () => {
    expect(canonicalJson({ '\ue000': 1, '\u{1f600}': 2, '9': 3, '10': 4 })).toBe(
      '{"10":4,"9":3,"\u{1f600}":2,"\ue000":1}',
    )
  })
})
