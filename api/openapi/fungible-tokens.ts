/** Fungible tokens (D1, D5). */
import { EVERYONE, SUBMITTERS } from '../endpoint/route.ts'
import { tokenSchema } from '../schemas/fungible-token.ts'
import { fungibleTokenListResponse, fungibleTokenResponse } from '../schemas/responses/fungible-token.ts'
import type { Operation, Tag } from './model/operation.ts'
import { IDEMPOTENCY_KEY_HEADER, PAGING } from './parameters.ts'

export const createFungibleToken: Operation = {
  id: 'createFungibleToken',
  method: 'POST',
  path: '/v1/fungible-tokens',
  summary: 'Register a token',
  description: `The answer is a 201 once \`total_supply\` is credited to the issuer, as a \`mint\` of the ledger’s own; a supply of \`0\` credits nothing.

A symbol is unique without regard to case, and is its own \`token_id\`. An issuer that nobody knows comes into being without a key: it can receive, and cannot submit until its key is registered. In production the issuer signs the registration, or an administrator asks for it.

With \`Idempotency-Key\`, a repeat gets the original answer; without, the symbol is taken (409).`,
  roles: SUBMITTERS,
  changes: 'shard',
  parameters: [IDEMPOTENCY_KEY_HEADER],
  body: tokenSchema,
  answers: [
    {
      status: 201,
      description: 'The token is registered, and its supply is its issuer’s.',
      content: fungibleTokenResponse,
      headers: ['Location', 'Idempotency-Replayed', 'Idempotency-Payload-Mismatch'],
    },
  ],
  refusals: {
    ERR_CONFLICT: 'The symbol is taken, or the issuer cannot take the supply in.',
    ERR_NOT_FOUND: 'The client is scoped to accounts, and the issuer is none of them.',
    ERR_SIGNATURE_MISMATCH: 'The signature is not the issuer’s, or is missing in production.',
    ERR_UNKNOWN_FIELD: 'A signed registration has a field that nobody knows; without a signature it is ignored.',
  },
}

export const listFungibleTokens: Operation = {
  id: 'listFungibleTokens',
  method: 'GET',
  path: '/v1/fungible-tokens',
  summary: 'List all tokens',
  description: 'By token ID, without regard to case. The ledger’s own unit, `BASE`, is not among them.',
  roles: EVERYONE,
  parameters: PAGING,
  answers: [
    { status: 200, description: 'One page.', content: fungibleTokenListResponse, headers: ['X-Total-Count-Relation'] },
  ],
}

export const getFungibleToken: Operation = {
  id: 'getFungibleToken',
  method: 'GET',
  path: '/v1/fungible-tokens/:tokenId',
  summary: 'Get a token',
  description: 'By exactly the symbol as it was registered.',
  roles: EVERYONE,
  answers: [{ status: 200, description: 'The token.', content: fungibleTokenResponse }],
}

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
  operations: [createFungibleToken, listFungibleTokens, getFungibleToken],
}
