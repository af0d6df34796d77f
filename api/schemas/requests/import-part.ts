/** The shape of one part of an import, around its records (export-records.ts). */
import * as v from 'valibot'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { ok, type Result } from '../../../actors/result.ts'
import type { Invalid } from '../../http/problem.ts'
import { define } from '../named-schema.ts'
import { groupIdField, objectField } from '../fields.ts'
import { readBody } from '../read-body.ts'

const PART_RULE = 'must be a whole number, from 0'
const RECORDS_RULE = 'must be a list of at least one record'
const LAST_RULE = 'must be true or false'

export const importPartSchema = define('ImportPart', 'Lines of an export, in their order.', {
  import_id: [groupIdField, 'Chosen by the client: names the import over all its parts.'],
  part: [v.pipe(v.number(PART_RULE), v.safeInteger(PART_RULE), v.minValue(0, PART_RULE)), 'Which part it is, from 0.'],
  records: [
    v.pipe(v.array(objectField('must be an object'), RECORDS_RULE), v.minLength(1, RECORDS_RULE)),
    'The lines of the file, unchanged.',
  ],
  last: [v.boolean(LAST_RULE), 'Whether it ends the file.'],
})

export interface GivenPart {
  /** Lower case. */
  readonly importId: string
  readonly part: number
  readonly records: readonly JsonObject[]
  readonly last: boolean
}

export function readImportPart(body: JsonObject): Result<GivenPart, readonly Invalid[]> {
  const read = readBody(importPartSchema, body)
  if (!read.ok) return read
  const { import_id: importId, part, records, last } = read.value
  return ok({ importId: importId.toLowerCase(), part, records, last })
}
