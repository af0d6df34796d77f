/** The edge shows each resource with all its members, and no others. */
import { expect, test } from 'vitest'
import type { TransactionView } from '../../../../runtime/ports/ledger-reads.ts'
import { legHold } from '../../../support/postgres/ledger-rows-values.ts'
import {
  accountView,
  bodyOf,
  createEdgeFixture,
  ENTRY as COMPLETED_ENTRY,
  type EdgeFixture,
  type FakeReads,
  GROUP_ID,
  groupView,
  tokenView,
  transactionView,
  TXN_ID,
} from '../fakes/edge-fixture.ts'
import {
  ACCOUNT_SHOWN,
  AT,
  CLASS_SHOWN,
  ERASED_SHOWN,
  GROUP_SHOWN,
  INSTANCE_SHOWN,
  KEYLESS,
  LISTED_TRANSACTION,
  METADATA,
  TOKEN_SHOWN,
  TRANSACTION_SHOWN,
} from './shown.ts'
import { ACCOUNT, CLASS_ID } from './written-requests.ts'

const AT_MS = 1_760_000_000_000
const ZEROS = '0'.repeat(64)
const ONES = '1'.repeat(64)
const END = { next_page_token: '' }
const ALL = { next_page_token: '', total_count: 1, total_count_relation: 'eq' }

const BALANCE = { tokenClass: 'fungible', balance: '100.5', available: '100', incoming: '0', decimals: 18 } as const
const BALANCE_SHOWN = {
  token_class: 'fungible',
  balance: '100.5',
  available: '100',
  incoming: '0',
  decimals: 18,
  updated_at: AT,
}
const ENTRY = { sequence: 0, txnId: null, previousHash: ZEROS, auditHash: ONES, payload: '{"sequence":0}' }
const ENTRY_SHOWN = {
  sequence: 0,
  txn_id: null,
  previous_hash: `sha256:${ZEROS}`,
  audit_hash: `sha256:${ONES}`,
  payload: '{"sequence":0}',
}
const CLASS = {
  classId: CLASS_ID,
  name: 'Gems',
  description: 'Stones',
  issuer: 'alice',
  metadataSchema: { type: 'object' },
  createdAtMs: AT_MS,
}
const INSTANCE = {
  classId: CLASS_ID,
  instanceId: 'ruby:1@x',
  owner: 'alice',
  status: 'active',
  metadata: METADATA,
  mintedAtMs: AT_MS,
} as const
const EVENT = { previousHash: ZEROS, eventHash: ONES, payload: '{}', to: 'bob', number: 0, atMs: AT_MS }
const RUBY = `${CLASS_ID}/ruby:1@x`
const INSTANCES = `/v1/nft-classes/${CLASS_ID}/instances`
const LEG = legHold({ groupId: GROUP_ID, leg: 2, state: 'expected', txnId: null })
const PAGE = { next: null, ended: true, count: { total: 1, exact: true } }

function scene(): EdgeFixture {
  const edge = createEdgeFixture()
  const { reads } = edge
  reads.accountViews.set('alice', ACCOUNT)
  reads.balanceViews.set('alice', [{ ...BALANCE, tokenId: 'BASE', updatedAtMs: AT_MS }])
  reads.chains.set('alice', { entries: [ENTRY, { ...ENTRY, sequence: 1, txnId: TXN_ID }], next: null, total: 1 })
  reads.expectationViews.set('alice', [LEG])
  reads.tokenViews.set('EUR.x', tokenView())
  reads.classViews.set(CLASS_ID, CLASS)
  reads.instanceViews.set(RUBY, INSTANCE)
  const mint = { ...EVENT, type: 'mint', from: null, txnId: 'txn_0' } as const
  const burn = { ...EVENT, type: 'burn', from: 'alice', txnId: 'txn_1', number: 1, atMs: AT_MS + 1 } as const
  reads.nftHistories.set(RUBY, [mint, burn])
  reads.ownedNftViews.set('alice', [{ ...INSTANCE, className: 'Gems', acquiredAtMs: AT_MS + 5 }])
  reads.transactionViews.set(TXN_ID, transactionView())
  reads.receipts.set(TXN_ID, { payload: '{"b":"\\u0007","a":1.0}', signature: 'MEUC+/==' })
  reads.page = { ...PAGE, transactions: [transactionView()] }
  reads.groupViews.set(GROUP_ID, groupView())
  return edge
}

const SHOWN: readonly (readonly [path: string, shown: object])[] = [
  ['/v1/accounts/alice', ACCOUNT_SHOWN],
  ['/v1/accounts', { accounts: [ACCOUNT_SHOWN], ...ALL }],
  [
    '/v1/accounts/alice/state',
    { account_id: 'alice', audit_hash: ACCOUNT_SHOWN.audit_hash, updated_at: ACCOUNT_SHOWN.updated_at },
  ],
  ['/v1/accounts/alice/balances', { account_id: 'alice', balances: [{ token_id: 'BASE', ...BALANCE_SHOWN }], ...END }],
  ['/v1/accounts/alice/balances/BASE', { account_id: 'alice', token_id: 'BASE', ...BALANCE_SHOWN }],
  [
    '/v1/accounts/alice/audit-chain',
    { account_id: 'alice', entries: [ENTRY_SHOWN, { ...ENTRY_SHOWN, sequence: 1, txn_id: TXN_ID }], ...ALL },
  ],
  [
    '/v1/accounts/alice/expectations',
    {
      account_id: 'alice',
      expectations: [
        {
          group_id: GROUP_ID,
          leg: 2,
          role: 'own',
          terms: { account_id: 'alice', type: 'debit', amount: '2.5', token_id: 'BASE' },
          registered_by: LEG.clientId,
          terms_hash: `sha256:${'ab'.repeat(32)}`,
          due_at: '1970-01-01T00:15:00.000Z',
        },
      ],
      ...END,
    },
  ],
  ['/v1/fungible-tokens/EUR.x', TOKEN_SHOWN],
  ['/v1/fungible-tokens', { tokens: [TOKEN_SHOWN], ...ALL }],
  [`/v1/nft-classes/${CLASS_ID}`, CLASS_SHOWN],
  // Lists omit the members that may be large.
  ['/v1/nft-classes', { classes: [{ class_id: CLASS_ID, name: 'Gems', issuer: 'alice', created_at: AT }], ...ALL }],
  [INSTANCES, { class_id: CLASS_ID, instances: [INSTANCE_SHOWN], ...END }],
  [`${INSTANCES}/ruby:1@x`, { class_id: CLASS_ID, ...INSTANCE_SHOWN }],
  [`${INSTANCES}/ruby%3A1%40x`, { class_id: CLASS_ID, ...INSTANCE_SHOWN }],
  [
    `${INSTANCES}/ruby:1@x/history`,
    {
      class_id: CLASS_ID,
      instance_id: 'ruby:1@x',
      history: [
        { from: null, to: 'bob', txn_id: 'txn_0', type: 'mint', timestamp: AT },
        { from: 'alice', to: 'bob', txn_id: 'txn_1', type: 'burn', timestamp: '2025-10-09T08:53:20.001Z' },
      ],
      ...END,
    },
  ],
  [
    '/v1/accounts/alice/nfts',
    {
      account_id: 'alice',
      nfts: [
        {
          class_id: CLASS_ID,
          instance_id: 'ruby:1@x',
          class_name: 'Gems',
          status: 'active',
          metadata: METADATA,
          acquired_at: '2025-10-09T08:53:20.005Z',
        },
      ],
      ...END,
    },
  ],
  [`/v1/transactions/${TXN_ID}`, TRANSACTION_SHOWN],
  ['/v1/transactions', { transactions: [{ ...LISTED_TRANSACTION, shard_id: 7, created_at: AT }], ...ALL }],
  [
    `/v1/transactions/group/${GROUP_ID.toUpperCase()}`,
    { group_id: GROUP_ID, transactions: [LISTED_TRANSACTION], ...END },
  ],
  [`/v1/settlement-groups/${GROUP_ID.toUpperCase()}`, GROUP_SHOWN],
]

/** A change in the ledger, and the view after it. */
const OTHERWISE: readonly (readonly [path: string, change: (reads: FakeReads) => unknown, shown: object])[] = [
  [
    '/v1/accounts/alice',
    (reads) => reads.accountViews.set('alice', accountView('alice')),
    { ...ACCOUNT_SHOWN, ...KEYLESS },
  ],
  [
    '/v1/accounts/alice',
    (reads) => reads.accountViews.set('alice', { ...ACCOUNT, status: 'erased', key: null }),
    ERASED_SHOWN,
  ],
  [
    '/v1/accounts/alice/audit-chain',
    (reads) => {
      reads.accountViews.set('alice', { ...ACCOUNT, status: 'erased', key: null })
      reads.chains.set('alice', { entries: [{ ...ENTRY, payload: null }], next: null, total: 1 })
    },
    { account_id: 'alice', entries: [{ ...ENTRY_SHOWN, payload: null, erased: true }], ...ALL },
  ],
  ['/v1/accounts/alice/nfts', (reads) => reads.ownedNftViews.clear(), { account_id: 'alice', nfts: [], ...END }],
  ...(['held', 'burned'] as const).map(
    (status) =>
      [
        `${INSTANCES}/ruby:1@x`,
        (reads: FakeReads) => reads.instanceViews.set(RUBY, { ...INSTANCE, status }),
        { class_id: CLASS_ID, ...INSTANCE_SHOWN, status },
      ] as const,
  ),
  [
    `/v1/transactions/group/${GROUP_ID}`,
    (reads) => (reads.page = { ...PAGE, transactions: [], count: null }),
    { group_id: GROUP_ID, transactions: [], ...END },
  ],
  [
    `/v1/settlement-groups/${GROUP_ID}`,
    (reads) => reads.groupViews.set(GROUP_ID, groupView({ status: 'settled', finishedAtMs: AT_MS + 1_500 })),
    { ...GROUP_SHOWN, status: 'settled', finished_at: '2025-10-09T08:53:21.500Z' },
  ],
  [
    `/v1/settlement-groups/${GROUP_ID}`,
    (reads) => {
      const absent = { status: 'linked', termsHash: null, legs: [], createdAtMs: null, dueAtMs: null } as const
      const compensations = [{ compensates: 'txn_1', txnId: 'txn_3' }]
      const partialFailures = [{ txnId: 'txn_2', code: 'insufficient_funds', detail: 'Too little.' }] as const
      reads.groupViews.set(GROUP_ID, groupView({ ...absent, compensations, partialFailures }))
      reads.page = { ...PAGE, transactions: [], count: null }
    },
    {
      ...GROUP_SHOWN,
      status: 'linked',
      terms_hash: null,
      expected_legs: 0,
      legs: [],
      compensations: [{ compensates: 'txn_1', txn_id: 'txn_3' }],
      partial_failures: [{ txn_id: 'txn_2', code: 'insufficient_funds', detail: 'Too little.' }],
      net: [],
      balanced: false,
      created_at: null,
      due_at: null,
    },
  ],
]

test.for(SHOWN)('GET %s', async ([path, shown]) => {
  const edge = scene()
  const response = await edge.get(path, await edge.tokenFor('admin'))
  expect([response.status, await bodyOf(response)]).toEqual([200, shown])
  expect(response.headers.get('x-total-count-relation')).toBeNull()
})

test.for(OTHERWISE)('GET %s after a change', async ([path, change, shown]) => {
  const edge = scene()
  change(edge.reads)
  expect(await bodyOf(await edge.get(path, await edge.tokenFor('admin')))).toEqual(shown)
})

const failure = { code: 'insufficient_funds' as const, detail: 'Too little.' }
const pending = { status: 'pending', auditHash: null, processedAtMs: null, entry: null } as const
const received = { receivedBalance: '5', receivedAvailable: '4', receivedIncoming: null }
const { balance_after: _balance, available_after: _available, ...unfinished } = TRANSACTION_SHOWN
const { processed_at: _, ...unprocessed } = unfinished
test.for<[Partial<TransactionView>, object]>([
  [
    { groupId: GROUP_ID, metadata: { a: 'b' } },
    { ...TRANSACTION_SHOWN, group_id: GROUP_ID, metadata: { a: 'b' } },
  ],
  [
    {
      type: 'exchange',
      toAccountId: 'bob',
      receive: { tokenId: 'USD', amount: '2.0' },
      compensatedBy: 'txn_2',
      entry: { ...COMPLETED_ENTRY, ...received },
    },
    {
      ...TRANSACTION_SHOWN,
      type: 'exchange',
      to_account_id: 'bob',
      receive: { amount: '2.0', token_id: 'USD', balance_after: '5', available_after: '4' },
      compensated_by: 'txn_2',
    },
  ],
  [
    { fromAccountId: 'bob', compensates: 'txn_1', origin: 'ledger' },
    { ...TRANSACTION_SHOWN, from_account_id: 'bob', compensates: 'txn_1', origin: 'ledger' },
  ],
  [
    { fromAccountId: 'bob', refunds: 'txn_1', origin: 'ledger', refunded: '2.5' },
    { ...TRANSACTION_SHOWN, from_account_id: 'bob', refunds: 'txn_1', origin: 'ledger', refunded_amount: '2.5' },
  ],
  [
    { type: 'transfer', toAccountId: 'bob', ...pending },
    { ...unprocessed, type: 'transfer', to_account_id: 'bob', status: 'pending', audit_hash: null },
  ],
  [
    { status: 'failed', failure, auditHash: null, entry: null },
    { ...unfinished, status: 'failed', failure, audit_hash: null },
  ],
])('D5: a transaction %j is shown with its members only', async ([state, shown]) => {
  const edge = scene()
  edge.reads.transactionViews.set(TXN_ID, transactionView(state))
  expect(await bodyOf(await edge.get(`/v1/transactions/${TXN_ID}`, await edge.tokenFor('viewer')))).toEqual(shown)
})

test('D9: the receipt is returned byte for byte as it was signed', async () => {
  const edge = scene()
  const response = await edge.get(`/v1/transactions/${TXN_ID}/receipt`, await edge.tokenFor('viewer'))
  expect(await response.text()).toBe('{"receipt":{"b":"\\u0007","a":1.0},"signature":"MEUC+/=="}')
})
