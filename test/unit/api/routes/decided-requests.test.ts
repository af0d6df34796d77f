/** The edge sends each command to its actor and shows the actor's reply. */
import { expect, test } from 'vitest'
import { accountAddress, classAddress, groupAddress, tokenAddress } from '../../../../actors/address.ts'
import { canonical } from '../../../support/client/client-keys.ts'
import { bodyOf, clientOf, createEdgeFixture, GROUP_ID, TXN_ID } from '../fakes/edge-fixture.ts'
import { HOLD_ID } from '../fakes/fake-holds.ts'
import {
  ACCOUNT_SHOWN,
  ACTOR_SHOWN,
  AT,
  CLASS_SHOWN,
  ERASED_SHOWN,
  GROUP_SHOWN,
  HOLD_SHOWN,
  INSTANCE_SHOWN,
  TOKEN_SHOWN,
} from './shown.ts'
import { CLASS_ID, DECIDED, KEY, SIGNED, WRITTEN, type WrittenId } from './written-requests.ts'

interface Done {
  readonly actor: ReturnType<typeof accountAddress>
  /** The operation without the signed payload and its signature. */
  readonly asked: object
  readonly status: number
  readonly location: string | null
  readonly shown: object
}

const NEW_KEY = { keyId: KEY.keyId, publicKey: KEY.publicKey }
const ALICE = accountAddress('alice')
const GROUP_PATH = `/v1/settlement-groups/${GROUP_ID}`
const REGISTERED = { registrationKey: 'once' }
const CHANGED = { actor: ALICE, status: 200, location: null }

const ADMINISTERED = new Set(['change_status', 'erase', 'pause', 'resume'])

const DONE: Readonly<Partial<Record<WrittenId, Done>>> = {
  createAccount: {
    actor: ALICE,
    asked: { key: NEW_KEY, ...REGISTERED },
    status: 201,
    location: '/v1/accounts/alice',
    shown: ACCOUNT_SHOWN,
  },
  rotateKey: { ...CHANGED, asked: { proof: null }, status: 201, shown: ACCOUNT_SHOWN },
  changeStatus: {
    ...CHANGED,
    asked: { status: 'frozen', incoming: 'refuse', reason: 'a court order', ...REGISTERED },
    shown: { ...ACCOUNT_SHOWN, status: 'frozen' },
  },
  eraseAccount: { ...CHANGED, asked: { reason: 'asked to' }, shown: ERASED_SHOWN },
  pauseAccount: { ...CHANGED, asked: { reason: 'a stolen key' }, shown: { ...ACTOR_SHOWN, paused: true } },
  resumeAccount: { ...CHANGED, asked: { reason: 'a new key' }, shown: ACTOR_SHOWN },
  submitTransaction: {
    actor: ALICE,
    asked: {},
    status: 202,
    location: `/v1/transactions/${TXN_ID}`,
    shown: { txn_id: TXN_ID, account_id: 'alice', status: 'pending', shard_id: 7, enqueued_at: AT },
  },
  dryRunTransaction: {
    ...CHANGED,
    asked: {},
    shown: {
      outcome: 'pending',
      failure: { code: 'expired', detail: 'Too late.' },
      balance_after: '12',
      available_after: '1.5',
      decided_by: [
        { kind: 'account', id: 'bob' },
        { kind: 'settlement_group', id: GROUP_ID },
        { kind: 'exchange', id: GROUP_ID },
        { kind: 'token', id: 'eur.x' },
        { kind: 'nft_instance', id: `${CLASS_ID}/ruby` },
      ],
    },
  },
  createHold: {
    actor: ALICE,
    asked: {},
    status: 201,
    location: `/v1/holds/${HOLD_ID}`,
    shown: { ...HOLD_SHOWN, metadata: { order: '7' } },
  },
  captureHold: {
    actor: accountAddress('bob'),
    asked: { fromAccountId: 'alice', tokenId: 'EUR.x' },
    status: 202,
    location: `/v1/transactions/${TXN_ID}`,
    shown: { txn_id: TXN_ID, account_id: 'bob', status: 'pending', shard_id: 7, enqueued_at: AT },
  },
  releaseHold: {
    ...CHANGED,
    actor: accountAddress('bob'),
    asked: {},
    shown: { ...HOLD_SHOWN, status: 'released', remaining: '0', ended_at: AT },
  },
  createFungibleToken: {
    actor: tokenAddress('eur.x'),
    asked: REGISTERED,
    status: 201,
    location: '/v1/fungible-tokens/EUR.x',
    shown: TOKEN_SHOWN,
  },
  createNftClass: {
    actor: classAddress('GEMS'),
    asked: REGISTERED,
    status: 201,
    location: `/v1/nft-classes/${CLASS_ID}`,
    shown: CLASS_SHOWN,
  },
  mintNft: {
    actor: ALICE,
    asked: { metadataVerdict: 'unchecked' },
    status: 201,
    location: `${WRITTEN.mintNft.path}/ruby%3A1%40x`,
    shown: { class_id: CLASS_ID, ...INSTANCE_SHOWN },
  },
  createSettlementGroup: {
    actor: groupAddress(GROUP_ID),
    asked: { payload: canonical(WRITTEN.createSettlementGroup.body), ...REGISTERED },
    status: 201,
    location: GROUP_PATH,
    shown: GROUP_SHOWN,
  },
  revertSettlementGroup: {
    actor: groupAddress(GROUP_ID),
    asked: { reason: 'x', transactions: [] },
    status: 202,
    location: null,
    shown: { ...GROUP_SHOWN, status: 'reverting' },
  },
  declineSettlementGroup: {
    actor: ALICE,
    asked: {},
    status: 202,
    location: GROUP_PATH,
    shown: { group_id: GROUP_ID, account_id: 'alice', declined: true },
  },
}

test.for(DECIDED)('$id reaches its actor, and the edge shows the reply', async ({ id, kind, path, body, answer }) => {
  const edge = createEdgeFixture()
  edge.gateway.outcome = { kind: 'answered', answer }
  const role = ADMINISTERED.has(kind) ? 'admin' : 'transactor'
  const response = await edge.post(path, body, await edge.tokenFor(role), { 'idempotency-key': 'once' })
  const { actor, asked, ...answered } = DONE[id] ?? {}
  const location = response.headers.get('location')
  expect({ status: response.status, location, shown: await bodyOf(response) }).toEqual(answered)
  const [, payload] = SIGNED.find(([signed]) => signed === id) ?? []
  const { signature = null } = body
  const signed = payload === undefined ? {} : { payload: canonical(payload), signature }
  const caller = { clientId: `client-${role}`, role, boundary: true }
  expect(edge.gateway.asked).toEqual([{ actor, caller, operation: { kind, ...signed, ...asked } }])
})

test.for([false, ['USD']])('a request carries the client’s grant for external accounts: %o', async (boundary) => {
  const edge = createEdgeFixture()
  edge.access.clients.set('client-transactor', { ...clientOf('client-transactor', 'transactor'), boundary })
  const [request] = DECIDED.filter(({ id }) => id === 'revertSettlementGroup')
  if (request === undefined) throw new Error('groups can be reverted')
  edge.gateway.outcome = { kind: 'answered', answer: request.answer }
  await edge.post(request.path, request.body, await edge.tokenFor('transactor'), { 'idempotency-key': 'once' })
  expect(edge.gateway.asked.map(({ caller }) => caller.boundary)).toEqual([boundary])
})
