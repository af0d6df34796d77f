/**
 * The signed statement of a checkpoint file.
 *   S1. The signature covers the canonical JSON stored beside it. The hash of that text is an entry of the log.
 *   S2. It names the head of the log in the file's snapshot, and the newest head that the log had published.
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

const hashText = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const time = v.pipe(
  v.string(),
  v.check((text) => parseTimestamp(text) !== undefined),
)

const statementSchema = v.strictObject({
  type: v.literal('checkpoint-file'),
  ledger_id: v.string(),
  key_id: v.string(),
  signed_at: time,
  /** Time of the snapshot, by PostgreSQL's clock. */
  as_of: time,
  accounts: count,
  /** Hash of all lines before this statement. */
  content: hashText,
  /** Null: the log is empty. */
  log_head: v.nullable(v.strictObject({ size: count, root: hashText })),
  /** A signed note. Null: the log has published none. */
  log_published: v.nullable(v.string()),
})
export type FileStatement = v.InferOutput<typeof statementSchema>

export type SignedText = Omit<SignedContent<unknown>, 'content'>

export interface StatementSigner {
  readonly ledgerId: string
  readonly keys: ServiceKeys
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

/** Throws when no key can sign. */
export async function signStatement(
  { ledgerId, keys, nowMs }: StatementSigner,
  members: Omit<FileStatement, 'ledger_id' | 'key_id' | 'signed_at'>,
): Promise<SignedText> {
  return signAssertion(keys, nowMs(), (keyId, at) => ({
    ...members,
    ledger_id: ledgerId,
    key_id: keyId,
    signed_at: at,
  }))
}

/** Undefined when the text is not a valid statement. */
export function readStatement(text: string): FileStatement | undefined {
  const parsed = parseStrictJson(text)
  if (!parsed.ok) return undefined
  const read = v.safeParse(statementSchema, parsed.value)
  return read.success ? read.output : undefined
}

/** 32 bytes. */
export function hashOfStatement({ text }: SignedText): Buffer {
  return hash('sha256', text, 'buffer')
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
  statement: FileStatement,
  signed: SignedText,
  keys: readonly PublishedKey<string>[],
  ledgerId: string | undefined,
): string | undefined {
  if (ledgerId !== undefined && statement.ledger_id !== ledgerId) return 'it is of another ledger'
  const claim = { keyId: statement.key_id, atMs: timeMsIn(statement.signed_at), ...signed }
  const problem = signatureProblem(claim, 'assertion', keys)
  return problem && SIGNATURE_PROBLEMS[problem]
}
