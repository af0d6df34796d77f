/** Responses about fungible tokens (D1, D5). */
import * as v from 'valibot'
import { accountIdField, tokenIdField } from '../fields.ts'
import { countedPage, decimals, minimalDecimal, timestamp } from '../values.ts'
import { define } from '../named-schema.ts'

export const fungibleTokenResponse = define('FungibleToken', 'A fungible token.', {
  token_id: tokenIdField,
  symbol: [tokenIdField, 'The same as `token_id`.'],
  decimals: [decimals, 'How many fractional digits its amounts have at most.'],
  issuer: [accountIdField, 'The account that alone may mint more of it.'],
  total_supply: [minimalDecimal, 'How much of it there is, mints and burns counted.'],
  created_at: timestamp,
})

export const fungibleTokenListResponse = define('FungibleTokenList', 'One page of tokens.', {
  tokens: [v.array(fungibleTokenResponse), 'The tokens of this page.'],
  ...countedPage,
})
