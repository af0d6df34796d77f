/**
 * The ledgers that this one takes imports from, each with the keys that it is known by: a JSON object of ledger IDs and JWKS
 * documents, as `/.well-known/jwks.json` of each has it. Pinned: nothing of it is ever fetched.
 */
import * as v from 'valibot'
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

export const TRUSTED_LEDGERS_RULE = `a JSON object of at most ${MOST_LEDGERS} ledger IDs, each with the JWKS document of that ledger (at most ${MOST_KEYS} keys for assertions and attestations, one of them for assertions)`

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

/** undefined: it is not what TRUSTED_LEDGERS_RULE says. */
export function readTrustedLedgers(text: string): TrustedLedgers | undefined {
  const value = jsonOf(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  if (entries.length > MOST_LEDGERS) return undefined
  const ledgers = new Map<string, readonly PinnedKey[]>()
  for (const [ledgerId, document] of entries) {
    const read = v.safeParse(documentSchema, document)
    if (!read.success || !LEDGER_ID.test(ledgerId)) return undefined
    const keys = pinnedKeys(ledgerId, read.output)
    if (keys === undefined) return undefined
    ledgers.set(ledgerId, keys)
  }
  return ledgers
}

export const trustedLedgersText = v.pipe(
  v.string(),
  v.rawTransform<string, TrustedLedgers>(({ dataset, addIssue, NEVER }) => {
    const ledgers = readTrustedLedgers(dataset.value)
    if (ledgers !== undefined) return ledgers
    addIssue({ message: TRUSTED_LEDGERS_RULE })
    return NEVER
  }),
)

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
): readonly PinnedKey[] | undefined {
  if (named !== undefined && named !== ledgerId) return undefined
  const pinned: PinnedKey[] = []
  for (const { kid, purpose, x, y, nbf, exp, revoked } of keys) {
    if (purpose !== 'assertion' && purpose !== 'attestation') continue
    if (pinned.length === MOST_KEYS) return undefined
    const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
    if (readPublicKey(jwk) === undefined || thumbprintOf(jwk) !== kid) return undefined
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
  return pinned.some(({ purpose }) => purpose === 'assertion') ? pinned : undefined
}
