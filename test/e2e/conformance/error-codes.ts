/** The error codes: each row's request has nothing else wrong, so that its code comes alone. */
import { createHash, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { readPublicKey } from '../../../infra/keys/public-key.ts'
import { encryptKeySalt } from '../../../infra/portability/balance-jwe.ts'
import { type HttpReply, LedgerClient, send } from '../../support/client.ts'
import { canonical, type Members, newAccountKeys, signed } from '../../support/client-keys.ts'
import { keyed } from '../../support/client-moves.ts'
import { membersOf } from '../../support/client.ts'
import type { CodeTable } from './code-table.ts'
import { BODY_LIMIT_BYTES, NO_TXN } from './forms.ts'
import { startOwnEdge } from './own-edge.ts'
import type { ErrorCodeRow } from './specification.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'
import { createUnmigratedDatabase } from './unmigrated.ts'

type Provocation = (stage: Stage) => Promise<HttpReply>
type Row = readonly [code: ErrorCodeRow, status: number, property: string, provoke: Provocation]

/** Records of an export as they are well formed: at their places in a file they would be taken. */
const HASH = `sha256:${'0'.repeat(64)}`
const LINE = { line: 1, previous_hash: HASH }
const THERE = '00000000-0000-4000-8000-000000000000'
const DATE = '2026-01-01T00:00:00.000Z'
const TOKEN = {
  ...LINE,
  record: 'token',
  symbol: 'CODES',
  decimals: 2,
  issuer: 'issuer@there',
  initial_supply: '1',
  total_supply: '1',
  created_at: DATE,
}
const ARRIVING = {
  ...LINE,
  record: 'account',
  account_id: 'arriving@there',
  status: 'active',
  incoming: 'accept',
  public_key: null,
  balances: [],
  txn_count: 0,
  audit_hash: HASH,
  created_at: DATE,
  updated_at: DATE,
}
const PROOF = {
  ...LINE,
  record: 'proof',
  ledger_id: THERE,
  timestamp: DATE,
  requester: 'conformance',
  proof_system: 'ecdsa-p256-sha256',
  proof_hash: HASH,
  key_id: 'A'.repeat(43),
  signature: Buffer.alloc(70, 7).toString('base64'),
}

/** What needs an outage is not here but with the outages. */
const ROWS: readonly Row[] = [
  ['ERR_NOT_FOUND', 404, 'a resource that is not there', ({ viewer }) => viewer.get(`/v1/transactions/${NO_TXN}`)],
  [
    'ERR_CONFLICT',
    409,
    'a resource that is there already',
    ({ transactor, cast }) =>
      transactor.post('/v1/accounts', { account_id: cast.alice.accountId, public_key: newAccountKeys().jwk }),
  ],
  [
    'ERR_PAYLOAD_TOO_LARGE',
    413,
    'a body above 1 MB',
    ({ transactor }) => transactor.post('/v1/accounts', ' '.repeat(BODY_LIMIT_BYTES + 1)),
  ],
  [
    'ERR_UNSUPPORTED_CONTENT_TYPE',
    415,
    'another content type',
    ({ transactor }) => transactor.post('/v1/accounts', '{}', { 'content-type': 'text/xml' }),
  ],
  ['ERR_INVALID_ACCOUNT_ID', 400, 'none, in a submission', order({ account_id: undefined })],
  ['ERR_INVALID_ACCOUNT_ID', 400, 'an ill-formed one, in a path', ({ viewer }) => viewer.get('/v1/accounts/a%20b')],
  ['ERR_INVALID_AMOUNT', 400, 'none', order({ amount: undefined })],
  ['ERR_INVALID_AMOUNT', 400, 'not above zero', order({ amount: '0' })],
  ['ERR_INVALID_AMOUNT', 400, '19 integer digits', order({ amount: '1000000000000000000' })],
  ['ERR_INVALID_TYPE', 400, 'none', order({ type: undefined })],
  ['ERR_INVALID_TYPE', 400, 'not one of six', order({ type: 'deposit' })],
  ['ERR_INVALID_SIGNATURE', 400, 'none', order({ signature: undefined })],
  ['ERR_INVALID_IDEMPOTENCY_KEY', 400, 'none', order({ idempotency_key: undefined })],
  ['ERR_INVALID_GROUP_ID', 400, 'no UUID', order({ group_id: 'group-1' })],
  [
    'ERR_SELF_TRANSFER',
    400,
    'a transfer to the same account',
    order({ type: 'transfer', to_account_id: 'alice@conformance' }),
  ],
  ['ERR_INVALID_TOKEN_ID', 400, 'none where one is needed', order({ type: 'burn' })],
  ['ERR_INVALID_SYMBOL', 400, 'none', token({ symbol: undefined })],
  ['ERR_INVALID_DECIMALS', 400, 'above 18', token({ decimals: 19 })],
  ['ERR_INVALID_ISSUER', 400, 'none', token({ issuer: undefined })],
  ['ERR_INVALID_TOTAL_SUPPLY', 400, 'negative', token({ total_supply: '-1' })],
  [
    'ERR_INVALID_CLASS_ID',
    400,
    'none in a mint',
    ({ transactor, cast }) => {
      const { accountId, keys } = cast.alice
      const body = keyed({ account_id: accountId, instance_id: 'classless', metadata: { colour: 'red' } })
      return transactor.post(`/v1/nft-classes/${cast.classId}/instances`, signed(body, keys.privateKey))
    },
  ],
  ['ERR_INVALID_NAME', 400, 'none', nftClass({ name: undefined })],
  ['ERR_INVALID_SCHEMA', 400, 'none', nftClass({ metadata_schema: undefined })],
  ['ERR_INVALID_SCHEMA', 400, 'no JSON Schema', nftClass({ metadata_schema: { type: 'strange' } })],
  ['ERR_INVALID_HEALTH_STATE', 400, 'not one that can be set', shardHealth({ health_state: 'poorly' })],
  ['ERR_INVALID_TXN_COUNT', 400, 'negative', shardHealth({ health_state: 'healthy', txn_count: -1 })],
  ['ERR_INVALID_REQUESTER', 400, 'none', ({ viewer }) => viewer.post('/v1/assertions/proof-of-compliance', {})],
  ['ERR_INVALID_TIMESTAMP', 400, 'no RFC 3339', ({ viewer }) => viewer.get('/v1/transactions?date_from=yesterday')],
  ['ERR_INVALID_TIMESTAMP', 400, 'none in a proof', importOf({ ...PROOF, timestamp: undefined })],
  ['ERR_INVALID_REQUESTER', 400, 'none in a proof', importOf({ ...PROOF, requester: undefined })],
  ['ERR_INVALID_PROOF_HASH', 400, 'none in a proof', importOf({ ...PROOF, proof_hash: undefined })],
  ['ERR_INVALID_PROOF_SYSTEM', 400, 'another than the one there is', importOf({ ...PROOF, proof_system: 'zk' })],
  ['ERR_INVALID_INITIAL_SUPPLY', 400, 'negative', importOf({ ...TOKEN, initial_supply: '-1' })],
  ['ERR_INVALID_TOTAL_SUPPLY', 400, 'negative, in an imported token', importOf({ ...TOKEN, total_supply: '-1' })],
  ['ERR_INVALID_BALANCE', 400, 'none', importOf({ ...ARRIVING, balances: [{ token_id: 'BASE' }] })],
  ['ERR_INVALID_TXN_COUNT', 400, 'negative, in an imported account', importOf({ ...ARRIVING, txn_count: -1 })],
  ['ERR_INVALID_CREATED_AT', 400, 'none', importOf({ ...ARRIVING, created_at: undefined })],
  ['ERR_INVALID_UPDATED_AT', 400, 'none', importOf({ ...ARRIVING, updated_at: undefined })],
]

export function errorCodesChapter(suite: Suite, codes: CodeTable): void {
  const row = suite.chapter('Error codes')
  for (const [code, status, property, provoke] of ROWS) {
    row(code, `${status}: ${property}`, async (stage) => {
      const reply = await provoke(stage)
      expect([reply.status, membersOf(reply)['error_codes']]).toEqual([status, [code]])
      codes.note(code, stage.requestOf(reply), reply)
    })
  }
  row('ERR_NO_SHARDS', '503: an edge that finds no ledger yet', async (stage) => {
    const database = await createUnmigratedDatabase(stage)
    const edge = await startOwnEdge(stage, { LEDGER_DATABASE_URL: database.url })
    try {
      const what = { method: 'GET', path: '/v1/transactions' }
      const reply = await send(edge.origin, what)
      expect([reply.status, membersOf(reply)['error_codes']]).toEqual([503, ['ERR_NO_SHARDS']])
      expect(reply.headers['retry-after']).toMatch(/^\d+$/)
      codes.note('ERR_NO_SHARDS', what, reply)
      await expect(LedgerClient.login(edge.origin, stage.credentials.viewer)).rejects.toThrow('ERR_NO_SHARDS')
    } finally {
      await edge.stop()
      await database.drop()
    }
  })
}

/** A submission that would be taken, but for the changes; what is undefined is left out. */
function order(changes: Readonly<Record<string, unknown>>): Provocation {
  return ({ transactor, cast }) => {
    const { accountId, keys } = cast.alice
    const body = without({ ...keyed({ account_id: accountId, type: 'credit', amount: '1' }), ...changes })
    const isUnsigned = 'signature' in changes
    return transactor.post('/v1/transactions', isUnsigned ? body : signed(body, keys.privateKey))
  }
}

function token(changes: Readonly<Record<string, unknown>>): Provocation {
  return ({ transactor, cast }) => {
    const body = { symbol: 'CODES', decimals: 2, issuer: cast.alice.accountId, total_supply: '1', ...changes }
    return transactor.post('/v1/fungible-tokens', without(body))
  }
}

function nftClass(changes: Readonly<Record<string, unknown>>): Provocation {
  return ({ transactor, cast }) => {
    const body = { name: 'Codes', description: '', issuer: cast.alice.accountId, metadata_schema: {}, ...changes }
    return transactor.post('/v1/nft-classes', without(body))
  }
}

function shardHealth(body: Members): Provocation {
  return ({ admin }) => {
    const headers = { ...admin.authorization(), 'content-type': 'application/json' }
    return admin.ask({ method: 'PUT', path: '/v1/shards/0/health', headers, body: JSON.stringify(body) })
  }
}

/** The second record of a file: the first says whose the file is. */
function importOf(record: Readonly<Record<string, unknown>>): Provocation {
  return async ({ admin, ledgerId }) => {
    const { public_key: jwk } = await admin.read('/v1/imports/key')
    const key = readPublicKey(jwk)
    if (key === undefined) throw new Error('there is no key to encrypt to')
    const first = {
      record: 'ledger',
      line: 0,
      previous_hash: HASH,
      format: 1,
      ledger_id: THERE,
      audience: ledgerId,
      mode: 'copy',
      partial: true,
      exported_at: DATE,
      encrypted_key_salt: encryptKeySalt(key, '0'.repeat(32)),
    }
    const last = record['record'] === 'proof'
    const addressed = last ? { audience: ledgerId } : {}
    const records = [first, without({ ...record, ...addressed, previous_hash: lineHash(first) })]
    return admin.post('/v1/imports', { import_id: randomUUID() as string, part: 0, records, last })
  }
}

function lineHash(record: Members): string {
  return `sha256:${createHash('sha256').update(canonical(record)).digest('hex')}`
}

function without(body: Readonly<Record<string, unknown>>): Members {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Members
}
