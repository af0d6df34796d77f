/** An edge over in-memory fakes. Tests set the state of the fakes and read the calls that they received. */
import { emptyHistory, type FakeHistory, fakeHistoryReads } from './fake-balance-history.ts'
import { createFakeSecrets } from './fake-secrets.ts'
import { createFakeServiceKeys } from './fake-service-keys.ts'
import { SANDBOX_SETTINGS } from './sandbox-settings.ts'
import { createHash, generateKeyPairSync } from 'node:crypto'
import type { LegHold } from '../../../../actors/account/state.ts'
import { expect } from 'vitest'
import type { Role } from '../../../../actors/account/commands.ts'
import type { EntryDetails } from '../../../../actors/account/transaction.ts'
import type { AccountView, Answer } from '../../../../actors/account/outcome.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import type { HoldView } from '../../../../actors/hold/state.ts'
import type { GroupView } from '../../../../actors/group/state.ts'
import type { TokenView } from '../../../../actors/token/state.ts'
import type { EdgeDependencies, EdgeSettings, ReadinessWarning } from '../../../../api/http/dependencies.ts'
import { createEdge } from '../../../../api/edge.ts'
import { ERROR_CODES } from '../../../../api/http/error-codes.ts'
import { networkOf } from '../../../../infra/keys/network.ts'
import { jwkOf, readPublicKey } from '../../../../infra/keys/public-key.ts'
import { isSignature } from '../../../../infra/keys/signature-encoding.ts'
import { createNodeSigner } from '../../../../infra/keys/signer-node.ts'
import type { ClientRecord } from '../../../../runtime/ports/access-store.ts'
import { createMemoryIdempotencyStore } from '../../../support/memory/idempotency-store-memory.ts'
import type {
  AuditChainPage,
  BalanceView,
  LedgerReads,
  SignedReceipt,
  TransactionPage,
  TransactionQuery,
  TransactionView,
} from '../../../../runtime/ports/ledger-reads.ts'
import type { LogFields } from '../../../../runtime/ports/log.ts'
import { createMemoryShardHealth, createMemoryShardState } from '../../../support/memory/shard-health-memory.ts'
import {
  createMemoryAdministrativeChain,
  type MemoryAdministrativeState,
} from '../../../support/memory/administrative-chain-memory.ts'
import { createFakeAccess, loneClientLimits } from './fake-access.ts'
import { createFakeAssertions } from './fake-assertions.ts'
import { createFakeGateway } from './fake-gateway.ts'
import { createFakeEvents } from './fake-events.ts'
import { createFakeLog } from './fake-log.ts'
import { createFakeImports } from './fake-imports.ts'
import { createFakeAttestations } from './fake-attestations.ts'
import { createFakeWebhooks } from './fake-webhooks.ts'
import { createFakeSchemaValidator } from './fake-schema-validator.ts'
import { emptyNfts, fakeNftReads, type FakeNfts, pageOf } from './fake-nft-reads.ts'
import { fakeHoldReads, HOLD_ID, holdView } from './fake-holds.ts'
import { createManualClock } from '../http/waiting-clock.ts'

export const SECRET = 'a secret of the test'

export interface FakeReads extends LedgerReads, FakeNfts, FakeHistory {
  readonly accountViews: Map<string, AccountView>
  readonly balanceViews: Map<string, BalanceView[]>
  readonly chains: Map<string, AuditChainPage>
  readonly transactionViews: Map<string, TransactionView>
  readonly receipts: Map<string, SignedReceipt>
  readonly expectationViews: Map<string, readonly LegHold[]>
  readonly tokenViews: Map<string, TokenView>
  readonly groupViews: Map<string, GroupView>
  readonly holdViews: Map<string, HoldView>
  /** By client. */
  readonly openGroupCounts: Map<string, number>
  readonly queries: TransactionQuery[]
  page: TransactionPage
  anyOwned: boolean
  failure: Error | null
}

export function createFakeReads(): FakeReads {
  const nfts = emptyNfts()
  const history = emptyHistory()
  const hasAccount = (accountId: string): boolean => fake.accountViews.has(accountId)
  const holdViews = new Map([[HOLD_ID, holdView()]])
  const fake: FakeReads = {
    ...nfts,
    ...fakeNftReads(nfts, hasAccount, checked),
    ...history,
    ...fakeHistoryReads(history, hasAccount, checked),
    accountViews: new Map(),
    balanceViews: new Map(),
    chains: new Map(),
    transactionViews: new Map(),
    receipts: new Map(),
    expectationViews: new Map(),
    tokenViews: new Map(),
    groupViews: new Map(),
    holdViews,
    openGroupCounts: new Map(),
    queries: [],
    page: { transactions: [], next: null, ended: true, count: { total: 0, exact: true } },
    anyOwned: true,
    failure: null,
    transaction: async (txnId) => checked(fake.transactionViews.get(txnId)),
    receipt: async (txnId) => checked(fake.receipts.get(txnId)),
    async transactions(query) {
      fake.queries.push(query)
      return checked(query.counted ? fake.page : { ...fake.page, count: null })
    },
    account: async (accountId) => checked(fake.accountViews.get(accountId)),
    async accounts(after, limit) {
      const all = [...fake.accountViews.values()]
      const { shown, next } = pageOf(all, ({ accountId }) => accountId, after ?? '', limit)
      return checked({ accounts: shown, next, count: after === null ? { total: all.length, exact: true } : null })
    },
    expectations: async (accountId) =>
      checked(fake.accountViews.has(accountId) ? (fake.expectationViews.get(accountId) ?? []) : undefined),
    balances: async (accountId) => checked(fake.balanceViews.get(accountId)),
    async auditChain(accountId, afterSequence, limit) {
      const chain = fake.chains.get(accountId)
      if (chain === undefined) return checked(undefined)
      const { shown, next } = pageOf(chain.entries, ({ sequence }) => sequence, afterSequence, limit)
      return checked({ entries: shown, next, total: chain.total })
    },
    token: async (tokenId) => checked(fake.tokenViews.get(tokenId)),
    async tokens(after, limit) {
      const all = [...fake.tokenViews.values()]
      const { shown } = pageOf(all, ({ tokenId }) => tokenId.toLowerCase(), (after ?? '').toLowerCase(), limit + 1)
      const next = shown.length > limit ? (shown[limit - 1]?.tokenId ?? null) : null
      const count = after === null ? { total: all.length, exact: true } : null
      return checked({ tokens: shown.slice(0, limit), next, count })
    },
    group: async (groupId) => checked(fake.groupViews.get(groupId)),
    ...fakeHoldReads(holdViews, hasAccount, checked),
    openGroups: async (clientId) => checked(fake.openGroupCounts.get(clientId) ?? 0),
    anyShardOwned: async () => checked(fake.anyOwned),
  }
  function checked<T>(value: T): T {
    if (fake.failure !== null) throw fake.failure
    return value
  }
  return fake
}

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  readonly fields: LogFields
}

export type EdgeFixture = ReturnType<typeof createEdgeFixture>

export const LEDGER_ID = 'ledger-of-the-test'
export const HOUR_MS = 3_600_000

/** `real`: dependencies that replace fakes. */
export function createEdgeFixture(real: Partial<EdgeDependencies> = {}) {
  const clock = createManualClock(1_760_000_000_123)
  const keys = createFakeServiceKeys(clock.now() - HOUR_MS)
  const access = createFakeAccess()
  const reads = createFakeReads()
  const events = createFakeEvents()
  const gateway = createFakeGateway()
  const shards = createMemoryShardState(256, clock.now())
  for (const shard of shards.shards.values()) Object.assign(shard, { owner: 'node-1', ownedForMs: HOUR_MS })
  const attestations = createFakeAttestations()
  const administrative: MemoryAdministrativeState = { ledgerId: LEDGER_ID, entries: [] }
  const [assertions, schemas] = [createFakeAssertions(), createFakeSchemaValidator()]
  const webhooks = createFakeWebhooks(clock)
  const log: LogLine[] = []
  const checks: Record<string, boolean> = { postgres: true, nats: true }
  const readiness: { ready: boolean; checks: typeof checks; warnings?: readonly ReadinessWarning[] } = {
    ready: true,
    checks,
  }
  const fakeSecrets = createFakeSecrets()
  const write =
    (level: LogLine['level']) =>
    (event: string, fields: LogFields = {}): void =>
      void log.push({ level, event, fields })
  const lines = { info: write('info'), warn: write('warn'), error: write('error') }
  let randomCalls = 0
  const settings: EdgeSettings = { ...SANDBOX_SETTINGS, ledgerId: LEDGER_ID }
  const dependencies: EdgeDependencies = {
    gateway,
    reads,
    events,
    shardHealth: createMemoryShardHealth(shards),
    attestations,
    ledgerLog: createFakeLog(),
    webhooks: webhooks.store,
    webhookSender: webhooks.sender,
    idempotency: createMemoryIdempotencyStore(clock).store,
    assertions,
    exports: { begin: () => Promise.resolve({ kind: 'busy' }) },
    imports: createFakeImports(),
    schemas,
    access,
    administrativeChain: createMemoryAdministrativeChain(administrative, clock.now),
    serviceKeys: keys,
    signatures: createNodeSigner({ keys }),
    clock,
    clockTrusted: () => true,
    random: {
      hex: (size) => {
        randomCalls += 1
        return createHash('sha512')
          .update(String(randomCalls))
          .digest('hex')
          .slice(0, size * 2)
      },
      integer: () => 0,
    },
    log: lines,
    secrets: fakeSecrets.secrets,
    clientAddress: (peer) => peer,
    networkOf,
    readPublicKey,
    isSignature,
    jwkOf,
    clientLimits: loneClientLimits(clock, lines),
    pageTokenKey: new Uint8Array(32).fill(5),
    refreshTokenKey: new Uint8Array(32).fill(6),
    settings,
    readiness: async () => readiness,
    ...real,
  }
  const app = createEdge(dependencies)
  const get = async (path: string, token?: string, headers: Record<string, string> = {}): Promise<Response> =>
    app.request(path, { headers: { ...bearer(token), ...headers } })
  const send =
    (method: 'POST' | 'PUT') =>
    async (path: string, body: unknown, token?: string, headers: Record<string, string> = {}): Promise<Response> =>
      app.request(path, {
        method,
        headers: { 'content-type': 'application/json', ...bearer(token), ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
  const [post, put] = [send('POST'), send('PUT')]
  /** An access token of a client with this role, which is created if absent. */
  const tokenFor = async (role: Role, clientId = `client-${role}`): Promise<string> => {
    if (!access.clients.has(clientId)) access.clients.set(clientId, clientOf(clientId, role))
    const answer = await post('/v1/auth/token', { client_id: clientId, client_secret: SECRET })
    return String((await bodyOf(answer))['access_token'])
  }
  const ports = {
    clock,
    keys,
    access,
    reads,
    events,
    gateway,
    shards,
    attestations,
    webhooks,
    assertions,
    schemas,
    administrative,
  }
  const doubles = { ...ports, log, settings, readiness, secretChecks: fakeSecrets.checks }
  return { app, ...doubles, tokenFor, get, post, put }
}

/** An edge, and an access token of a client with this role. */
export async function signedIn(role: Role, real?: Partial<EdgeDependencies>) {
  const edge = createEdgeFixture(real)
  return { edge, token: await edge.tokenFor(role) }
}

/** An edge whose ledger replies to every request with `answer`. */
export function answering(answer: Answer, real?: Partial<EdgeDependencies>): EdgeFixture {
  const edge = createEdgeFixture(real)
  edge.gateway.outcome = { kind: 'answered', answer }
  return edge
}

export function clientOf(clientId: string, role: Role): ClientRecord {
  return {
    clientId,
    secretHash: `of ${SECRET}`,
    publicKey: null,
    role,
    boundary: true,
    accounts: null,
    rate: null,
    createdAtMs: 0,
    revokedAtMs: null,
  }
}

/** The body of the response. Asserts that a problem has the request ID, and that each code belongs to its type. */
export async function bodyOf(response: Response): Promise<Record<string, unknown>> {
  const body = (await response.json()) as Record<string, unknown>
  const { type, error_codes: codes } = body
  if (typeof type !== 'string' || !Array.isArray(codes)) return body
  expect(body['request_id']).toBe(response.headers.get('x-request-id'))
  for (const [code, { types }] of Object.entries(ERROR_CODES)) {
    if (codes.includes(code)) expect(types).toContain(type.slice(type.lastIndexOf('/') + 1))
  }
  return body
}

/** The `payload_digest` of the signed body. */
export function digestOf(payload: JsonObject): string {
  return `sha256:${createHash('sha256').update(canonicalJson(payload)).digest('hex')}`
}

/** Status and codes of a refusal. */
export async function refusalOf(response: Response): Promise<{ status: number; codes: unknown; fields: unknown }> {
  const body = await bodyOf(response)
  const errors = body['errors'] as { field: string }[] | undefined
  return { status: response.status, codes: body['error_codes'], fields: errors?.map((error) => error.field) }
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

export function newAccountKey(): { readonly pem: string; readonly keyId: string; readonly publicKey: string } {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const pem = String(publicKey.export({ format: 'pem', type: 'spki' }))
  const read = readPublicKey(pem)
  if (read === undefined) throw new Error('a fresh key was not read')
  return { pem, ...read }
}

export function accountView(accountId: string, overrides: Partial<AccountView> = {}): AccountView {
  return {
    accountId,
    status: 'active',
    incoming: 'accept',
    key: null,
    shardId: 7,
    sequence: 3,
    auditHash: 'ab'.repeat(32),
    createdAtMs: 1_760_000_000_000,
    updatedAtMs: 1_760_000_001_500,
    ...overrides,
  }
}

export const TXN_ID = 'txn_01K6ZZZZZZ0000000000000000'

export const ENTRY: EntryDetails = {
  format: 2,
  salt: '5a17'.repeat(8),
  balance: '20.5',
  available: '12',
  incoming: null,
  receivedBalance: null,
  receivedAvailable: null,
  receivedIncoming: null,
}

export function transactionView(overrides: Partial<TransactionView> = {}): TransactionView {
  return {
    txnId: TXN_ID,
    accountId: 'alice',
    shardId: 7,
    type: 'credit',
    amount: '10.50',
    tokenId: 'BASE',
    groupId: null,
    failure: null,
    origin: 'client',
    metadata: null,
    toAccountId: null,
    fromAccountId: null,
    receive: null,
    compensates: null,
    compensatedBy: null,
    refunds: null,
    refunded: null,
    createdAtMs: 1_760_000_000_000,
    processedAtMs: 1_760_000_000_004,
    auditHash: 'cd'.repeat(32),
    entry: ENTRY,
    status: 'completed',
    ...overrides,
  }
}

export function tokenView(overrides: Partial<TokenView> = {}): TokenView {
  return {
    tokenId: 'EUR.x',
    decimals: 2,
    issuer: 'issuer@bank',
    totalSupply: '1000.5',
    createdAtMs: 1_760_000_000_000,
    ...overrides,
  }
}

export const GROUP_ID = '3f2b8a52-0d5e-4a1e-9a0f-5f1f3d3c2b1a'

/** An open group with a completed debit and an expected transfer. */
export function groupView(overrides: Partial<GroupView> = {}): GroupView {
  return {
    groupId: GROUP_ID,
    status: 'open',
    termsHash: 'ef'.repeat(32),
    legs: [
      {
        accountId: 'alice',
        type: 'debit',
        amount: '10.50',
        tokenId: 'BASE',
        toAccountId: null,
        boundary: true,
        status: 'completed',
        txnId: TXN_ID,
      },
      {
        accountId: 'bob',
        type: 'transfer',
        amount: '2',
        tokenId: 'EUR.x',
        toAccountId: 'carol',
        boundary: false,
        status: 'expected',
        txnId: null,
      },
    ],
    compensations: [],
    partialFailures: [],
    createdAtMs: 1_760_000_000_000,
    dueAtMs: 1_760_000_900_000,
    finishedAtMs: null,
    failure: null,
    ...overrides,
  }
}
