/** Fungible tokens (D1, D5). */
import { tokenSchema } from '../schemas/fungible-token.ts'
import { fungibleTokenListResponse, fungibleTokenResponse } from '../schemas/responses/fungible-token.ts'
import type { Tag } from '../endpoint/operation.ts'
import { CREATE_FUNGIBLE_TOKEN } from '../routes/fungible-tokens/create-fungible-token.ts'
import { GET_FUNGIBLE_TOKEN } from '../routes/fungible-tokens/get-fungible-token.ts'
import { LIST_FUNGIBLE_TOKENS } from '../routes/fungible-tokens/list-fungible-tokens.ts'

export const FUNGIBLE_TOKENS: Tag = {
  name: 'Fungible tokens',
  description: 'Tokens that accounts hold balances of.',
  schemas: {
    TokenRegistration: {
      schema: tokenSchema,
      description: 'A new token.',
      fields: {
        symbol: 'Its name, and its `token_id`.',
        decimals: 'How many fractional digits its amounts may have.',
        issuer: 'The account that gets the supply, and alone may mint more.',
        total_supply: 'How much of it there is at first.',
        signature: 'The issuer’s, over the body without `signature`.',
      },
    },
    FungibleToken: {
      schema: fungibleTokenResponse,
      description: 'A fungible token.',
      fields: {
        symbol: 'The same as `token_id`.',
        decimals: 'How many fractional digits its amounts have at most.',
        issuer: 'The account that alone may mint more of it.',
        total_supply: 'How much of it there is, mints and burns counted.',
      },
    },
    FungibleTokenList: {
      schema: fungibleTokenListResponse,
      description: 'One page of tokens.',
      fields: { tokens: 'The tokens of this page.' },
    },
  },
  operations: [CREATE_FUNGIBLE_TOKEN, LIST_FUNGIBLE_TOKENS, GET_FUNGIBLE_TOKEN],
}
