/** Responses about clients. */
import * as v from 'valibot'
import { ROLES } from '../../../actors/account/commands.ts'
import { define, named } from '../named-schema.ts'
import { keyId, pageToken, text, timestamp } from '../values.ts'

const secret = named(
  'ClientSecret',
  'A secret of 256 random bits: `lsk_` and base64url.',
  v.pipe(v.string(), v.regex(/^lsk_[A-Za-z0-9_-]{43}$/)),
)

const clientFields = {
  client_id: [text, 'The client.'],
  key_id: [v.nullable(keyId), 'The key that it signs assertions with; null for a client with a secret.'],
  role: [v.picklist(ROLES), 'Its role.'],
  boundary: [
    v.union([v.boolean(), v.array(text)]),
    'Whether it may bring value in from outside the ledger: in all tokens, in none, or in these.',
  ],
  accounts: [v.nullable(v.array(text)), 'The accounts that it is limited to, by ID or prefix; null: all.'],
  rate: [v.nullable(text), 'Its limit of requests per second, with the burst; null: the default of the ledger.'],
  created_at: timestamp,
  revoked_at: [v.nullable(timestamp), 'When it was revoked; null: it is not.'],
} as const

export const clientResponse = define('Client', 'A client of the API, without its secret.', clientFields)

export const createdClientResponse = define('CreatedClient', 'A new client.', {
  ...clientFields,
  client_secret: [v.exactOptional(secret), 'Its secret, which is shown only here; left out for a client with a key.'],
})

export const clientListResponse = define('ClientList', 'One page of clients.', {
  clients: [v.array(clientResponse), 'The clients of this page.'],
  next_page_token: pageToken,
})
