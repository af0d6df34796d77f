/** For each field of each body, values at and beyond its bounds that the interface accepts or refuses, by hand. */
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import { GROUP_ID } from '../fakes/edge-fixture.ts'
import { CLASS_ID, TERMS_HASH, WRITTEN, type WrittenId } from '../routes/written-requests.ts'
import {
  ACCOUNT_ID,
  ACCOUNT_KEY,
  AMOUNT,
  HASH,
  IDEMPOTENCY_KEY,
  NFT_METADATA,
  OBJECT,
  ORDER_METADATA,
  SIGNATURE,
  TEXT,
  TIMESTAMP,
  TOKEN_ID,
  URL,
  UUID,
  WEBHOOK_URL,
  oneOf,
  printable,
  same,
  text,
  whole,
  type FieldRule,
} from './field-values.ts'

/** The error code by the name of the field. Default: ERR_INVALID_FIELD. */
export const CODES: Readonly<Record<string, string>> = {
  account_id: 'ERR_INVALID_ACCOUNT_ID',
  to_account_id: 'ERR_INVALID_ACCOUNT_ID',
  owner: 'ERR_INVALID_ACCOUNT_ID',
  amount: 'ERR_INVALID_AMOUNT',
  type: 'ERR_INVALID_TYPE',
  token_id: 'ERR_INVALID_TOKEN_ID',
  class_id: 'ERR_INVALID_CLASS_ID',
  subject_class: 'ERR_INVALID_CLASS_ID',
  group_id: 'ERR_INVALID_GROUP_ID',
  signature: 'ERR_INVALID_SIGNATURE',
  proof: 'ERR_INVALID_SIGNATURE',
  idempotency_key: 'ERR_INVALID_IDEMPOTENCY_KEY',
  public_key: 'ERR_INVALID_PUBLIC_KEY',
  recipient_public_key: 'ERR_INVALID_PUBLIC_KEY',
  symbol: 'ERR_INVALID_SYMBOL',
  decimals: 'ERR_INVALID_DECIMALS',
  issuer: 'ERR_INVALID_ISSUER',
  name: 'ERR_INVALID_NAME',
  metadata_schema: 'ERR_INVALID_SCHEMA',
  requester: 'ERR_INVALID_REQUESTER',
  total_supply: 'ERR_INVALID_TOTAL_SUPPLY',
  expires_at: 'ERR_INVALID_TIMESTAMP',
  health_state: 'ERR_INVALID_HEALTH_STATE',
  txn_count: 'ERR_INVALID_TXN_COUNT',
}

const TXN_IDS: FieldRule = {
  right: [],
  wrong: [
    'x',
    [],
    Array(2).fill('txn_01K6ZZZZZZ0000000000000000'),
    Array.from({ length: 101 }, (_, n) => `txn_${String(n).padStart(26, '0')}`),
  ],
}
const LEGS: readonly JsonObject[] = WRITTEN.createSettlementGroup.body.legs
const [, , LEG] = WRITTEN.createSettlementGroup.body.legs

const ORDER = WRITTEN.submitTransaction.body
const NFT = { class_id: CLASS_ID, instance_id: 'one', amount: '1' }
const SWAP = { ...ORDER, type: 'exchange', token_id: 'EUR', group_id: GROUP_ID, to_account_id: 'bob' }

/** Bodies that contain other bodies or have alternatives: see batches.test.ts and token.test.ts. */
export const MADE_OF_OTHERS: ReadonlySet<string> = new Set(['submitBatch', 'issueToken'])

interface BodyRules {
  readonly id: WrittenId
  /** Where an operation has bodies of several kinds. */
  readonly variant?: string
  readonly body?: JsonObject
  /** `?`: may be absent. `~`: may be absent where others are there, or are not. */
  readonly fields: Readonly<Record<string, FieldRule>>
}

const TXN_ID: FieldRule = {
  right: ['txn_01K6ZZZZZZ0000000000000000', `txn_7${'Z'.repeat(25)}`],
  wrong: ['txn_1', '', '01K6ZZZZZZ0000000000000000', 'txn_01k6zzzzzz0000000000000000', `txn_8${'Z'.repeat(25)}`, 7],
}

const ORDERS: readonly Omit<BodyRules, 'id'>[] = [
  {
    fields: {
      account_id: ACCOUNT_ID,
      amount: AMOUNT,
      type: { ...oneOf('credit'), right: ['credit', 'debit'] },
      signature: SIGNATURE,
      idempotency_key: IDEMPOTENCY_KEY,
      'token_id?': TOKEN_ID,
      'group_id?': UUID,
      'metadata?': ORDER_METADATA,
      'ledger_id?': text(128),
      'expires_at?': TIMESTAMP,
    },
  },
  {
    variant: ', in a group',
    body: { ...ORDER, group_id: GROUP_ID, terms_hash: TERMS_HASH },
    fields: { 'terms_hash?': HASH },
  },
  {
    variant: ', of an NFT',
    body: { ...ORDER, type: 'transfer', to_account_id: 'bob', ...NFT },
    fields: { 'to_account_id~': ACCOUNT_ID, 'class_id~': text(128), 'instance_id~': ACCOUNT_ID },
  },
  {
    variant: ', a refund',
    body: { ...ORDER, type: 'transfer', refunds: 'txn_01K6ZZZZZZ0000000000000000' },
    fields: { 'refunds~': TXN_ID, 'to_account_id?': ACCOUNT_ID },
  },
  {
    variant: ', an exchange',
    body: { ...SWAP, receive: { amount: '2', token_id: 'USD' } },
    fields: { receive: { right: [NFT], wrong: [] }, 'receive.amount': AMOUNT, 'receive.token_id~': TOKEN_ID },
  },
  {
    variant: ', an exchange for an NFT',
    body: { ...SWAP, receive: NFT },
    fields: { 'receive.class_id~': text(128), 'receive.instance_id~': ACCOUNT_ID },
  },
]

export const FIELDS: readonly BodyRules[] = [
  { id: 'createAccount', fields: { account_id: ACCOUNT_ID, public_key: ACCOUNT_KEY } },
  {
    id: 'rotateKey',
    fields: {
      account_id: same('bob', 7),
      public_key: ACCOUNT_KEY,
      idempotency_key: IDEMPOTENCY_KEY,
      signature: SIGNATURE,
      'proof?': SIGNATURE,
      'ledger_id?': text(128),
    },
  },
  {
    id: 'changeStatus',
    fields: {
      'status?': oneOf('active', 'frozen', 'closed'),
      'incoming?': oneOf('accept', 'refuse'),
      reason: text(1_024),
    },
  },
  { id: 'eraseAccount', fields: { reason: text(1_024) } },
  { id: 'pauseAccount', fields: { reason: text(1_024) } },
  { id: 'resumeAccount', fields: { reason: text(1_024) } },
  ...(['submitTransaction', 'dryRunTransaction'] as const).flatMap((id) => ORDERS.map((rules) => ({ id, ...rules }))),
  {
    id: 'createHold',
    fields: {
      account_id: ACCOUNT_ID,
      to_account_id: ACCOUNT_ID,
      amount: AMOUNT,
      'token_id?': TOKEN_ID,
      expires_at: TIMESTAMP,
      'metadata?': ORDER_METADATA,
      'ledger_id?': text(128),
      idempotency_key: IDEMPOTENCY_KEY,
      signature: SIGNATURE,
    },
  },
  {
    id: 'captureHold',
    fields: {
      hold_id: same('hld_01K6ZZZZZZ0000000000000001', 'hld_1', '', 7),
      account_id: ACCOUNT_ID,
      amount: AMOUNT,
      'final?': { right: [true, false], wrong: ['yes', 1] },
      'ledger_id?': text(128),
      idempotency_key: IDEMPOTENCY_KEY,
      signature: SIGNATURE,
    },
  },
  {
    id: 'releaseHold',
    fields: {
      'hold_id~': same('hld_01K6ZZZZZZ0000000000000001', 'hld_1', '', 7),
      'account_id~': ACCOUNT_ID,
      'ledger_id?': text(128),
      'signature~': SIGNATURE,
    },
  },
  { id: 'releaseHold', variant: ', by an administrator', body: { reason: 'x' }, fields: { 'reason~': text(256) } },
  {
    id: 'createFungibleToken',
    fields: {
      symbol: TOKEN_ID,
      decimals: { ...whole(0, 18), right: [2, 18] },
      issuer: ACCOUNT_ID,
      total_supply: {
        right: ['0', '1.50', `1.5${'0'.repeat(17)}`, '9'.repeat(18)],
        wrong: ['-1', '', '1e3', '1.001', '9'.repeat(19), 5],
        inWords: true,
      },
      'signature?': SIGNATURE,
    },
  },
  {
    id: 'createFungibleToken',
    variant: ', of whole units',
    body: { ...WRITTEN.createFungibleToken.body, total_supply: '1000' },
    fields: { decimals: whole(0, 18) },
  },
  {
    id: 'createNftClass',
    fields: {
      name: text(256),
      description: text(4_096, 0),
      issuer: ACCOUNT_ID,
      metadata_schema: OBJECT,
      'signature?': SIGNATURE,
    },
  },
  {
    id: 'mintNft',
    fields: {
      class_id: same('cls_01K6ZZZZZZ0000000000000001', CLASS_ID.toLowerCase(), '', 7),
      instance_id: ACCOUNT_ID,
      account_id: ACCOUNT_ID,
      'owner?': ACCOUNT_ID,
      metadata: NFT_METADATA,
      'ledger_id?': text(128),
      idempotency_key: IDEMPOTENCY_KEY,
      signature: SIGNATURE,
    },
  },
  {
    id: 'createSettlementGroup',
    fields: {
      'group_id?': UUID,
      legs: {
        right: [LEGS.slice(0, 2), Array.from({ length: 64 }, () => LEG)],
        wrong: ['legs', [], LEGS.slice(2, 3), Array.from({ length: 65 }, () => LEG)],
      },
      'timeout_seconds?': whole(1, 86_400),
    },
  },
  {
    id: 'createSettlementGroup',
    variant: ', a leg',
    body: { ...WRITTEN.createSettlementGroup.body },
    fields: {
      'legs[2].account_id': ACCOUNT_ID,
      'legs[2].type': oneOf('debit', 'credit'),
      'legs[2].amount': AMOUNT,
      'legs[2].token_id?': TOKEN_ID,
      'legs[2].boundary~': { right: [], wrong: ['yes', 1] },
      'legs[3].to_account_id~': ACCOUNT_ID,
    },
  },
  { id: 'revertSettlementGroup', fields: { reason: text(256), 'txn_ids~': TXN_IDS } },
  {
    id: 'declineSettlementGroup',
    fields: {
      group_id: same('5f0c8a44-2b1e-4c3d-8e9f-1a2b3c4d5e6f', 'g', 7),
      account_id: ACCOUNT_ID,
      terms_hash: HASH,
      'ledger_id?': text(128),
      signature: SIGNATURE,
    },
  },
  {
    id: 'createAttestation',
    fields: {
      attester: printable(256, 'erased:0123456789ab'),
      subject_class: text(128),
      subject_instance: { ...ACCOUNT_ID, inWords: true },
      attestation_type: printable(64),
      statement: { ...text(4_096), right: [...text(4_096).right, 'a\nb\t\u202e'] },
      'evidence_url?': URL,
      'signature?': SIGNATURE,
    },
  },
  { id: 'revokeAttestation', fields: { 'reason?': text(1_024) } },
  {
    id: 'createClient',
    fields: {
      client_id: { right: ['!', '~'.repeat(128), 'a/b'], wrong: ['a b', '', 'é', '\n', 'x'.repeat(129), 7] },
      role: oneOf('viewer', 'transactor', 'admin'),
      'boundary?': {
        right: [true, false, ['EUR'], Array<Json>(100).fill('BASE')],
        wrong: ['true', [], ['-'], [7], {}, Array<Json>(101).fill('BASE')],
      },
      'accounts?': {
        right: [['alice'], ['shop:*', 'x'.repeat(128)], Array<Json>(100).fill('a')],
        wrong: ['alice', [], ['*'], ['a b'], [7], Array<Json>(101).fill('a')],
        inWords: true,
      },
      'rate?': {
        right: ['none', '5', '0.001', '1000000/1000000'],
        wrong: ['', 'fast', '0', '1/0', '-1', '5/', '1000001', 7],
        inWords: true,
      },
      'public_key?': ACCOUNT_KEY,
    },
  },
  {
    id: 'createWebhook',
    fields: {
      url: WEBHOOK_URL,
      'types?': {
        right: [['ledger.transaction.completed.v1', 'ledger.nft.*'], Array<Json>(20).fill('ledger.group.*')],
        wrong: ['ledger.group.*', [], ['*'], ['ledger.*'], [7], Array<Json>(21).fill('ledger.group.*')],
      },
      'account_id?': ACCOUNT_ID,
      'description?': text(256),
    },
  },
  { id: 'proveLiabilities', fields: { requester: text(256) } },
  { id: 'proveProvenance', fields: { requester: text(256) } },
  { id: 'proveCompliance', fields: { requester: text(256) } },
  { id: 'verifyAssertion', fields: { assertion_type: TEXT, result: OBJECT, signature: TEXT } },
  {
    id: 'createExport',
    fields: {
      requester: text(256),
      'account_ids~': {
        right: [['a'], Array.from({ length: 1_000 }, (_, n) => `a${n}`)],
        wrong: ['alice', [], Array.from({ length: 1_001 }, (_, n) => `a${n}`)],
      },
      'all~': { right: [], wrong: [false, 1, 'true'] },
      'mode?': oneOf('copy', 'move'),
      audience: UUID,
      recipient_public_key: ACCOUNT_KEY,
    },
  },
  {
    id: 'createImport',
    fields: {
      import_id: { ...UUID, right: [] },
      part: { ...whole(0, Number.MAX_SAFE_INTEGER), right: [] },
      records: { right: [], wrong: ['text', []] },
      last: { right: [], wrong: ['yes', 1] },
    },
  },
  {
    id: 'putShardHealth',
    fields: {
      health_state: { ...oneOf('healthy', 'draining'), wrong: ['unavailable', 'Draining', 'moving', '', ['draining']] },
      'txn_count?': whole(0, Number.MAX_SAFE_INTEGER),
    },
  },
]
