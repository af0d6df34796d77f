/** A well-formed request to every operation with a body, and the ledger's reply of success. */
import type { AccountActorView, Answer } from '../../../../actors/account/outcome.ts'
import type { JsonObject } from '../../../../actors/canonical-json.ts'
import { jwkOf } from '../../../../infra/keys/public-key.ts'
import { accountView, GROUP_ID, groupView, newAccountKey, tokenView, TXN_ID } from '../fakes/edge-fixture.ts'
import { HOLD_ID, holdView } from '../fakes/fake-holds.ts'

export const KEY = newAccountKey()
export const JWK: JsonObject = { ...jwkOf(KEY.publicKey) }
export const CLASS_ID = 'cls_01K6ZZZZZZ0000000000000000'
export const TERMS_HASH = `sha256:${'ab'.repeat(32)}`
export const SIGNATURE = Buffer.alloc(64, 7).toString('base64url')

export const ACCOUNT = accountView('alice', { key: { keyId: KEY.keyId, publicKey: KEY.publicKey } })

const told = { replayed: false, mismatch: false } as const
const RECEIPT = { txnId: TXN_ID, accountId: 'alice', shardId: 7, enqueuedAtMs: 1_760_000_000_000, groupId: null }
const METADATA = { weight: 1.5, color: 'red' }
const INSTANCE = {
  classId: CLASS_ID,
  instanceId: 'ruby:1@x',
  owner: 'alice',
  status: 'active',
  metadata: METADATA,
  mintedAtMs: 1_760_000_000_000,
} as const
const CLASS = {
  name: 'Gems',
  description: 'Stones',
  issuer: 'alice',
  metadataSchema: { type: 'object' },
  createdAtMs: 1_760_000_000_000,
}

interface WrittenRequest {
  readonly path: string
  readonly method?: 'PUT'
  readonly body: JsonObject
  /** The kind of command and the actor's reply, for operations that an actor decides. */
  readonly kind?: string
  readonly answer?: Answer
}

const ACTOR: AccountActorView = {
  accountId: 'alice',
  shardId: 7,
  state: 'active',
  paused: false,
  version: 3,
  holds: 2,
  pending: 1,
  resident: true,
  mailbox: 4,
}

export const ENDED_HOLD = holdView({ status: 'released', remaining: '0', metadata: null, endedAtMs: 1_760_000_000_000 })

/** By the operation ID of the OpenAPI document. */
export const WRITTEN = {
  createAccount: {
    path: '/v1/accounts',
    body: { account_id: 'alice', public_key: KEY.pem },
    kind: 'register',
    answer: { kind: 'registered', account: ACCOUNT, created: true, ...told },
  },
  rotateKey: {
    path: '/v1/accounts/alice/keys',
    body: { account_id: 'alice', public_key: KEY.pem, idempotency_key: 'k', signature: SIGNATURE },
    kind: 'rotate_key',
    answer: { kind: 'rotated', account: ACCOUNT, ...told },
  },
  changeStatus: {
    path: '/v1/accounts/alice/status',
    body: { status: 'frozen', incoming: 'refuse', reason: 'a court order' },
    kind: 'change_status',
    answer: { kind: 'status_changed', account: { ...ACCOUNT, status: 'frozen' } },
  },
  eraseAccount: {
    path: '/v1/accounts/alice/erase',
    body: { reason: 'asked to' },
    kind: 'erase',
    answer: { kind: 'status_changed', account: { ...ACCOUNT, status: 'erased', key: null } },
  },
  pauseAccount: {
    path: '/v1/accounts/alice/actor/pause',
    body: { reason: 'a stolen key' },
    kind: 'pause',
    answer: { kind: 'actor_shown', actor: { ...ACTOR, paused: true } },
  },
  resumeAccount: {
    path: '/v1/accounts/alice/actor/resume',
    body: { reason: 'a new key' },
    kind: 'resume',
    answer: { kind: 'actor_shown', actor: ACTOR },
  },
  submitTransaction: {
    path: '/v1/transactions',
    body: { type: 'credit', account_id: 'alice', amount: '10.50', idempotency_key: 'k', signature: SIGNATURE },
    kind: 'submit',
    answer: { kind: 'accepted', receipt: RECEIPT, ...told },
  },
  dryRunTransaction: {
    path: '/v1/transactions/dry-run',
    body: { type: 'debit', account_id: 'alice', amount: '10.50', idempotency_key: 'k', signature: SIGNATURE },
    kind: 'dry_run',
    answer: {
      kind: 'dry_run',
      result: {
        outcome: 'pending',
        failure: { code: 'expired', detail: 'Too late.' },
        balanceAfter: '12',
        availableAfter: '1.5',
        decidedBy: [
          { kind: 'account', id: 'bob' },
          { kind: 'group', id: GROUP_ID },
          { kind: 'exchange', id: GROUP_ID },
          { kind: 'token', id: 'eur.x' },
          { kind: 'instance', id: `${CLASS_ID}/ruby` },
        ],
      },
    },
  },
  createHold: {
    path: '/v1/holds',
    body: {
      account_id: 'alice',
      to_account_id: 'bob',
      amount: '10.50',
      token_id: 'EUR.x',
      expires_at: '2025-10-09T09:08:20Z',
      metadata: { order: '7' },
      idempotency_key: 'k',
      signature: SIGNATURE,
    },
    kind: 'create_hold',
    answer: { kind: 'hold_created', hold: holdView(), payloadHash: 'ab'.repeat(32), ...told },
  },
  captureHold: {
    path: `/v1/holds/${HOLD_ID}/captures`,
    body: {
      hold_id: HOLD_ID,
      account_id: 'bob',
      amount: '4',
      final: true,
      idempotency_key: 'k',
      signature: SIGNATURE,
    },
    kind: 'capture',
    answer: { kind: 'accepted', receipt: { ...RECEIPT, accountId: 'bob' }, ...told },
  },
  releaseHold: {
    path: `/v1/holds/${HOLD_ID}/release`,
    body: { hold_id: HOLD_ID, account_id: 'bob', signature: SIGNATURE },
    kind: 'release_hold',
    answer: { kind: 'hold_released', hold: ENDED_HOLD },
  },
  createFungibleToken: {
    path: '/v1/fungible-tokens',
    body: { symbol: 'EUR.x', decimals: 2, issuer: 'alice', total_supply: '1000.50' },
    kind: 'register_token',
    answer: { kind: 'token_registered', token: tokenView(), ...told },
  },
  createNftClass: {
    path: '/v1/nft-classes',
    body: { name: 'Gems', description: 'Stones', issuer: 'alice', metadata_schema: {} },
    kind: 'register_class',
    answer: { kind: 'class_registered', nftClass: { ...CLASS, classId: CLASS_ID }, ...told },
  },
  mintNft: {
    path: `/v1/nft-classes/${CLASS_ID}/instances`,
    body: {
      class_id: CLASS_ID,
      instance_id: 'ruby:1@x',
      account_id: 'alice',
      metadata: METADATA,
      idempotency_key: 'k',
      signature: SIGNATURE,
    },
    kind: 'mint',
    answer: { kind: 'minted', txnId: TXN_ID, payloadHash: 'ab'.repeat(32), instance: INSTANCE, ...told },
  },
  createSettlementGroup: {
    path: '/v1/settlement-groups',
    body: {
      group_id: GROUP_ID,
      legs: [
        { account_id: 'alice', type: 'debit', amount: '1' },
        { account_id: 'bob', type: 'credit', amount: '1' },
        { account_id: 'carol', type: 'debit', amount: '2', boundary: true },
        { account_id: 'dave', type: 'transfer', amount: '3', to_account_id: 'erin' },
      ],
      timeout_seconds: 60,
    },
    kind: 'register_group',
    answer: { kind: 'group_registered', group: groupView(), created: true, ...told },
  },
  revertSettlementGroup: {
    path: `/v1/settlement-groups/${GROUP_ID}/revert`,
    body: { reason: 'x' },
    kind: 'revert_group',
    answer: { kind: 'group_reverting', group: groupView({ status: 'reverting' }) },
  },
  declineSettlementGroup: {
    path: `/v1/settlement-groups/${GROUP_ID}/decline`,
    body: { group_id: GROUP_ID, account_id: 'alice', terms_hash: TERMS_HASH, signature: SIGNATURE },
    kind: 'decline_legs',
    answer: { kind: 'legs_declined', groupId: GROUP_ID },
  },
  createAttestation: {
    path: '/v1/attestations',
    body: {
      attester: 'assay@london',
      subject_class: CLASS_ID,
      subject_instance: 'bar:0001',
      attestation_type: 'assay',
      statement: 'Fine gold, 999.9.',
    },
  },
  revokeAttestation: { path: '/v1/attestations/att_01K6ZZZZZZ0000000000000000/revoke', body: { reason: 'x' } },
  createWebhook: { path: '/v1/webhooks', body: { url: 'https://receiver.example/ledger', types: ['ledger.group.*'] } },
  proveLiabilities: { path: '/v1/assertions/proof-of-liabilities', body: { requester: 'bank' } },
  proveProvenance: { path: '/v1/assertions/proof-of-provenance', body: { requester: 'bank' } },
  proveCompliance: { path: '/v1/assertions/proof-of-compliance', body: { requester: 'bank' } },
  verifyAssertion: {
    path: '/v1/assertions/verify',
    body: { assertion_type: 'proof-of-liabilities', result: {}, signature: 'AAAA' },
  },
  createClient: { path: '/v1/clients', body: { client_id: 'shop', role: 'viewer' } },
  createExport: {
    path: '/v1/exports',
    body: { requester: 'bank', account_ids: ['alice', 'bob'], audience: GROUP_ID, recipient_public_key: JWK },
  },
  createImport: { path: '/v1/imports', body: { import_id: GROUP_ID, part: 0, records: [{}], last: false } },
  putShardHealth: { path: '/v1/shards/7/health', method: 'PUT', body: { health_state: 'draining' } },
} as const satisfies Readonly<Record<string, WrittenRequest>>

export type WrittenId = keyof typeof WRITTEN

export interface DecidedRequest extends WrittenRequest {
  readonly id: WrittenId
  readonly kind: string
  readonly answer: Answer
}

/** The requests that an actor decides. */
export const DECIDED: readonly DecidedRequest[] = Object.entries<WrittenRequest>(WRITTEN).flatMap(([id, request]) => {
  const { kind, answer } = request
  return kind === undefined || answer === undefined ? [] : [{ ...request, id: id as WrittenId, kind, answer }]
})

/** Operations that an account or issuer signs, with the signed bodies. */
export const SIGNED: readonly (readonly [id: WrittenId, body: JsonObject])[] = DECIDED.flatMap(({ id, body }) => {
  const { signature, ...rest } = body
  return signature !== undefined || body['issuer'] !== undefined ? [[id, rest] as const] : []
})
