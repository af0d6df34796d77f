/** The shape of one part of an import, around its records (export-records.ts). */
import * as v from 'valibot'
import type { JsonObject } from '../../actors/canonical-json.ts'
import { isUuid } from '../../actors/identifiers.ts'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { Invalid } from '../http/problem.ts'
import { schemaErrors } from '../http/invalid.ts'
import { isObject } from './nft-class.ts'
import { define } from './named-schema.ts'

const ID_RULE = 'must be a UUID'
const PART_RULE = 'must be a whole number, from 0'
const RECORDS_RULE = 'must be a list of at least one record'
const LAST_RULE = 'must be true or false'

export const importPartSchema = define('ImportPart', 'Lines of an export, in their order.', {
  import_id: [
    v.pipe(v.string(ID_RULE), v.check(isUuid, ID_RULE), v.metadata({ format: 'uuid' })),
    'Chosen by the client: names the import over all its parts.',
  ],
  part: [v.pipe(v.number(PART_RULE), v.safeInteger(PART_RULE), v.minValue(0, PART_RULE)), 'Which part it is, from 0.'],
  records: [
    v.pipe(
      v.array(
        v.pipe(
          v.custom<JsonObject>(isObject, 'must be an object'),
          v.metadata({ type: 'object', additionalProperties: true }),
        ),
        RECORDS_RULE,
      ),
      v.minLength(1, RECORDS_RULE),
    ),
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
  const invalid = schemaErrors(importPartSchema, body)
  if (invalid.length > 0) return refuse(invalid)
  const { import_id: importId, part, records, last } = body as v.InferOutput<typeof importPartSchema>
  return ok({ importId: importId.toLowerCase(), part, records, last })
}
