/** POST /v1/imports: one part of what another ledger exported to this one (D20). */
import type { AccountScope } from '../../../actors/account-scope.ts'
import { type JsonObject, MAX_JSON_DEPTH } from '../../../actors/canonical-json.ts'
import type { GivenRecord } from '../../../runtime/ports/ledger-imports.ts'
import type { SchemaValidator } from '../../../runtime/ports/schema-validator.ts'
import { readJsonBody } from '../../http/body.ts'
import type { EdgeDependencies } from '../../http/dependencies.ts'
import { importAnswer, invalidOfFault } from '../../views/import-views.ts'
import { type Invalid, invalidProblem, MAX_ERRORS, notFound, type Problem } from '../../http/problem.ts'
import { unavailableProblem } from '../../endpoint/refusals.ts'
import { ADMINS, type GuardedRoute } from '../../endpoint/route.ts'
import { readImportPart } from '../../schemas/import-part.ts'
import { recordErrors, recordKindOf } from '../../schemas/import-records.ts'
import { isObject } from '../../schemas/nft-class.ts'

/** Records have many fields: three times what other bodies may have. */
const MAX_PARTS = 150_000
/** A record stands in a list in the body, where what minted or registered it was the body: so each has the bound of a body. */
const MAX_DEPTH = MAX_JSON_DEPTH + 2

export function createImport({ imports, readPublicKey, schemas }: EdgeDependencies): GuardedRoute {
  return {
    access: 'token',
    method: 'POST',
    path: '/v1/imports',
    roles: ADMINS,
    asksLedger: true,
    async handle({ http, caller, scope }) {
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
      const outcome = await imports.take({ importId, part, records: given, last, caller })
      const wrong = [...shapes.flat(), ...unusable.map(({ invalid }) => invalid)]
      if (wrong.length === 0) return importAnswer(importId, outcome)
      const found = outcome.kind === 'invalid' ? outcome.faults.map(invalidOfFault) : []
      return invalidProblem('validation-error', unique([...wrong, ...found]))
    },
  }
}

interface UnusableSchema {
  readonly index: number
  readonly invalid: Invalid
}

/** What minting will be held against must be something that can be held to. */
async function schemaErrorsOf(
  given: readonly GivenRecord[],
  schemas: SchemaValidator,
): Promise<readonly UnusableSchema[] | 'overloaded'> {
  const found: UnusableSchema[] = []
  for (const [index, { record, wellFormed }] of given.entries()) {
    if (!wellFormed || recordKindOf(record) !== 'nft_class') continue
    const { metadata_schema: schema } = record
    if (!isObject(schema)) continue
    const verdict = await schemas.check(schema as JsonObject)
    if (verdict.kind === 'overloaded') return 'overloaded'
    if (verdict.kind === 'valid') continue
    const field = `records[${index}].metadata_schema`
    found.push({ index, invalid: { field, code: 'ERR_INVALID_SCHEMA', message: verdict.reason } })
  }
  return found
}

/** Whose account is named; what a class or a token has issued belongs to its issuer. */
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
