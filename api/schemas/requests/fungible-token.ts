/** The shape of a token's registration (D1, D5). */
import * as v from 'valibot'
import { type JsonObject } from '../../../actors/canonical-json.ts'
import { fractionalDigits, isDecimalString, parseQuantity } from '../../../actors/money.ts'
import { ok, type Result } from '../../../actors/result.ts'
import type { Invalid } from '../../http/problem.ts'
import {
  accountIdField,
  checkedField,
  DECIMAL_PATTERN,
  isTokenId,
  signatureField,
  SYMBOL_PATTERN,
  unsignedOptional,
} from '../fields.ts'
import { define } from '../named-schema.ts'
import { readBody, registeredPayload, signableErrors } from '../read-body.ts'

const MAX_DECIMALS = 18

const SYMBOL_RULE = 'must be 1 to 64 characters of a-z, A-Z, 0-9 and . _ -, the first a letter or digit'
const DECIMALS_RULE = 'must be an integer from 0 to 18'
const SUPPLY_RULE = 'must be a decimal string, zero or above, with at most 18 integer and 18 fractional digits'

export const tokenSchema = define('TokenRegistration', 'A new token.', {
  symbol: [checkedField(SYMBOL_RULE, isTokenId, { pattern: SYMBOL_PATTERN }), 'Its name, and its `token_id`.'],
  decimals: [
    v.pipe(
      v.number(DECIMALS_RULE),
      v.check(isDecimals, DECIMALS_RULE),
      v.metadata({ type: 'integer', minimum: 0, maximum: MAX_DECIMALS }),
    ),
    'How many fractional digits its amounts may have.',
  ],
  issuer: [accountIdField, 'The account that gets the supply, and alone may mint more.'],
  total_supply: [
    checkedField(SUPPLY_RULE, isDecimalString, { pattern: DECIMAL_PATTERN }),
    'How much of it there is at first.',
  ],
  signature: [unsignedOptional(signatureField), 'The issuer’s, over the body without `signature`.'],
})
export interface TokenRegistration {
  readonly symbol: string
  readonly issuer: string
  /** Canonical JSON of what is registered, which is what the issuer signed if there is a signature. */
  readonly payload: string
  readonly signature: string | null
}

export function readTokenRegistration(body: JsonObject): Result<TokenRegistration, readonly Invalid[]> {
  const invalid = signableErrors(tokenSchema, body)
  if (hasFinerSupply(body)) {
    const message = 'has more fractional digits than decimals'
    invalid.push({ field: 'total_supply', code: 'ERR_INVALID_TOTAL_SUPPLY', message })
  }
  const read = readBody(tokenSchema, body, invalid)
  if (!read.ok) return read
  const { symbol, issuer, signature = null } = read.value
  return ok({ symbol, issuer, payload: registeredPayload(tokenSchema, body), signature })
}

function isDecimals(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_DECIMALS
}

/** Of two fields that are good by themselves. */
function hasFinerSupply({ decimals, total_supply: supply }: JsonObject): boolean {
  if (typeof decimals !== 'number' || !isDecimals(decimals)) return false
  return typeof supply === 'string' && isDecimalString(supply) && fractionalDigits(parseQuantity(supply)) > decimals
}
