/** For each endpoint that takes a body: bodies with all of it missing or wrong, and what is to be told of each field. */
import { membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import type { RowOf } from './specification.ts'
import type { Stage } from './stage.ts'

export interface Wrong {
  readonly body: Members
  /** Field -> its code. */
  readonly expected: Readonly<Record<string, string>>
}

export interface WrongBodies {
  readonly row: RowOf<'Everything wrong at once'>
  readonly path: (stage: Stage) => string
  /** Empty, and with every field there and wrong. */
  readonly cases: readonly Wrong[]
}

export const FIELD = 'ERR_INVALID_FIELD'
export const ACCOUNT = 'ERR_INVALID_ACCOUNT_ID'

const SUBMISSION: WrongBodies = {
  row: 'POST /v1/transactions',
  path: () => '/v1/transactions',
  cases: [
    {
      body: {},
      expected: {
        account_id: ACCOUNT,
        amount: 'ERR_INVALID_AMOUNT',
        type: 'ERR_INVALID_TYPE',
        signature: 'ERR_INVALID_SIGNATURE',
        idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
      },
    },
    {
      body: {
        account_id: 'a b',
        amount: 5,
        type: 'gift',
        signature: '',
        idempotency_key: '',
        token_id: '-',
        group_id: 'g',
        to_account_id: '',
        receive: { amount: '0', colour: 'red' },
        metadata: { a: 1 },
        class_id: '',
        instance_id: '/',
        terms_hash: 'x',
        ledger_id: '',
        expires_at: 'soon',
        memo: 'a misspelt field',
      },
      expected: {
        account_id: ACCOUNT,
        amount: 'ERR_INVALID_AMOUNT',
        type: 'ERR_INVALID_TYPE',
        signature: 'ERR_INVALID_SIGNATURE',
        idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
        token_id: 'ERR_INVALID_TOKEN_ID',
        group_id: 'ERR_INVALID_GROUP_ID',
        to_account_id: ACCOUNT,
        receive: FIELD,
        'receive.amount': 'ERR_INVALID_AMOUNT',
        'receive.colour': 'ERR_UNKNOWN_FIELD',
        metadata: FIELD,
        class_id: 'ERR_INVALID_CLASS_ID',
        instance_id: FIELD,
        terms_hash: FIELD,
        ledger_id: FIELD,
        expires_at: 'ERR_INVALID_TIMESTAMP',
        memo: 'ERR_UNKNOWN_FIELD',
      },
    },
    {
      body: { account_id: 'a', type: 'transfer', amount: '1', to_account_id: 'a', token_id: 7, signature: 's' },
      expected: {
        to_account_id: 'ERR_SELF_TRANSFER',
        token_id: 'ERR_INVALID_TOKEN_ID',
        idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
      },
    },
  ],
}

const TOKEN: WrongBodies = {
  row: 'POST /v1/fungible-tokens',
  path: () => '/v1/fungible-tokens',
  cases: [
    {
      body: {},
      expected: {
        symbol: 'ERR_INVALID_SYMBOL',
        decimals: 'ERR_INVALID_DECIMALS',
        issuer: 'ERR_INVALID_ISSUER',
        total_supply: 'ERR_INVALID_TOTAL_SUPPLY',
      },
    },
    {
      body: { symbol: '', decimals: 19, issuer: '/', total_supply: '-1', signature: 7, colour: 1 },
      expected: {
        symbol: 'ERR_INVALID_SYMBOL',
        decimals: 'ERR_INVALID_DECIMALS',
        issuer: 'ERR_INVALID_ISSUER',
        total_supply: 'ERR_INVALID_TOTAL_SUPPLY',
        signature: 'ERR_INVALID_SIGNATURE',
        colour: 'ERR_UNKNOWN_FIELD',
      },
    },
  ],
}

const NFT_CLASS: WrongBodies = {
  row: 'POST /v1/nft-classes',
  path: () => '/v1/nft-classes',
  cases: [
    {
      body: {},
      expected: {
        name: 'ERR_INVALID_NAME',
        description: FIELD,
        issuer: 'ERR_INVALID_ISSUER',
        metadata_schema: 'ERR_INVALID_SCHEMA',
      },
    },
    {
      body: { name: 'n'.repeat(257), description: 7, issuer: '', metadata_schema: [] },
      expected: {
        name: 'ERR_INVALID_NAME',
        description: FIELD,
        issuer: 'ERR_INVALID_ISSUER',
        metadata_schema: 'ERR_INVALID_SCHEMA',
      },
    },
  ],
}

const MINT: WrongBodies = {
  row: 'POST /v1/nft-classes/{classId}/instances',
  path: ({ cast }) => `/v1/nft-classes/${cast.classId}/instances`,
  cases: [
    {
      body: {},
      expected: {
        class_id: 'ERR_INVALID_CLASS_ID',
        instance_id: FIELD,
        account_id: ACCOUNT,
        metadata: FIELD,
        idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
        signature: 'ERR_INVALID_SIGNATURE',
      },
    },
    {
      body: {
        class_id: 'another',
        instance_id: '/',
        account_id: '',
        owner: 'a b',
        metadata: 'x',
        idempotency_key: 'ä',
        signature: 7,
        ledger_id: '',
        colour: 'red',
      },
      expected: {
        class_id: 'ERR_INVALID_CLASS_ID',
        instance_id: FIELD,
        account_id: ACCOUNT,
        owner: ACCOUNT,
        metadata: FIELD,
        idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
        signature: 'ERR_INVALID_SIGNATURE',
        ledger_id: FIELD,
        colour: 'ERR_UNKNOWN_FIELD',
      },
    },
  ],
}

const PROOFS = (['liabilities', 'provenance', 'compliance'] as const).map((kind): WrongBodies => ({
  row: `POST /v1/assertions/proof-of-${kind}`,
  path: () => `/v1/assertions/proof-of-${kind}`,
  cases: [
    { body: {}, expected: { requester: 'ERR_INVALID_REQUESTER' } },
    { body: { requester: 'r'.repeat(257) }, expected: { requester: 'ERR_INVALID_REQUESTER' } },
  ],
}))

const OTHERS: readonly WrongBodies[] = [
  {
    row: 'POST /v1/assertions/verify',
    path: () => '/v1/assertions/verify',
    cases: [{}, { assertion_type: 1, result: 'x', signature: 2 }].map((body) => ({
      body,
      expected: { assertion_type: FIELD, result: FIELD, signature: 'ERR_INVALID_SIGNATURE' },
    })),
  },
  {
    row: 'POST /v1/attestations',
    path: () => '/v1/attestations',
    cases: [
      {
        body: {},
        expected: {
          attester: FIELD,
          subject_class: 'ERR_INVALID_CLASS_ID',
          subject_instance: FIELD,
          attestation_type: FIELD,
          statement: FIELD,
        },
      },
      {
        body: {
          attester: 'a\nb',
          subject_class: 7,
          subject_instance: '/',
          attestation_type: '',
          statement: '',
          evidence_url: 'nowhere',
          signature: 7,
          colour: 'red',
        },
        expected: {
          attester: FIELD,
          subject_class: 'ERR_INVALID_CLASS_ID',
          subject_instance: FIELD,
          attestation_type: FIELD,
          statement: FIELD,
          evidence_url: FIELD,
          signature: 'ERR_INVALID_SIGNATURE',
          colour: 'ERR_UNKNOWN_FIELD',
        },
      },
    ],
  },
  {
    row: 'POST /v1/attestations/{id}/revoke',
    path: ({ cast }) => `/v1/attestations/${textOf(membersOf(cast.attestation), 'attestation_id')}/revoke`,
    cases: [{ body: { reason: 7 }, expected: { reason: FIELD } }],
  },
  {
    row: 'POST /v1/accounts',
    path: () => '/v1/accounts',
    cases: [{}, { account_id: 'a b', public_key: { kty: 'RSA' } }].map((body) => ({
      body,
      expected: { account_id: ACCOUNT, public_key: 'ERR_INVALID_PUBLIC_KEY' },
    })),
  },
  {
    row: 'POST /v1/accounts/{id}/keys',
    path: ({ cast }) => `/v1/accounts/${cast.alice.accountId}/keys`,
    cases: [
      {
        body: {},
        expected: {
          account_id: ACCOUNT,
          public_key: 'ERR_INVALID_PUBLIC_KEY',
          idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
          signature: 'ERR_INVALID_SIGNATURE',
        },
      },
      {
        body: { account_id: 'other', public_key: 'x', idempotency_key: '', signature: '', proof: '', colour: 'red' },
        expected: {
          account_id: ACCOUNT,
          public_key: 'ERR_INVALID_PUBLIC_KEY',
          idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
          signature: 'ERR_INVALID_SIGNATURE',
          proof: 'ERR_INVALID_SIGNATURE',
          colour: 'ERR_UNKNOWN_FIELD',
        },
      },
    ],
  },
  {
    row: 'POST /v1/accounts/{id}/erase',
    path: ({ cast }) => `/v1/accounts/${cast.alice.accountId}/erase`,
    cases: [{}, { reason: '' }].map((body) => ({ body, expected: { reason: FIELD } })),
  },
  {
    row: 'POST /v1/accounts/{id}/status',
    path: ({ cast }) => `/v1/accounts/${cast.alice.accountId}/status`,
    cases: [
      { body: {}, expected: { status: FIELD, incoming: FIELD, reason: FIELD } },
      {
        body: { status: 'melted', incoming: 'perhaps', reason: '' },
        expected: { status: FIELD, incoming: FIELD, reason: FIELD },
      },
    ],
  },
  {
    row: 'POST /v1/settlement-groups',
    path: () => '/v1/settlement-groups',
    cases: [
      { body: {}, expected: { legs: FIELD } },
      {
        body: {
          group_id: 'g',
          timeout_seconds: 0,
          legs: [
            { account_id: 'a b', type: 'gift', amount: '0', token_id: '-' },
            { type: 'transfer', amount: '1', account_id: 'a', to_account_id: 'a', boundary: 'yes' },
          ],
        },
        expected: {
          group_id: 'ERR_INVALID_GROUP_ID',
          timeout_seconds: FIELD,
          'legs[0].account_id': ACCOUNT,
          'legs[0].type': 'ERR_INVALID_TYPE',
          'legs[0].amount': 'ERR_INVALID_AMOUNT',
          'legs[0].token_id': 'ERR_INVALID_TOKEN_ID',
          'legs[1].to_account_id': 'ERR_SELF_TRANSFER',
          'legs[1].boundary': FIELD,
        },
      },
    ],
  },
  {
    row: 'POST /v1/settlement-groups/{id}/revert',
    path: ({ cast }) => `/v1/settlement-groups/${textOf(cast.transferred.detail, 'group_id')}/revert`,
    cases: [
      { body: {}, expected: { reason: FIELD } },
      {
        body: { reason: '', txn_ids: ['x', 7] },
        expected: { reason: FIELD, 'txn_ids[0]': FIELD, 'txn_ids[1]': FIELD },
      },
    ],
  },
  {
    row: 'PUT /v1/shards/{id}/health',
    path: () => '/v1/shards/0/health',
    cases: [
      { body: {}, expected: { health_state: 'ERR_INVALID_HEALTH_STATE' } },
      {
        body: { health_state: 'poorly', txn_count: -1 },
        expected: { health_state: 'ERR_INVALID_HEALTH_STATE', txn_count: 'ERR_INVALID_TXN_COUNT' },
      },
    ],
  },
]

export const WRONG_BODIES: readonly WrongBodies[] = [SUBMISSION, TOKEN, NFT_CLASS, MINT, ...PROOFS, ...OTHERS]
