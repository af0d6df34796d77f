/**
 * Statements of checkpoints and checkpoint files, and their signatures.
 *   S1. The signature covers the canonical JSON stored beside it. The hash of that text identifies the checkpoint.
 *   S2. A checkpoint links to the one before it and to the last hourly and daily ones. The links still form a chain after
 *       the retention has removed others.
 *   S3. A signature is valid only under an assertion key that was in use at `signed_at` (G1 of service-signature.ts).
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { parseTimestamp } from '../../actors/timestamp.ts'
import { parseStrictJson } from '../../api/http/json-text.ts'
import {
  signAssertion,
  signatureProblem,
  type SignatureProblem,
  type SignedContent,
  timeMsIn,
} from '../../api/endpoint/service-signature.ts'
import type { PublishedKey, ServiceKeys } from '../../runtime/ports/service-keys.ts'

/** First checkpoint of a day, of an hour (UTC), or neither. It determines the retention. */
export type CheckpointLevel = 'minute' | 'hour' | 'day'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Retention in milliseconds. */
export const KEPT_MS: Readonly<Record<CheckpointLevel, number>> = {
  minute: DAY_MS,
  hour: 31 * DAY_MS,
  day: Number.POSITIVE_INFINITY,
}

const hashText = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const time = v.pipe(
  v.string(),
  v.check((text) => parseTimestamp(text) !== undefined),
)
const linkSchema = v.strictObject({ number: count, hash: hashText, signed_at: time })
/** Identifies a checkpoint. */
export type CheckpointLink = v.InferOutput<typeof linkSchema>

/** The last checkpoint, the last of an hour, the last of a day; null where there is none. */
const linksSchema = v.strictObject({
  previous: v.nullable(linkSchema),
  hour: v.nullable(linkSchema),
  day: v.nullable(linkSchema),
})
export type CheckpointLinks = v.InferOutput<typeof linksSchema>
export const NO_LINKS: CheckpointLinks = { previous: null, hour: null, day: null }

const SIGNED = { ledger_id: v.string(), key_id: v.string(), signed_at: time }

const statementSchema = v.strictObject({
  ...SIGNED,
  type: v.literal('checkpoint'),
  number: count,
  level: v.picklist(['minute', 'hour', 'day']),
  /** System identifier of the PostgreSQL cluster that numbers the transactions. */
  server: v.string(),
  /** The checkpoint covers exactly the commits with smaller transaction numbers. */
  position: v.pipe(v.string(), v.regex(/^[0-9]{1,20}$/)),
  /** Keyed hash over the sums of all shards. */
  chains: hashText,
  links: linksSchema,
})
export type CheckpointStatement = v.InferOutput<typeof statementSchema>

const fileStatementSchema = v.strictObject({
  ...SIGNED,
  type: v.literal('checkpoint-file'),
  /** Time of the snapshot, by PostgreSQL's clock. */
  as_of: time,
  accounts: count,
  /** Hash of all lines before this statement. */
  content: hashText,
  /** Links to the newest checkpoints of the database. */
  links: linksSchema,
})
export type FileStatement = v.InferOutput<typeof fileStatementSchema>

type Statement = CheckpointStatement | FileStatement

export type SignedText = Omit<SignedContent<unknown>, 'content'>

export interface StatementSigner {
  readonly ledgerId: string
  readonly keys: ServiceKeys
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

type Unsigned<S extends Statement> = Omit<S, 'ledger_id' | 'key_id' | 'signed_at'>

/** Throws when no key can sign. */
export async function signStatement(
  { ledgerId, keys, nowMs }: StatementSigner,
  members: Unsigned<CheckpointStatement> | Unsigned<FileStatement>,
): Promise<SignedText> {
  return signAssertion(keys, nowMs(), (keyId, at) => ({
    ...members,
    ledger_id: ledgerId,
    key_id: keyId,
    signed_at: at,
  }))
}

/** Undefined when the text is not a valid statement. */
export function readCheckpoint(text: string): CheckpointStatement | undefined {
  return readAs(statementSchema, text)
}

export function readFileStatement(text: string): FileStatement | undefined {
  return readAs(fileStatementSchema, text)
}

function readAs<S extends typeof statementSchema | typeof fileStatementSchema>(
  schema: S,
  text: string,
): v.InferOutput<S> | undefined {
  const parsed = parseStrictJson(text)
  if (!parsed.ok) return undefined
  const read = v.safeParse(schema, parsed.value)
  return read.success ? read.output : undefined
}

export function linkTo(statement: CheckpointStatement, { text }: SignedText): CheckpointLink {
  return { number: statement.number, hash: `sha256:${hash('sha256', text)}`, signed_at: statement.signed_at }
}

/** Links of the checkpoint that follows this one. */
export function linksAfter(statement: CheckpointStatement, signed: SignedText): CheckpointLinks {
  const link = linkTo(statement, signed)
  return {
    previous: link,
    hour: statement.level === 'minute' ? statement.links.hour : link,
    day: statement.level === 'day' ? link : statement.links.day,
  }
}

/** Level of a checkpoint made at `nowMs`. `beforeMs`: time of the previous one; null: there is none. */
export function levelAt(nowMs: number, beforeMs: number | null): CheckpointLevel {
  const isFirstOf = (spanMs: number): boolean =>
    beforeMs === null || Math.floor(nowMs / spanMs) !== Math.floor(beforeMs / spanMs)
  if (isFirstOf(DAY_MS)) return 'day'
  return isFirstOf(HOUR_MS) ? 'hour' : 'minute'
}

export function signedAtMs({ signed_at: signedAt }: Statement | CheckpointLink): number {
  return timeMsIn(signedAt)
}

const SIGNATURE_PROBLEMS: Readonly<Record<SignatureProblem, string>> = {
  unknown_key: 'the key that it names is not a key of this ledger',
  other_purpose: 'the key that it names is not for assertions',
  revoked: 'the key that it names is revoked',
  not_in_use: 'the key that it names was not in use when it was signed',
  mismatch: 'its signature does not verify',
}

/** Why the signature is invalid; undefined when it is valid. `ledgerId`: undefined when the keys come from an unknown ledger. */
export function problemOfSigned(
  statement: Statement,
  signed: SignedText,
  keys: readonly PublishedKey<string>[],
  ledgerId: string | undefined,
): string | undefined {
  if (ledgerId !== undefined && statement.ledger_id !== ledgerId) return 'it is of another ledger'
  const claim = { keyId: statement.key_id, atMs: signedAtMs(statement), ...signed }
  const problem = signatureProblem(claim, 'assertion', keys)
  return problem && SIGNATURE_PROBLEMS[problem]
}
