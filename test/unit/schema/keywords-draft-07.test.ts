/** What the keywords of draft-07 mean, where `$schema` names it. */
import { keywordTable, type Row } from './keyword-table.ts'
import { COMMON, OURS } from './keywords-common.ts'

const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#' }

const ONLY_HERE: readonly Row[] = [
  [{ items: [{ type: 'string' }, { type: 'number' }] }, [['a', 1], ['a'], [], ['a', 1, {}]], [[1], ['a', 'b']]],
  [{ items: [{ type: 'string' }], additionalItems: { type: 'number' } }, [['a', 1], ['a']], [['a', 'b']]],
  [{ items: {}, additionalItems: false }, [[1, 2]], []],
  [{ additionalItems: false }, [[1, 2]], []],
  [
    { dependencies: { a: ['b'], c: { minProperties: 2 }, d: true, e: false } },
    [{}, { a: 1, b: 1 }, { c: 1, d: 1 }],
    [{ a: 1 }, { c: 1 }, { e: 1 }],
  ],
  [{ $ref: '#/definitions/a', definitions: { a: { type: 'string' } }, minLength: 2 }, ['a'], [1]],
  [{ $ref: '#a', definitions: { x: { $id: '#a', type: 'string' } } }, ['a'], [1]],
  // Of 2020-12, and so nothing here.
  [{ prefixItems: [false], dependentRequired: { a: ['b'] }, unevaluatedProperties: false }, [[1], { a: 1 }], []],
  [{ contains: { const: 1 }, minContains: 2, maxContains: 0 }, [[1]], [[], [2]]],
  [{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, ['a'], [1]],
]

keywordTable('draft-07: what both drafts have', COMMON, DRAFT_07)
keywordTable('draft-07: what is answered here', OURS, DRAFT_07)
keywordTable('draft-07: what 2020-12 has not', ONLY_HERE, DRAFT_07)
keywordTable('draft-07: without the mark at the end of its name', COMMON.slice(0, 1), {
  $schema: 'http://json-schema.org/draft-07/schema',
})
