/**
 * The ledgers whose exports this ledger imports: a JSON object from ledger ID to that ledger's `/.well-known/jwks.json`. The
 * keys are pinned: they are never fetched.
 */
import * as v from 'valibot'
import { ok, refuse, type Result } from '../../actors/result.ts'
import type { PublishedKey } from '../../runtime/ports/service-keys.ts'
import { jwksSchema } from '../keys/jwks.ts'
import { readPublicKey, thumbprintOf } from '../keys/public-key.ts'

export type PinnedPurpose = 'assertion' | 'attestation'

export type PinnedKey = PublishedKey<PinnedPurpose>

/** By ledger ID. */
export type TrustedLedgers = ReadonlyMap<string, readonly PinnedKey[]>

export const NO_LEDGERS: TrustedLedgers = new Map()

const MOST_LEDGERS = 16
const MOST_KEYS = 512
const LEDGER_ID = /^[\x21-\x7e]{1,128}$/
const LONGEST_TEXT = 8_388_608

const RULE = `{"<ledger ID>": <its jwks.json>}, a JSON object of at most ${MOST_LEDGERS} ledger IDs, each with the JWKS document of that ledger`

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
    const read = v.safeParse(jwksSchema, document)
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

/** Keys for other purposes are skipped. Refuses a key with another key's ID and another ledger's document: both are mistakes of the operator. */
function pinnedKeys(
  ledgerId: string,
  { ledger_id: named, keys }: v.InferOutput<typeof jwksSchema>,
): Result<readonly PinnedKey[], string> {
  if (named !== undefined && named !== ledgerId) {
    return wrong(`the value of ${ledgerId} is the JWKS document of ${LEDGER_ID.test(named) ? named : 'another ledger'}`)
  }
  const pinned: PinnedKey[] = []
  for (const [at, { purpose, ...key }] of keys.entries()) {
    if (purpose !== 'assertion' && purpose !== 'attestation') continue
    if (pinned.length === MOST_KEYS) {
      return wrong(`${ledgerId} has more than ${MOST_KEYS} keys for assertions and attestations`)
    }
    const jwk = { kty: 'EC', crv: 'P-256', x: key.x, y: key.y } as const
    if (readPublicKey(jwk) === undefined || thumbprintOf(jwk) !== key.keyId) {
      return wrong(`keys.${at} of ${ledgerId} is not a P-256 key with its thumbprint as kid`)
    }
    pinned.push({ ...key, purpose })
  }
  const signs = pinned.some(({ purpose }) => purpose === 'assertion')
  return signs ? ok(pinned) : wrong(`${ledgerId} has no key for assertions`)
}
