/**
 * The ledgers that this one takes imports from, each with the keys that it is known by: a JSON object of ledger IDs and JWKS
 * documents, as `/.well-known/jwks.json` of each has it. Pinned: nothing of it is ever fetched.
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

/** Of those for other purposes no more is asked: they are not kept. */
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

/** What is wrong with it stands behind what it must be; of the text itself IDs are shown alone. */
export function readTrustedLedgers(text: string): Result<TrustedLedgers, string> {
  const value = jsonOf(text)
  if (value === undefined) return wrong('this is no JSON of at most 8 MiB')
  if (!isObject(value)) return wrong('this is no object')
  const entries = Object.entries(value)
  if (Array.isArray(value['keys'])) return wrong('this is a JWKS document itself')
  if (entries.length > MOST_LEDGERS) return wrong(`these are ${entries.length} ledgers`)
  const ledgers = new Map<string, readonly PinnedKey[]>()
  for (const [ledgerId, document] of entries) {
    if (!LEDGER_ID.test(ledgerId)) return wrong('one of the names is no ledger ID')
    const read = v.safeParse(documentSchema, document)
    if (!read.success) {
      const place = v.getDotPath(read.issues[0])
      return wrong(`under ${ledgerId} stands no JWKS document${place === null ? '' : ` (${place})`}`)
    }
    const keys = pinnedKeys(ledgerId, read.output)
    if (!keys.ok) return keys
    ledgers.set(ledgerId, keys.value)
  }
  return ok(ledgers)
}

function wrong(what: string): { readonly ok: false; readonly error: string } {
  return refuse(`${RULE}; ${what}`)
}

export const trustedLedgersText = v.pipe(
  v.string(),
  v.rawTransform<string, TrustedLedgers>(({ dataset, addIssue, NEVER }) => {
    const read = readTrustedLedgers(dataset.value)
    if (read.ok) return read.value
    addIssue({ message: read.error })
    return NEVER
  }),
)

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

/** A key that is not what its ID says, or a document of another ledger, is a mistake that must not go unseen. */
function pinnedKeys(
  ledgerId: string,
  { ledger_id: named, keys }: v.InferOutput<typeof documentSchema>,
): Result<readonly PinnedKey[], string> {
  if (named !== undefined && named !== ledgerId) {
    return wrong(`under ${ledgerId} stands the JWKS of ${LEDGER_ID.test(named) ? named : 'another'}`)
  }
  const pinned: PinnedKey[] = []
  for (const [at, { kid, purpose, x, y, nbf, exp, revoked }] of keys.entries()) {
    if (purpose !== 'assertion' && purpose !== 'attestation') continue
    if (pinned.length === MOST_KEYS) {
      return wrong(`under ${ledgerId} stand more than ${MOST_KEYS} keys for assertions and attestations`)
    }
    const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
    if (readPublicKey(jwk) === undefined || thumbprintOf(jwk) !== kid) {
      return wrong(`keys.${at} under ${ledgerId} is no P-256 key of which its kid is the thumbprint`)
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
  return signs ? ok(pinned) : wrong(`under ${ledgerId} stands no key for assertions`)
}
