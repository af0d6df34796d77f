/**
 * The ledgers whose exports this ledger imports: a JSON object from ledger ID to that ledger's `/.well-known/jwks.json`. The
 * keys are pinned: they are never fetched.
 */
import * as v from 'valibot'
import { ok, refuse, type Result } from '../../actors/result.ts'
import { readPublicKey, thumbprintOf } from '../keys/public-key.ts'

export type PinnedPurpose = 'assertion' | 'attestation'

/** Times are milliseconds since 1970. */
export interface PinnedKey {
  /** RFC 7638 thumbprint. */
  readonly keyId: string
  readonly purpose: PinnedPurpose
  readonly x: string
  readonly y: string
  readonly activeFromMs: number
  readonly retiredAtMs: number | null
  readonly revokedAtMs: number | null
}

/** By ledger ID. */
export type TrustedLedgers = ReadonlyMap<string, readonly PinnedKey[]>

export const NO_LEDGERS: TrustedLedgers = new Map()

const MOST_LEDGERS = 16
const MOST_KEYS = 512
const LEDGER_ID = /^[\x21-\x7e]{1,128}$/
const LONGEST_TEXT = 8_388_608

const RULE = `{"<ledger ID>": <its jwks.json>}, a JSON object of at most ${MOST_LEDGERS} ledger IDs, each with the JWKS document of that ledger`

const seconds = v.pipe(v.number(), v.minValue(0), v.maxValue(253_402_300_800))

/** Keys for other purposes are skipped. */
const keySchema = v.object({
  kid: v.string(),
  purpose: v.string(),
  x: v.string(),
  y: v.string(),
  nbf: seconds,
  exp: v.exactOptional(seconds),
  revoked: v.exactOptional(v.object({ revoked_at: seconds })),
})
const documentSchema = v.object({
  ledger_id: v.exactOptional(v.string()),
  keys: v.array(keySchema),
})

/** The error describes the rule and the problem. It quotes nothing but ledger IDs. */
export function readTrustedLedgers(text: string): Result<TrustedLedgers, string> {
  const value = jsonOf(text)
  if (value === undefined) return wrong('this is not JSON of at most 8 MiB')
  if (!isObject(value)) return wrong('this is not an object')
  const entries = Object.entries(value)
  if (Array.isArray(value['keys'])) return wrong('this is a JWKS document itself')
  if (entries.length > MOST_LEDGERS) return wrong(`these are ${entries.length} ledgers`)
  const ledgers = new Map<string, readonly PinnedKey[]>()
  for (const [ledgerId, document] of entries) {
    if (!LEDGER_ID.test(ledgerId)) return wrong('one of the names is not a ledger ID')
    const read = v.safeParse(documentSchema, document)
    if (!read.success) {
      const place = v.getDotPath(read.issues[0])
      return wrong(`the value of ${ledgerId} is not a JWKS document${place === null ? '' : ` (${place})`}`)
    }
    const keys = pinnedKeys(ledgerId, read.output)
    if (!keys.ok) return keys
    ledgers.set(ledgerId, keys.value)
  }
  return ok(ledgers)
}

function wrong(problem: string): { readonly ok: false; readonly error: string } {
  return refuse(`${RULE}; ${problem}`)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function jsonOf(text: string): unknown {
  if (text.length > LONGEST_TEXT) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Refuses a key with another key's ID and another ledger's document: both are mistakes of the operator. */
function pinnedKeys(
  ledgerId: string,
  { ledger_id: named, keys }: v.InferOutput<typeof documentSchema>,
): Result<readonly PinnedKey[], string> {
  if (named !== undefined && named !== ledgerId) {
    return wrong(`the value of ${ledgerId} is the JWKS document of ${LEDGER_ID.test(named) ? named : 'another ledger'}`)
  }
  const pinned: PinnedKey[] = []
  for (const [at, { kid, purpose, x, y, nbf, exp, revoked }] of keys.entries()) {
    if (purpose !== 'assertion' && purpose !== 'attestation') continue
    if (pinned.length === MOST_KEYS) {
      return wrong(`${ledgerId} has more than ${MOST_KEYS} keys for assertions and attestations`)
    }
    const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
    if (readPublicKey(jwk) === undefined || thumbprintOf(jwk) !== kid) {
      return wrong(`keys.${at} of ${ledgerId} is not a P-256 key with its thumbprint as kid`)
    }
    pinned.push({
      keyId: kid,
      purpose,
      x,
      y,
      activeFromMs: nbf * 1_000,
      retiredAtMs: exp === undefined ? null : exp * 1_000,
      revokedAtMs: revoked === undefined ? null : revoked.revoked_at * 1_000,
    })
  }
  const signs = pinned.some(({ purpose }) => purpose === 'assertion')
  return signs ? ok(pinned) : wrong(`${ledgerId} has no key for assertions`)
}
