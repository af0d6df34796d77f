/** A ledger with the same data for every account, and a request about one account for each route. */
import { encodeUlid } from '../../../../actors/identifiers.ts'
import type { LedgerReads, TransactionView } from '../../../../runtime/ports/ledger-reads.ts'
import { anAttestation } from '../../../contract/attestation-store/attestation-store-scene.ts'
import {
  accountView,
  createEdgeFixture,
  createFakeReads,
  type EdgeFixture,
  GROUP_ID,
  groupView,
  tokenView,
  transactionView,
} from '../fakes/edge-fixture.ts'
import { holdView } from '../fakes/fake-holds.ts'
import { CLASS_ID, WRITTEN, type WrittenId } from '../routes/written-requests.ts'

export const SCOPE = ['alice', 'shop:*']
export const INSIDE = ['alice', 'shop:1'] as const
export const OUTSIDE = ['alice2', 'shop', 'Shop:1', 'bob'] as const

export interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
}

/** Requests about one account, by route. */
export const ABOUT_AN_ACCOUNT: Readonly<Record<string, (accountId: string) => Asked>> = {
  'GET /v1/accounts/{}': (id) => get(`/v1/accounts/${id}`),
  'GET /v1/accounts/{}/state': (id) => get(`/v1/accounts/${id}/state`),
  'GET /v1/accounts/{}/expectations': (id) => get(`/v1/accounts/${id}/expectations`),
  'POST /v1/settlement-groups/{}/decline': (id) => written('declineSettlementGroup', { account_id: id }),
  'GET /v1/accounts/{}/audit-chain': (id) => get(`/v1/accounts/${id}/audit-chain`),
  'GET /v1/accounts/{}/log-key': (id) => get(`/v1/accounts/${id}/log-key`),
  'GET /v1/accounts/{}/audit-chain/{}/proof': (id) => get(`/v1/accounts/${id}/audit-chain/0/proof`),
  'GET /v1/accounts/{}/balances': (id) => get(`/v1/accounts/${id}/balances`),
  'GET /v1/accounts/{}/balances/{}': (id) => get(`/v1/accounts/${id}/balances/BASE`),
  'GET /v1/accounts/{}/statements': (id) => get(`/v1/accounts/${id}/statements?token_id=BASE`),
  'GET /v1/accounts/{}/nfts': (id) => get(`/v1/accounts/${id}/nfts`),
  'GET /v1/accounts/{}/holds': (id) => get(`/v1/accounts/${id}/holds`),
  'GET /v1/holds/{}': (id) => get(`/v1/holds/${holdIdOf(id)}`),
  'POST /v1/holds': (id) => written('createHold', { account_id: id, to_account_id: 'anybody' }),
  'POST /v1/holds/{}/captures': (id) =>
    post(`/v1/holds/${holdIdOf(id)}/captures`, { ...WRITTEN.captureHold.body, hold_id: holdIdOf(id), account_id: id }),
  'POST /v1/holds/{}/release': (id) => post(`/v1/holds/${holdIdOf(id)}/release`, { reason: 'r' }),
  'GET /v1/accounts/{}/liability-proof': (id) => get(`/v1/accounts/${id}/liability-proof`),
  'GET /v1/transactions/{}': (id) => get(`/v1/transactions/${txnIdOf(id)}`),
  'GET /v1/transactions/{}/receipt': (id) => get(`/v1/transactions/${txnIdOf(id)}/receipt`),
  'GET /v1/transactions/group/{}': (id) => get(`/v1/transactions/group/${groupIdOf(id)}`),
  'GET /v1/settlement-groups/{}': (id) => get(`/v1/settlement-groups/${groupIdOf(id)}`),
  'GET /v1/nft-classes/{}/instances/{}': (id) => get(nftPathOf(id)),
  'GET /v1/nft-classes/{}/instances/{}/history': (id) => get(`${nftPathOf(id)}/history`),
  'GET /v1/nft-classes/{}/instances/{}/provenance': (id) => get(`${nftPathOf(id)}/provenance`),
  'GET /v1/attestations/{}': (id) => get(`/v1/attestations/${attestationIdOf(id)}`),
  'POST /v1/attestations/{}/revoke': (id) => post(`/v1/attestations/${attestationIdOf(id)}/revoke`, {}),
  'POST /v1/attestations': (id) => written('createAttestation', { attester: id, subject_instance: 'of-bob' }),
  'POST /v1/transactions': (id) =>
    written('submitTransaction', { account_id: id, type: 'transfer', to_account_id: 'anybody' }),
  'POST /v1/transactions/dry-run': (id) => written('dryRunTransaction', { account_id: id }),
  'POST /v1/accounts': (id) => written('createAccount', { account_id: id }),
  'POST /v1/accounts/{}/keys': (id) => written('rotateKey', { account_id: id }, id),
  'POST /v1/accounts/{}/status': (id) => written('changeStatus', {}, id),
  'POST /v1/accounts/{}/erase': (id) => written('eraseAccount', {}, id),
  'GET /v1/accounts/{}/actor': (id) => get(`/v1/accounts/${id}/actor`),
  'POST /v1/accounts/{}/actor/pause': (id) => written('pauseAccount', {}, id),
  'POST /v1/accounts/{}/actor/resume': (id) => written('resumeAccount', {}, id),
  'POST /v1/webhooks': (id) => written('createWebhook', { account_id: id }),
  'POST /v1/fungible-tokens': (id) => written('createFungibleToken', { symbol: 'NEW', issuer: id }),
  'POST /v1/nft-classes': (id) => written('createNftClass', { issuer: id }),
  'POST /v1/nft-classes/{}/instances': (id) => written('mintNft', { account_id: id, owner: 'anybody' }),
  'POST /v1/settlement-groups': (id) =>
    post('/v1/settlement-groups', {
      legs: [
        { account_id: 'zoe', type: 'debit', amount: '1' },
        { account_id: id, type: 'credit', amount: '1' },
      ],
    }),
  'POST /v1/settlement-groups/{}/revert': (id) =>
    post(`/v1/settlement-groups/${groupIdOf(id)}/revert`, { reason: 'r' }),
}

function get(path: string): Asked {
  return { method: 'GET', path }
}

/** The well-formed request of the operation, about another account. */
function written(operation: WrittenId, changes: object, accountId = 'alice'): Asked {
  const { path, body } = WRITTEN[operation]
  return post(path.replace('/alice/', `/${accountId}/`), { ...body, ...changes })
}

export function post(path: string, body: object): Asked {
  return { method: 'POST', path, body }
}

export const ACCOUNTS = [...INSIDE, ...OUTSIDE]

function numberOf(accountId: string): number {
  return ACCOUNTS.findIndex((known) => known === accountId)
}

export function txnIdOf(accountId: string): string {
  return `txn_${encodeUlid({ timeMs: 1_760_000_000_000, counter: numberOf(accountId) + 1, shardId: 0, random: 0 })}`
}

export function holdIdOf(accountId: string): string {
  return txnIdOf(accountId).replace('txn_', 'hld_')
}

function groupIdOf(accountId: string): string {
  return `${GROUP_ID.slice(0, -1)}${numberOf(accountId)}`
}

function nftPathOf(accountId: string): string {
  return `/v1/nft-classes/${CLASS_ID}/instances/${instanceIdOf(accountId)}`
}

export function instanceIdOf(accountId: string): string {
  return `of-${accountId}`
}

export function attestationIdOf(accountId: string): string {
  return `att_${String(numberOf(accountId)).padStart(26, '0')}`
}

export function transactionOf(accountId: string): TransactionView {
  return transactionView({ txnId: txnIdOf(accountId), accountId, groupId: groupIdOf(accountId) })
}

/** Every account has a row of each kind, so a 404 can only come from the scope. */
export function createLedger(lists: Partial<Pick<LedgerReads, 'accounts'>> = {}): EdgeFixture {
  const reads = Object.assign(createFakeReads(), lists)
  const signatures = { verifyMany: async (checks: readonly unknown[]) => checks.map(() => true) }
  const edge = { ...createEdgeFixture({ signatures, reads }), reads }
  const { attestations } = edge
  reads.tokenViews.set('EUR.x', tokenView())
  const nftClass = {
    classId: CLASS_ID,
    issuer: 'mint',
    name: 'Class',
    description: '',
    metadataSchema: {},
    createdAtMs: 0,
  }
  reads.classViews.set(CLASS_ID, nftClass)
  attestations.state.classes.set(CLASS_ID, 'Class')
  for (const id of ACCOUNTS) {
    reads.accountViews.set(id, accountView(id))
    const balance = { tokenId: 'BASE', tokenClass: 'fungible', decimals: 18, updatedAtMs: 0 } as const
    reads.balanceViews.set(id, [{ ...balance, balance: '1', available: '1', incoming: '0' }])
    reads.chains.set(id, { entries: [], next: null, total: 0 })
    reads.transactionViews.set(txnIdOf(id), transactionOf(id))
    reads.holdViews.set(holdIdOf(id), holdView({ holdId: holdIdOf(id), accountId: 'zoe', toAccountId: id }))
    reads.receipts.set(txnIdOf(id), { payload: '{}', signature: 's' })
    const [leg] = groupView().legs
    if (leg === undefined) throw new Error('the group has legs')
    reads.groupViews.set(groupIdOf(id), groupView({ groupId: groupIdOf(id), legs: [{ ...leg, accountId: id }] }))
    const hashes = { previousHash: '0'.repeat(64), eventHash: '1'.repeat(64), payload: '{}' }
    const event = { number: 0, type: 'mint', from: null, to: id, txnId: txnIdOf(id), atMs: 0, ...hashes } as const
    const name = `${CLASS_ID}/${instanceIdOf(id)}`
    const instance = { classId: CLASS_ID, instanceId: instanceIdOf(id), owner: id, status: 'active' } as const
    reads.instanceViews.set(name, { ...instance, metadata: {}, mintedAtMs: 0 })
    reads.nftHistories.set(name, [event])
    attestations.state.instances.set(name, { issuer: 'mint', events: [event] })
    const attestationId = attestationIdOf(id)
    attestations.state.attestations.set(
      attestationId,
      anAttestation({ attestationId, subjectClass: CLASS_ID, subjectInstance: instanceIdOf(id), submittedBy: 'x' }),
    )
  }
  return edge
}
