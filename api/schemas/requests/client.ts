/** The body that creates a client. */
import * as v from 'valibot'
import { ROLES } from '../../../actors/account/commands.ts'
import type { AccountKey } from '../../../actors/account/state.ts'
import { areScopeEntries, MAX_SCOPE_ENTRIES, SCOPE_RULE } from '../../../actors/account-scope.ts'
import type { JsonObject } from '../../../actors/canonical-json.ts'
import { RATE_RULE, readOwnRate } from '../../../actors/rate.ts'
import { ok, refuse, type Result } from '../../../actors/result.ts'
import { type ClientRecord, NEW_CLIENT_ID_FORM, NEW_CLIENT_ID_RULE } from '../../../runtime/ports/access-store.ts'
import type { ReadPublicKey } from '../../../runtime/ports/public-keys.ts'
import type { Invalid } from '../../http/problem.ts'
import { checkedField, isTokenId, SYMBOL_PATTERN, unsignedOptional } from '../fields.ts'
import { defineClosed } from '../named-schema.ts'
import { closedErrors } from '../read-body.ts'
import { publicKeyField, readKey } from './account.ts'

const MAX_TOKENS = 100
const BOUNDARY_RULE = `must be true, false or a list of 1 to ${MAX_TOKENS} token IDs`
const ACCOUNTS_RULE = `${SCOPE_RULE}, as a list`
const ROLE_RULE = `must be one of ${ROLES.join(', ')}`
const LARGEST_ENTRY = 129

const boundaryField = v.pipe(
  v.custom<ClientRecord['boundary']>((value) => typeof value === 'boolean' || isTokenList(value), BOUNDARY_RULE),
  v.metadata({
    anyOf: [
      { type: 'boolean' },
      { type: 'array', items: { type: 'string', pattern: SYMBOL_PATTERN }, minItems: 1, maxItems: MAX_TOKENS },
    ],
  }),
)
const accountsField = v.pipe(
  v.custom<readonly string[]>((value) => isTextList(value) && areScopeEntries(value), ACCOUNTS_RULE),
  v.metadata({
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: LARGEST_ENTRY },
    minItems: 1,
    maxItems: MAX_SCOPE_ENTRIES,
  }),
)

export const newClientSchema = defineClosed('ClientRegistration', 'A new client.', {
  client_id: [
    checkedField(NEW_CLIENT_ID_RULE, (text) => NEW_CLIENT_ID_FORM.test(text), { pattern: NEW_CLIENT_ID_FORM.source }),
    'Its ID, which no other client has or had.',
  ],
  role: [v.picklist(ROLES, ROLE_RULE), 'Its role.'],
  boundary: [
    unsignedOptional(boundaryField),
    'Whether it may bring value in from outside the ledger: in all tokens, in none, or in these. Left out: in the sandbox as the client that makes it, in production `false`.',
  ],
  accounts: [
    unsignedOptional(accountsField),
    'The accounts that it may see and use, by ID, or by a prefix that ends in `*`. Left out: all.',
  ],
  rate: [
    unsignedOptional(
      checkedField(`must be ${RATE_RULE}, or none`, (text) => readOwnRate(text) !== undefined, {
        pattern: '^(none|[0-9]{1,7}(\\.[0-9]{1,3})?(/[0-9]{1,7})?)$',
      }),
    ),
    'The limit of its requests per second, at all edges together. Left out: the default of the ledger.',
  ],
  public_key: [
    unsignedOptional(publicKeyField),
    'The key that it signs assertions with, in place of a secret. Left out: the ledger makes a secret.',
  ],
})

export interface NewClient extends Pick<ClientRecord, 'clientId' | 'role' | 'boundary' | 'accounts' | 'rate'> {
  /** null: it gets a secret. */
  readonly key: AccountKey | null
}

/** `boundary`: of a client that names none. With a misspelt `accounts` or `rate` the client would have no such limit. */
export function readNewClient(
  body: JsonObject,
  { readPublicKey, boundary }: { readonly readPublicKey: ReadPublicKey; readonly boundary: ClientRecord['boundary'] },
): Result<NewClient, readonly Invalid[]> {
  const invalid = closedErrors(newClientSchema, body)
  const hasKey = (body['public_key'] ?? null) !== null
  const key = hasKey ? readKey(body, readPublicKey, invalid) : undefined
  if (invalid.length > 0) return refuse(invalid)
  const given = body as v.InferOutput<typeof newClientSchema>
  return ok({
    clientId: given.client_id,
    role: given.role,
    boundary: given.boundary ?? boundary,
    accounts: given.accounts ?? null,
    rate: readOwnRate(given.rate ?? '') ?? null,
    key: key ?? null,
  })
}

function isTokenList(value: unknown): boolean {
  return isTextList(value) && value.length > 0 && value.length <= MAX_TOKENS && value.every(isTokenId)
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
