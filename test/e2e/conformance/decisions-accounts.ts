/** Accounts: the operations that the specification leaves open, as they were decided (D2). */
import { createHash, createPublicKey } from 'node:crypto'
import { expect } from 'vitest'
import { type Holder, type HttpReply, membersOf, textOf } from '../../support/client.ts'
import {
  type AccountKeys,
  canonical,
  type Members,
  newAccountKeys,
  signatureBytes,
  signed,
} from '../../support/client-keys.ts'
import { changeStatus, fieldsOf, keyed, moved, newKey, outcomeOf, registerToken } from '../../support/client-moves.ts'
import { failureOf } from './cast.ts'
import { NO_HASH, SHA_256, TIMESTAMP, TXN_ID } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export function accountOperationsChapter(suite: Suite): void {
  registrations(suite)
  reads(suite)
  changes(suite)
  chains(suite)
}

function registrations(suite: Suite): void {
  const row = suite.chapter('D2 accounts')

  row('POST /v1/accounts', '201 with the account; the same key again 200; another key 409', async (stage) => {
    const { transactor } = stage
    const keys = newAccountKeys()
    const body = { account_id: 'new@accounts', public_key: keys.jwk }
    const reply = await transactor.post('/v1/accounts', body)
    expect([reply.status, reply.headers.location]).toEqual([201, '/v1/accounts/new%40accounts'])
    expect(membersOf(reply)).toEqual({
      account_id: 'new@accounts',
      status: 'active',
      incoming: 'accept',
      public_key: keys.jwk,
      key_id: thumbprintOf(keys.jwk),
      shard_id: expect.any(Number),
      sequence: 0,
      audit_hash: expect.stringMatching(SHA_256),
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    })
    const again = await stage.stranger.post('/v1/accounts', body)
    expect([again.status, membersOf(again)]).toEqual([200, membersOf(reply)])
    const other = { ...body, public_key: newAccountKeys().jwk }
    expect(outcomeOf(await transactor.post('/v1/accounts', other))).toBe('409 ERR_CONFLICT')
  })

  row(
    'POST /v1/accounts',
    'takes a key as JWK, PEM, DER and point; refuses what is none of P-256',
    async ({ transactor }) => {
      for (const [index, form] of [asPem, asDer, asPoint, asShortPoint].entries()) {
        const keys = newAccountKeys()
        const body = { account_id: `form-${index}@accounts`, public_key: form(keys) }
        const reply = await transactor.post('/v1/accounts', body)
        expect([form.name, reply.status, membersOf(reply)['public_key']]).toEqual([form.name, 201, keys.jwk])
      }
      const { jwk, privateKey } = newAccountKeys()
      const secret = { ...jwk, d: String(privateKey.export({ format: 'jwk' }).d) }
      for (const bad of ['', 'x', 7, {}, secret, { ...jwk, crv: 'P-384' }, { ...jwk, x: jwk['y'] ?? '' }]) {
        const reply = await transactor.post('/v1/accounts', { account_id: 'unmade@accounts', public_key: bad })
        expect([bad, outcomeOf(reply)]).toEqual([bad, '400 ERR_INVALID_PUBLIC_KEY'])
      }
      expect(outcomeOf(await transactor.get('/v1/accounts/unmade@accounts'))).toBe('404 ERR_NOT_FOUND')
    },
  )

  row(
    'POST /v1/accounts',
    'an issuer that nobody knew gets its key from whoever named it, or an administrator',
    async (stage) => {
      const { transactor, stranger, admin } = stage
      for (const [index, client] of [transactor, admin].entries()) {
        const accountId = `keyless-${index}@accounts`
        const token = { symbol: `UNKNOWN-${index}`, issuer: accountId, total_supply: '5' }
        expect((await registerToken(transactor, token)).status).toBe(201)
        const keys = newAccountKeys()
        const body = { account_id: accountId, public_key: keys.jwk }
        expect(outcomeOf(await stranger.post('/v1/accounts', body))).toBe('409 ERR_CONFLICT')
        const reply = await client.post('/v1/accounts', body)
        expect([reply.status, membersOf(reply)['key_id']]).toEqual([201, thumbprintOf(keys.jwk)])
        await moved(transactor, { accountId, keys }, { type: 'burn', amount: '1', token_id: token.symbol })
      }
    },
  )
}

function reads(suite: Suite): void {
  const row = suite.chapter('D2 accounts')

  row('GET /v1/accounts/{id}', '200 with the account as it is now', async ({ viewer, cast }) => {
    const { accountId, keys } = cast.carol
    const { audit_hash: tip } = await viewer.read(`/v1/accounts/${accountId}/state`)
    expect(await viewer.read(`/v1/accounts/${accountId}`)).toMatchObject({
      account_id: accountId,
      public_key: keys.jwk,
      key_id: thumbprintOf(keys.jwk),
      audit_hash: tip,
    })
    expect(outcomeOf(await viewer.get('/v1/accounts/nobody@nowhere'))).toBe('404 ERR_NOT_FOUND')
  })

  row(
    'GET /v1/accounts',
    'administrators: 200 with accounts, each once, in an order of its own',
    async ({ admin, transactor, cast }) => {
      const list = await admin.read('/v1/accounts')
      expect(Object.keys(list).toSorted()).toEqual([
        'accounts',
        'next_page_token',
        'total_count',
        'total_count_relation',
      ])
      const all = await admin.readAll('/v1/accounts', 'accounts')
      expect(all.length).toBe(list['total_count'])
      const ids = all.map((account) => textOf(account, 'account_id'))
      expect(new Set(ids).size).toBe(ids.length)
      const small = await admin.read('/v1/accounts?page_size=2')
      const first = small['accounts'] as readonly Members[]
      expect(first.map((account) => textOf(account, 'account_id'))).toEqual(ids.slice(0, 2))
      expect(all).toContainEqual(await admin.read(`/v1/accounts/${cast.carol.accountId}`))
      expect(outcomeOf(await transactor.get('/v1/accounts'))).toBe('403 ERR_FORBIDDEN')
    },
  )
}

function changes(suite: Suite): void {
  const row = suite.chapter('D2 accounts')

  row(
    'POST /v1/accounts/{id}/keys',
    '201: from then on the new key signs; only the one in force may change it',
    async (stage) => {
      const { transactor } = stage
      const holder = await transactor.register('rotating@accounts')
      const next = newAccountKeys()
      const idempotencyKey = newKey()
      expect(outcomeOf(await rotate(stage, holder, next, next.privateKey, newKey()))).toBe('403 ERR_SIGNATURE_MISMATCH')
      const reply = await rotate(stage, holder, next, holder.keys.privateKey, idempotencyKey)
      expect([reply.status, membersOf(reply)['key_id'], membersOf(reply)['sequence']]).toEqual([
        201,
        thumbprintOf(next.jwk),
        1,
      ])
      const again = await rotate(stage, holder, next, holder.keys.privateKey, idempotencyKey)
      expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([201, reply.body, 'true'])
      const credit = { type: 'credit', amount: '1' }
      expect(outcomeOf(await transactor.submit(holder, keyed(credit)))).toBe('403 ERR_SIGNATURE_MISMATCH')
      await moved(transactor, { ...holder, keys: next }, credit)
    },
  )

  row(
    'POST /v1/accounts/{id}/status',
    '200: frozen accounts only receive, closed ones are closed for good',
    async (stage) => {
      const { transactor, admin } = stage
      const holder = await transactor.register('frozen@accounts')
      const credit = { type: 'credit', amount: '1' }
      const debit = { type: 'debit', amount: '1' }
      await moved(transactor, holder, credit)
      expect(membersOf(await changeStatus(admin, holder, { status: 'frozen' }))).toMatchObject({ status: 'frozen' })
      const { sequence } = await admin.read(`/v1/accounts/${holder.accountId}`)
      expect((await changeStatus(admin, holder, { status: 'frozen' })).status).toBe(200)
      expect((await admin.read(`/v1/accounts/${holder.accountId}`))['sequence']).toBe(sequence)
      expect(await failureOf(transactor, holder, debit)).toBe('account_frozen')
      await moved(transactor, holder, credit)
      expect(outcomeOf(await changeStatus(admin, holder, { status: 'closed' }))).toBe('409 ERR_CONFLICT')
      const refusing = await changeStatus(admin, holder, { status: 'active', incoming: 'refuse' })
      expect(membersOf(refusing)).toMatchObject({ status: 'active', incoming: 'refuse' })
      const toHolder = { type: 'transfer', to_account_id: holder.accountId, amount: '1' }
      expect(await failureOf(transactor, stage.cast.alice, toHolder)).toBe('incoming_refused')
      await moved(transactor, holder, { ...debit, amount: '2' })
      expect(membersOf(await changeStatus(admin, holder, { status: 'closed' }))).toMatchObject({ status: 'closed' })
      expect(outcomeOf(await changeStatus(admin, holder, { status: 'active' }))).toBe('409 ERR_CONFLICT')
      const unreasoned = await admin.post(`/v1/accounts/${holder.accountId}/status`, { status: 'frozen' })
      expect([outcomeOf(unreasoned), fieldsOf(unreasoned)]).toEqual(['400 ERR_INVALID_FIELD', ['reason']])
    },
  )
}

function chains(suite: Suite): void {
  suite.chapter('D2 accounts')(
    'GET /v1/accounts/{id}/audit-chain',
    '200 with entries, oldest first: sequence, txn_id, previous_hash, audit_hash, payload',
    async ({ transactor }) => {
      const holder = await transactor.register('chained@accounts')
      const credit = await moved(transactor, holder, { type: 'credit', amount: '2.50' })
      const chain = await transactor.read(`/v1/accounts/${holder.accountId}/audit-chain`)
      expect(Object.keys(chain).toSorted()).toEqual([
        'account_id',
        'entries',
        'next_page_token',
        'total_count',
        'total_count_relation',
      ])
      const [first, second] = chain['entries'] as readonly [Members, Members]
      expect(chain).toMatchObject({ account_id: holder.accountId, total_count: 2, next_page_token: '' })
      expect(first).toMatchObject({ sequence: 0, txn_id: null, previous_hash: NO_HASH })
      expect(second).toEqual({
        sequence: 1,
        txn_id: expect.stringMatching(TXN_ID),
        previous_hash: first['audit_hash'],
        audit_hash: credit['audit_hash'],
        payload: expect.any(String),
      })
      const payload = JSON.parse(textOf(second, 'payload')) as Members
      expect(canonical(payload)).toBe(second['payload'])
      expect(payload).toMatchObject({ sequence: 1, txn_id: credit['txn_id'], amount: '2.50', type: 'credit' })
      expect(textOf(payload, 'salt')).toMatch(/^[0-9a-f]{32}$|^[A-Za-z0-9_-]{22}$/)
    },
  )
}

function rotate(
  { transactor }: Stage,
  holder: Holder,
  next: AccountKeys,
  by: AccountKeys['privateKey'],
  idempotencyKey: string,
): Promise<HttpReply> {
  const fields = { account_id: holder.accountId, public_key: next.jwk, idempotency_key: idempotencyKey }
  const proof = signatureBytes(fields, next.privateKey).toString('base64url')
  return transactor.post(`/v1/accounts/${holder.accountId}/keys`, { ...signed(fields, by), proof })
}

/** RFC 7638. */
function thumbprintOf(jwk: Members): string {
  return createHash('sha256').update(canonical(jwk)).digest('base64url')
}

function asPem({ privateKey }: AccountKeys): string {
  return createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString()
}

function asDer({ privateKey }: AccountKeys): string {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64url')
}

function asPoint({ jwk }: AccountKeys): string {
  const [x, y] = coordinatesOf(jwk)
  return Buffer.concat([Buffer.from([4]), x, y]).toString('base64url')
}

function asShortPoint({ jwk }: AccountKeys): string {
  const [x, y] = coordinatesOf(jwk)
  return Buffer.concat([Buffer.from([(y[31] ?? 0) % 2 === 0 ? 2 : 3]), x]).toString('base64url')
}

function coordinatesOf(jwk: Members): readonly [Buffer, Buffer] {
  return [Buffer.from(textOf(jwk, 'x'), 'base64url'), Buffer.from(textOf(jwk, 'y'), 'base64url')]
}
