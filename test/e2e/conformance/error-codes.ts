/** The error codes: each row's request has nothing else wrong, so that its code comes alone. */
import { expect } from 'vitest'
import { type HttpReply, LedgerClient, send } from '../../support/client.ts'
import { type Members, newAccountKeys, signed } from '../../support/client-keys.ts'
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

/** Nothing can raise these before accounts can be exported and imported: their fields stand in those bodies alone. */
const WITH_IMPORTS: Readonly<Partial<Record<ErrorCodeRow, string>>> = {
  ERR_INVALID_INITIAL_SUPPLY: 'initial_supply stands in imported token records only: comes with export and import',
  ERR_INVALID_BALANCE: 'encrypted balances stand in imported account records only: comes with export and import',
  ERR_INVALID_PROOF_HASH: 'proof_hash stands in the proof of an export only: comes with export and import',
  ERR_INVALID_PROOF_SYSTEM: 'proof_system stands in the proof of an export only: comes with export and import',
  ERR_INVALID_CREATED_AT: 'created_at is given in imported records only: comes with export and import',
  ERR_INVALID_UPDATED_AT: 'updated_at is given in imported records only: comes with export and import',
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
  for (const [code, reason] of Object.entries(WITH_IMPORTS) as (readonly [ErrorCodeRow, string])[]) {
    row(code, 'nothing raises it yet, and nothing says that it does', async ({ ask }) => {
      codes.await(code, reason)
      const document = membersOf(await ask({ method: 'GET', path: '/openapi.json' }))
      const known = (document['x-error-codes'] as readonly Members[]).map((one) => one['code'])
      expect(known).toContain('ERR_NOT_FOUND')
      // Once it is known, it is to be provoked here.
      expect(known).not.toContain(code)
    })
  }
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

function without(body: Readonly<Record<string, unknown>>): Members {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Members
}
