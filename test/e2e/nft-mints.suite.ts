/** Goal: a class has its name for itself, and an NFT is minted once, whatever is sent at once (D11, I9). */
import { describe, expect, test } from 'vitest'
import { membersOf, textOf } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import { changeStatus, fieldsOf, moved, outcomeOf } from '../support/client-moves.ts'
import { classOf, historyOf, instanceOf, mint, type Nft, ownedBy, registerClass } from '../support/client-nfts.ts'
import type { GetScene } from './scene.ts'

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

export function nftMintsSuite(scene: GetScene): void {
  describe('NFT classes and mints', () => {
    classes(scene)
    mints(scene)
    refusedMints(scene)
  })
}

function classes(scene: GetScene): void {
  test('D11: a class is registered, and read at every edge right after', async () => {
    const { client, elsewhere } = scene()
    const reply = await registerClass(client, { name: 'First stones', issuer: 'new-issuer@nfts' })
    expect(reply.status).toBe(201)
    const made = membersOf(reply)
    const classId = textOf(made, 'class_id')
    expect(made).toEqual({
      class_id: expect.stringMatching(/^cls_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: 'First stones',
      description: 'a class of the tests',
      issuer: 'new-issuer@nfts',
      metadata_schema: expect.objectContaining({ type: 'object' }),
      created_at: expect.stringMatching(TIMESTAMP),
    })
    expect(reply.headers.location).toBe(`/v1/nft-classes/${classId}`)
    expect(await elsewhere.read(`/v1/nft-classes/${classId}`)).toEqual(made)
    const { description: _, metadata_schema: __, ...listed } = made
    expect(await elsewhere.readAll('/v1/nft-classes', 'classes')).toContainEqual(listed)
    expect(await client.read('/v1/accounts/new-issuer@nfts')).toMatchObject({ key_id: null, status: 'active' })
  })

  test('D1: a name is taken in every case and composition; of ten at once one is 201', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('names@nfts')
    await classOf(client, 'Caf\u00e9 Stra\u00dfe', issuer)
    for (const name of ['CAF\u00c9 STRASSE', 'cafe\u0301 stra\u00dfe']) {
      expect(outcomeOf(await registerClass(elsewhere, { name, issuer: issuer.accountId }))).toBe('409 ERR_CONFLICT')
    }
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, number) =>
        registerClass(number % 2 === 0 ? client : elsewhere, { name: 'Contested', issuer: `rival-${number}@nfts` }),
      ),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['201', ...Array.from({ length: 9 }, () => '409 ERR_CONFLICT')])
  })

  test('D7: a registration under an Idempotency-Key is answered again as the first time', async () => {
    const { client, elsewhere } = scene()
    const headers = { 'idempotency-key': 'class-once' }
    const first = await registerClass(client, { name: 'Once', issuer: 'once@nfts' }, headers)
    const again = await registerClass(elsewhere, { name: 'Once', issuer: 'once@nfts' }, headers)
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect(again.headers['idempotency-replayed']).toBe('true')
  })

  test('D11: a schema that cannot be held to is refused', async () => {
    const { client } = scene()
    for (const schema of [{ type: 'strange' }, { $ref: 'https://example.org/x' }, { pattern: '(a)\\1' }]) {
      const reply = await registerClass(client, {
        name: 'Schemes',
        issuer: 'x@nfts',
        metadata_schema: schema,
      })
      expect([JSON.stringify(schema), outcomeOf(reply)]).toEqual([JSON.stringify(schema), '400 ERR_INVALID_SCHEMA'])
    }
    const reply = await registerClass(client, { name: '', issuer: 'a b', metadata_schema: 'x', description: 7 })
    expect([reply.status, [...(membersOf(reply)['error_codes'] as string[])].sort()]).toEqual([
      400,
      ['ERR_INVALID_FIELD', 'ERR_INVALID_ISSUER', 'ERR_INVALID_NAME', 'ERR_INVALID_SCHEMA'],
    ])
  })
}

function mints(scene: GetScene): void {
  test('D11: a mint is 201 once it is durable: the instance, its history, its owner’s list, the issuer’s transaction', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('issuer@mints')
    const owner = await client.register('owner@mints')
    const classId = await classOf(client, 'Mints', issuer)
    const metadata = { colour: 'blue', weight: 1.5 }
    const reply = await mint(client, issuer, classId, { instance_id: 'one', owner: owner.accountId, metadata })
    expect(reply.status).toBe(201)
    const minted = membersOf(reply)
    expect(minted).toEqual({
      class_id: classId,
      instance_id: 'one',
      owner: owner.accountId,
      status: 'active',
      metadata,
      minted_at: expect.stringMatching(TIMESTAMP),
    })
    expect(reply.headers.location).toBe(`/v1/nft-classes/${classId}/instances/one`)
    const nft: Nft = { class_id: classId, instance_id: 'one', amount: '1' }
    expect(await instanceOf(elsewhere, nft)).toEqual(minted)
    const { class_id: _, ...listed } = minted
    expect(await elsewhere.readAll(`/v1/nft-classes/${classId}/instances`, 'instances')).toEqual([listed])
    expect(await elsewhere.readAll(`/v1/accounts/${owner.accountId}/nfts`, 'nfts')).toEqual([
      {
        class_id: classId,
        instance_id: 'one',
        class_name: 'Mints',
        status: 'active',
        metadata,
        acquired_at: expect.stringMatching(TIMESTAMP),
      },
    ])
    const [entry = {}, ...others] = await historyOf(elsewhere, nft)
    expect(others).toEqual([])
    expect(entry).toMatchObject({ from: null, to: owner.accountId, type: 'mint' })
    const detail = await client.read(`/v1/transactions/${textOf(entry, 'txn_id')}`)
    expect(detail).toMatchObject({
      account_id: issuer.accountId,
      type: 'mint',
      status: 'completed',
      amount: '1',
      class_id: classId,
      instance_id: 'one',
      to_account_id: owner.accountId,
    })
    expect(detail).not.toHaveProperty('token_id')
    const [credit] = (await client.read(`/v1/transactions?account_id=${owner.accountId}&token_class=nft`))[
      'transactions'
    ] as readonly Members[]
    expect(credit).toMatchObject({ type: 'credit', status: 'completed', instance_id: 'one' })
  })

  test('I9: of ten mints of one instance at once, one is 201 and nine are 409', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('race@mints')
    const classId = await classOf(client, 'Race', issuer)
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, number) =>
        mint(number % 2 === 0 ? client : elsewhere, issuer, classId, { instance_id: 'only' }),
      ),
    )
    expect(replies.map(outcomeOf).sort()).toEqual(['201', ...Array.from({ length: 9 }, () => '409 ERR_CONFLICT')])
    expect(await ownedBy(client, issuer)).toEqual(['only'])
    expect(await client.read(`/v1/transactions?account_id=${issuer.accountId}`)).toMatchObject({ total_count: 1 })
  })

  test('D7: forty mints under one key at once are one: forty equal bodies, one of them no replay', async () => {
    const { client, elsewhere } = scene()
    const issuer = await client.register('repeat@mints')
    const classId = await classOf(client, 'Repeats', issuer)
    const fields = { instance_id: 'once', idempotency_key: 'the very same' }
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, number) => mint(number % 2 === 0 ? client : elsewhere, issuer, classId, fields)),
    )
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    expect(replies[0]?.status).toBe(201)
    expect(replies.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    const other = await mint(client, issuer, classId, { ...fields, metadata: { colour: 7 } })
    expect([other.status, other.body]).toEqual([201, replies[0]?.body])
    expect(other.headers['idempotency-payload-mismatch']).toBe('true')
    // Transactions have keys of their own.
    await moved(client, issuer, { type: 'credit', amount: '1', idempotency_key: 'the very same' })
  })
}

function refusedMints(scene: GetScene): void {
  test('D7, D11: what is refused, is refused for what it is, in order, and uses no key up', async () => {
    const { client, admin } = scene()
    const issuer = await client.register('strict@mints')
    const stranger = await client.register('stranger@mints')
    const owner = await client.register('unwilling@mints')
    const classId = await classOf(client, 'Strict', issuer)
    const unknown = `cls_${'0'.repeat(26)}`
    const fields = { instance_id: 'a', idempotency_key: 'kept free' }
    const forged = { ...issuer, keys: stranger.keys }
    expect(outcomeOf(await mint(client, forged, classId, { ...fields, metadata: {} }))).toBe(
      '403 ERR_SIGNATURE_MISMATCH',
    )
    expect(outcomeOf(await mint(client, stranger, classId, fields))).toBe('403 ERR_NOT_ISSUER')
    expect(outcomeOf(await mint(client, issuer, unknown, fields))).toBe('404 ERR_NOT_FOUND')
    const nobody = await mint(client, issuer, classId, { ...fields, owner: 'nobody@mints' })
    expect([outcomeOf(nobody), fieldsOf(nobody)]).toEqual(['404 ERR_NOT_FOUND', ['owner']])
    const wrong = await mint(client, issuer, classId, { ...fields, metadata: { weight: -1, size: 2 } })
    expect(outcomeOf(wrong)).toBe('400 ERR_INVALID_FIELD')
    expect(fieldsOf(wrong).map(String).sort()).toEqual(['metadata.colour', 'metadata.size', 'metadata.weight'])
    await changeStatus(admin, owner, { incoming: 'refuse' })
    expect(outcomeOf(await mint(client, issuer, classId, { ...fields, owner: owner.accountId }))).toBe(
      '409 ERR_CONFLICT',
    )
    await changeStatus(admin, issuer, { status: 'frozen' })
    expect(outcomeOf(await mint(client, issuer, classId, fields))).toBe('409 ERR_CONFLICT')
    await changeStatus(admin, issuer, { status: 'active' })
    expect(outcomeOf(await mint(client, issuer, classId, fields))).toBe('201')
    expect(await ownedBy(client, issuer)).toEqual(['a'])
  })

  test('all that is wrong with a mint is told at once', async () => {
    const { client } = scene()
    const issuer = await client.register('shape@mints')
    const classId = await classOf(client, 'Shapes', issuer)
    const reply = await client.post(`/v1/nft-classes/${classId}/instances`, { instance_id: 'a b', metadata: [], x: 1 })
    expect(reply.status).toBe(400)
    expect([...(membersOf(reply)['error_codes'] as string[])].sort()).toEqual([
      'ERR_INVALID_ACCOUNT_ID',
      'ERR_INVALID_CLASS_ID',
      'ERR_INVALID_FIELD',
      'ERR_INVALID_IDEMPOTENCY_KEY',
      'ERR_INVALID_SIGNATURE',
      'ERR_UNKNOWN_FIELD',
    ])
    const other = await mint(client, issuer, classId, { instance_id: 'a', class_id: `cls_${'0'.repeat(26)}` })
    expect(outcomeOf(other)).toBe('400 ERR_INVALID_CLASS_ID')
  })
}
