/** Responses about fungible tokens (D1, D5). */
import * as v from 'valibot'
import { accountIdField, tokenIdField } from '../fields.ts'
import { count, countRelation, minimalDecimal, pageToken, timestamp } from './values.ts'

export const fungibleTokenResponse = v.object({
  token_id: tokenIdField,
  symbol: tokenIdField,
  decimals: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(18)),
  issuer: accountIdField,
  total_supply: minimalDecimal,
  created_at: timestamp,
})

export const fungibleTokenListResponse = v.object({
  tokens: v.array(fungibleTokenResponse),
  next_page_token: pageToken,
  total_count: count,
  total_count_relation: countRelation,
})
