/**
 * Order schemas by `type`: the required and the forbidden fields of each (D3, D5). A generated client checks them, which
 * one object with optional fields would not allow.
 */
import type { JsonObject } from '../../actors/canonical-json.ts'
import { invariant } from '../../actors/result.ts'
import { referenceTo } from './openapi-types.ts'

interface OrderShape {
  readonly description: string
  /** In addition to the fields that every order requires. */
  readonly required: readonly string[]
  readonly optional: readonly string[]
  /** A leg of a registered group has `terms_hash`. */
  readonly isNoLeg?: true
}

const EVERY_ORDER = ['account_id', 'type', 'amount', 'idempotency_key', 'signature']
const ANY_ORDER = ['metadata', 'terms_hash', 'ledger_id', 'expires_at']
const NFT = ['class_id', 'instance_id']

const ORDERS: Readonly<Record<string, Readonly<Record<string, OrderShape>>>> = {
  credit: {
    CreditOrder: {
      description: 'Brings value in from an external account.',
      required: [],
      optional: ['token_id', 'group_id'],
    },
  },
  debit: {
    DebitOrder: { description: 'Takes value out of the ledger.', required: [], optional: ['token_id', 'group_id'] },
  },
  transfer: {
    TransferToAccount: {
      description: 'Moves value to another account.',
      required: ['to_account_id'],
      optional: ['token_id', 'group_id'],
    },
    TransferInGroup: {
      description: 'Takes value out of the account, linked to a group.',
      required: ['group_id'],
      optional: ['token_id'],
    },
    TransferRefund: {
      description: 'Returns value of a received transfer to its sender.',
      required: ['refunds'],
      optional: ['token_id', 'group_id', 'to_account_id'],
      isNoLeg: true,
    },
    NftTransfer: {
      description: 'Moves an NFT to another account.',
      required: ['to_account_id', ...NFT],
      optional: ['group_id'],
    },
  },
  exchange: {
    TokenExchange: {
      description: 'Exchanges value for an asset of another account.',
      required: ['group_id', 'to_account_id', 'receive', 'token_id'],
      optional: [],
    },
    NftExchange: {
      description: 'Exchanges an NFT for an asset of another account.',
      required: ['group_id', 'to_account_id', 'receive', ...NFT],
      optional: [],
    },
    ExchangeInGroup: {
      description: 'Takes value out of the account in exchange for the other orders of the group.',
      required: ['group_id', 'token_id'],
      optional: [],
    },
  },
  mint: {
    MintOrder: { description: 'Increases the supply of a token.', required: ['token_id'], optional: ['group_id'] },
  },
  burn: {
    TokenBurn: { description: 'Destroys value of a token.', required: ['token_id'], optional: ['group_id'] },
    NftBurn: { description: 'Destroys an NFT.', required: NFT, optional: ['group_id'] },
  },
}

const UNIONS = { transfer: 'TransferOrder', exchange: 'ExchangeOrder', burn: 'BurnOrder' } as const
const UNION_DESCRIPTIONS: Readonly<Record<string, string>> = {
  transfer: 'Moves value or an NFT.',
  exchange: 'Exchanges value or an NFT for another asset.',
  burn: 'Destroys value or an NFT.',
}

/** By name, `Submission` included. `flat`: the schema with all fields of all orders. */
export function submissionSchemas(flat: JsonObject): Readonly<Record<string, JsonObject>> {
  const { description = '' } = flat
  const schemas: Record<string, JsonObject> = {}
  const mapping: Record<string, string> = {}
  for (const [type, shapes] of Object.entries(ORDERS)) {
    for (const [name, shape] of Object.entries(shapes)) schemas[name] = orderSchema(flat, type, shape)
    const [only = ''] = Object.keys(shapes)
    const name = type in UNIONS ? UNIONS[type as keyof typeof UNIONS] : only
    if (name !== only) schemas[name] = unionOf(UNION_DESCRIPTIONS[type] ?? '', Object.keys(shapes))
    mapping[type] = referenceTo(name)
  }
  const oneOf = Object.values(mapping).map((reference) => ({ $ref: reference }))
  return { ...schemas, Submission: { description, oneOf, discriminator: { propertyName: 'type', mapping } } }
}

function unionOf(description: string, names: readonly string[]): JsonObject {
  return { description, oneOf: names.map((name) => ({ $ref: referenceTo(name) })) }
}

function orderSchema({ properties }: JsonObject, type: string, shape: OrderShape): JsonObject {
  const { description, required, optional, isNoLeg = false } = shape
  const mayBeLeg = !isNoLeg && [...required, ...optional].includes('group_id')
  const ofAny = isNoLeg ? ANY_ORDER.filter((name) => name !== 'terms_hash') : ANY_ORDER
  const names = [...EVERY_ORDER, ...required, ...optional, ...ofAny]
  const fields = names.map((name) => [
    name,
    fieldOf(properties as JsonObject, name, type, required.includes('class_id')),
  ])
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(fields) as JsonObject,
    required: [...EVERY_ORDER, ...required],
    ...(mayBeLeg && !required.includes('group_id') ? { dependentRequired: { terms_hash: ['group_id'] } } : {}),
    additionalProperties: false,
  }
}

function fieldOf(properties: JsonObject, name: string, type: string, isNft: boolean): JsonObject {
  const field = properties[name] as JsonObject | undefined
  invariant(field !== undefined, `an order has the field ${name}`)
  if (name === 'type') return { ...field, enum: [type] }
  return name === 'amount' && isNft ? { const: '1', description: 'Always 1 for an NFT.' } : field
}
