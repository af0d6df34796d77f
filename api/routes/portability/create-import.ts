/** POST /v1/imports: one part of what another ledger exported to this one (D20). */
import { type JsonObject, MAX_JSON_DEPTH } from '../../../actors/canonical-json.ts'
import type { GivenRecord } from '../../../runtime/ports/ledger-imports.ts'
import { importAnswer, invalidOfFault } from '../../views/import-views.ts'
import { administer } from '../../endpoint/administer.ts'
import { unavailableProblem } from '../../endpoint/refusals.ts'
import type { AccountScope } from '../../../actors/account-scope.ts'
import type { SchemaValidator } from '../../../runtime/ports/schema-validator.ts'
import { ADMINS, type Endpoint } from '../../endpoint/route.ts'
import { readJsonBody } from '../../http/body.ts'
import { type Invalid, invalidProblem, MAX_ERRORS, notFound, type Problem } from '../../http/problem.ts'
import { importPartSchema, readImportPart } from '../../schemas/requests/import-part.ts'
import { recordErrors, recordKindOf } from '../../schemas/requests/export-records.ts'
import { isRecord } from '../../../actors/shapes.ts'
import { importDoneResponse, importUnderWayResponse } from '../../schemas/responses/import.ts'

export const createImport: Endpoint = {
  id: 'createImport',
  method: 'POST',
  path: '/v1/imports',
  summary: 'Import a part of an export',
  description: `Takes the lines of an export, in parts of at most 1 MB: part 0 first, each with the lines that follow those of the part before; the last one ends with the proof and says \`last\`. Each is checked before it is stored. \`ledger import FILE\` does all of this.

With the last part the service checks all records against each other, and then applies all of them or none. The response is 200 with a summary, or 202 after half a minute: send the last part again to wait again. A repeated part changes nothing. An import without a new part for a day is dropped.

The export must come from a trusted ledger, be signed by a key that is pinned in the configuration, and name this ledger as its audience. A record that was imported before stays as it is and counts as \`present\`; a different resource of the same name refuses the whole import.`,
  roles: ADMINS,
  changes: 'store',
  administrative: ['import_id', 'part', 'records', 'last'],
  body: importPartSchema,
  answers: [
    { status: 200, description: 'Everything is taken in.', content: importDoneResponse },
    {
      status: 202,
      description: 'The part is stored; or all parts are, and the import is under way.',
      content: importUnderWayResponse,
    },
  ],
  refusals: {
    ERR_NOT_FOUND: 'The client is scoped to accounts, and the account that `errors` names is none of them.',
    ERR_CONFLICT:
      'The part is not the one that comes next, or there with another content; too many imports are being staged; or something else of the name of a record is here: `errors` names the record, and nothing was taken in.',
    ERR_FORBIDDEN:
      'The role does not permit it; the ledger, or the key that signed the proof, is not among those trusted.',
    ERR_SIGNATURE_MISMATCH: 'The signature of the proof is not one by the key that it names.',
    ERR_WRONG_LEDGER: 'The export is addressed to another ledger.',
    ERR_OVERLOADED: 'There is more to judge than is taken at this moment.',
    ERR_UNKNOWN_FIELD: 'A record, which is signed, has an unknown member.',
    ERR_INVALID_ACCOUNT_ID: '',
    ERR_INVALID_SIGNATURE: 'A signature is missing, or of an attestation, and not one by the ledger that exported it.',
    ERR_INVALID_TOKEN_ID: 'A balance is in no token of the file.',
    ERR_INVALID_SYMBOL: '',
    ERR_INVALID_DECIMALS: '',
    ERR_INVALID_ISSUER: '',
    ERR_INVALID_TOTAL_SUPPLY: 'It is missing or no supply, or accounts have more than that.',
    ERR_INVALID_INITIAL_SUPPLY: '',
    ERR_INVALID_BALANCE: '',
    ERR_INVALID_CREATED_AT: '',
    ERR_INVALID_UPDATED_AT: '',
    ERR_INVALID_TIMESTAMP: '',
    ERR_INVALID_PROOF_SYSTEM: '',
    ERR_INVALID_PROOF_HASH: '',
    ERR_INVALID_CLASS_ID: '',
    ERR_INVALID_NAME: '',
    ERR_INVALID_SCHEMA: '',
    ERR_INVALID_REQUESTER: '',
    ERR_INVALID_TXN_COUNT: '',
    ERR_INVALID_PUBLIC_KEY: '',
    ERR_INVALID_TYPE: 'The type of an entry of a history is not `mint`, `transfer` or `burn`.',
  },
  async handle(context, call) {
    const { imports, readPublicKey, schemas } = context
    const { http, caller, scope } = call
    const body = await readJsonBody(http.req.raw, { maxParts: MAX_PARTS, maxDepth: MAX_DEPTH })
    if (!body.ok) return body.error
    const read = readImportPart(body.value)
    if (!read.ok) return invalidProblem('validation-error', read.error)
    const { importId, part, records, last } = read.value
    const shapes = records.map((record, index) => recordErrors(record, `records[${index}]`, readPublicKey))
    const given: GivenRecord[] = records.map((record, index) => ({ record, wellFormed: shapes[index]?.length === 0 }))
    const unusable = await schemaErrorsOf(given, schemas)
    if (unusable === 'overloaded') return unavailableProblem('overloaded', 'not_applied')
    for (const { index } of unusable) given[index] = { record: records[index] ?? {}, wellFormed: false }
    const hidden = outsideOf(scope, given)
    if (hidden !== undefined) return hidden
    return administer(context, call, body.value, async () => {
      const outcome = await imports.take({ importId, part, records: given, last, caller })
      const wrong = [...shapes.flat(), ...unusable.map(({ invalid }) => invalid)]
      if (wrong.length === 0) return importAnswer(importId, outcome)
      const found = 'faults' in outcome ? outcome.faults.map(invalidOfFault) : []
      return invalidProblem('validation-error', unique([...wrong, ...found]))
    })
  },
}

/** Records have many fields: three times what other bodies may have. */
const MAX_PARTS = 150_000
/** A record stands in a list in the body, where what minted or registered it was the body: so each has the bound of a body. */
const MAX_DEPTH = MAX_JSON_DEPTH + 2

interface UnusableSchema {
  readonly index: number
  readonly invalid: Invalid
}

/** The schema of an imported class must be valid: mints are checked against it. */
async function schemaErrorsOf(
  given: readonly GivenRecord[],
  schemas: SchemaValidator,
): Promise<readonly UnusableSchema[] | 'overloaded'> {
  const found: UnusableSchema[] = []
  for (const [index, { record, wellFormed }] of given.entries()) {
    if (!wellFormed || recordKindOf(record) !== 'nft_class') continue
    const { metadata_schema: schema } = record
    if (!isRecord<JsonObject>(schema)) continue
    const verdict = await schemas.check(schema)
    if (verdict.kind === 'overloaded') return 'overloaded'
    if (verdict.kind === 'valid') continue
    const field = `records[${index}].metadata_schema`
    found.push({ index, invalid: { field, code: 'ERR_INVALID_SCHEMA', message: verdict.reason } })
  }
  return found
}

/** The account of a record; a class or a token belongs to the account of its issuer. */
const NAMING = {
  account: 'account_id',
  used_keys: 'account_id',
  token: 'issuer',
  nft_class: 'issuer',
  nft_instance: 'owner',
}

/** A client that is scoped to accounts brings in none of others. */
function outsideOf(scope: AccountScope, given: readonly GivenRecord[]): Problem | undefined {
  for (const [index, { record, wellFormed }] of given.entries()) {
    const kind = recordKindOf(record)
    if (!wellFormed || kind === undefined || !(kind in NAMING)) continue
    const field = NAMING[kind as keyof typeof NAMING]
    const accountId = record[field]
    if (typeof accountId !== 'string' || scope.includes(accountId)) continue
    return notFound('There is no such account.', `records[${index}].${field}`)
  }
  return undefined
}

/** One for each field; no more than are told, and one, so that it is told that there are more. */
function unique(invalid: readonly Invalid[]): readonly Invalid[] {
  const byField = new Map<string, Invalid>()
  for (const one of invalid) if (!byField.has(one.field)) byField.set(one.field, one)
  return [...byField.values()].slice(0, MAX_ERRORS + 1)
}
