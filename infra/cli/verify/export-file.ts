/**
 * Reads saved responses of the API: pages of audit chains and of the administrative chain, receipts, assertions, proofs of
 * liabilities, statements and JWKS documents.
 * A file is one JSON value, a list of values, or one value a line (NDJSON).
 */
import * as v from 'valibot'
import type { Json } from '../../../actors/canonical-json.ts'
import { parseStrictJson } from '../../../api/http/json-text.ts'
import type { Assertion, GivenEntry, KeySet, LiabilityProof, Receipt, Statement } from '../../../api/client/index.ts'
import { jwksSchema } from '../../keys/jwks.ts'
import { CommandFailed } from '../common/command.ts'
import type { ReceiptKeys } from './jwks.ts'

export interface ExportedPage {
  /** The account_id of the page, if it has one. */
  readonly accountId: string | undefined
  /** The total_count of the page, if it has one. */
  readonly total: number | undefined
  readonly entries: readonly GivenEntry[]
}

export interface Exported {
  readonly pages: ExportedPage[]
  readonly administrative: AdministrativePage[]
  readonly receipts: Receipt[]
  readonly assertions: Assertion[]
  readonly proofs: LiabilityProof[]
  readonly statements: Statement[]
}

export function noneExported(): Exported {
  return { pages: [], administrative: [], receipts: [], assertions: [], proofs: [], statements: [] }
}

const HASH = /^sha256:[0-9a-f]{64}$/
const hashSchema = v.pipe(v.string(), v.regex(HASH))
const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const entrySchema = v.object({
  sequence: countSchema,
  txn_id: v.nullable(v.string()),
  previous_hash: hashSchema,
  audit_hash: hashSchema,
  payload: v.nullable(v.string()),
})
const pageSchema = v.object({
  account_id: v.optional(v.string()),
  total_count: v.optional(v.number()),
  entries: v.array(v.unknown()),
})
const administrativePageSchema = v.object({
  ledger_id: v.string(),
  entries: v.array(v.omit(entrySchema, ['txn_id'])),
  head: v.optional(
    v.looseObject({
      sequence: countSchema,
      audit_hash: hashSchema,
      total_count: countSchema,
      at: v.string(),
      signature: v.string(),
    }),
  ),
})
export type AdministrativePage = v.InferOutput<typeof administrativePageSchema>

/** The ledger signs no page without entries: an empty list with a head was emptied. */
export function isSignedOrFilled({ entries, head }: AdministrativePage): boolean {
  return entries.length > 0 || head !== undefined
}

const receiptSchema = v.object({ receipt: v.record(v.string(), v.unknown()), signature: v.string() })
const assertionSchema = v.object({
  assertion_type: v.string(),
  result: v.record(v.string(), v.unknown()),
  signature: v.string(),
})
const statementSchema = v.looseObject({ opening: v.string(), movements: v.array(v.unknown()), signature: v.string() })
const proofSchema = v.object({
  account_id: v.string(),
  merkle_root: hashSchema,
  totals: v.array(v.object({ token_id: v.string(), root: hashSchema, total: v.string() })),
  proofs: v.array(
    v.object({
      token_id: v.string(),
      amount: v.string(),
      shares: v.array(
        v.object({
          index: countSchema,
          amount: v.string(),
          nonce: v.string(),
          siblings: v.array(v.object({ hash: hashSchema, sum: v.string() })),
        }),
      ),
    }),
  ),
  assertion: assertionSchema,
})

/** Adds the values of a file to `found`. `name`: of the file, for messages. Throws CommandFailed for any unknown value. */
export function readExport(text: string, name: string, found: Exported): void {
  const { pages, administrative, receipts, assertions, proofs, statements } = found
  const loose: GivenEntry[] = []
  for (const value of valuesOf(text, name)) {
    const assertion = v.safeParse(assertionSchema, value)
    if (assertion.success) assertions.push(assertion.output as object as Assertion)
    else if (looksLikeProof(value)) proofs.push(readProof(value, name))
    else if (v.is(statementSchema, value)) {
      statements.push(value as object as Statement)
    } else if (v.is(receiptSchema, value)) {
      receipts.push(value as object as Receipt)
    } else if (looksAdministrative(value)) {
      administrative.push(readAdministrative(value, name))
    } else if (v.is(pageSchema, value)) {
      const entries = value.entries.map((entry) => readEntry(entry, name))
      pages.push({ accountId: value.account_id, total: value.total_count, entries })
    } else loose.push(readEntry(value, name))
  }
  if (loose.length > 0) pages.push({ accountId: undefined, total: undefined, entries: loose })
}

export function readJwks(text: string, name: string): ReceiptKeys {
  const [value] = valuesOf(text, name)
  const read = v.safeParse(jwksSchema, value)
  if (!read.success) throw new CommandFailed(`${name} is not a JWKS document of a ledger`)
  return { name, ledgerId: read.output.ledger_id, keys: read.output.keys, document: value as object as KeySet }
}

function looksLikeProof(value: Json): boolean {
  return v.is(v.object({ proofs: v.array(v.unknown()) }), value)
}

function readProof(value: Json, name: string): LiabilityProof {
  const read = v.safeParse(proofSchema, value)
  if (read.success) return value as object as LiabilityProof
  throw new CommandFailed(
    `${name}: a value is not a proof of liabilities (wrong: ${v.getDotPath(read.issues[0]) ?? 'the whole value'})`,
  )
}

/** A page of an account's chain names an account instead. */
function looksAdministrative(value: Json): boolean {
  return v.is(v.object({ ledger_id: v.string(), entries: v.array(v.unknown()) }), value)
}

function readAdministrative(value: Json, name: string): AdministrativePage {
  const read = v.safeParse(administrativePageSchema, value)
  if (read.success) return read.output
  const field = v.getDotPath(read.issues[0]) ?? 'the whole value'
  throw new CommandFailed(`${name}: a value is not a page of the administrative chain (wrong: ${field})`)
}

function readEntry(value: unknown, name: string): GivenEntry {
  const read = v.safeParse(entrySchema, value)
  if (!read.success) {
    const sequence = v.is(v.object({ sequence: v.number() }), value) ? `entry ${value.sequence}` : 'a value'
    const field = v.getDotPath(read.issues[0]) ?? 'the whole value'
    throw new CommandFailed(
      `${name}: ${sequence} is neither an entry of an audit chain nor a receipt (wrong: ${field})`,
    )
  }
  return read.output
}

/** The values of a file; lists are flattened. */
function valuesOf(text: string, name: string): readonly Json[] {
  const whole = parseStrictJson(text)
  if (whole.ok) return itemsOf(whole.value)
  const lines = [...text.split('\n').entries()].filter(([, line]) => line.trim() !== '')
  return lines.flatMap(([index, line]) => {
    const value = parseStrictJson(line)
    if (value.ok) return itemsOf(value.value)
    throw new CommandFailed(`${lines.length > 1 ? `${name}, line ${index + 1}` : name}: ${value.error.message}`)
  })
}

function itemsOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [value]
}
