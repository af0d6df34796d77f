/** Goal: D17: a client that is scoped to accounts sees no others, on a running ledger, at every edge. */
import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Holder, LedgerClient, membersOf, textOf } from '../support/client.ts'
import { type Members, newAccountKeys } from '../support/client-keys.ts'
import { readLines, transactionsIn } from '../support/client-lines.ts'
import { agreed, agreementOn } from '../support/client-groups.ts'
import { accepted, ended, funded, keyed, moved, outcomeOf, registerToken } from '../support/client-moves.ts'
import { classOf, mint, mintedTo, type Nft, registerClass } from '../support/client-nfts.ts'
import type { Cluster } from '../support/cluster-process.ts'
import type { GetScene } from './scene.ts'
import { runLedger } from './start-harness.ts'

const NOT_THERE = '404 ERR_NOT_FOUND'
const ACCOUNTS = 'ann@scoped,shop:scoped:*'

/** The data before a scoped client's requests: two accounts inside the scope, two outside, and their transactions. */
interface Stage {
  readonly scoped: LedgerClient
  readonly elsewhere: LedgerClient
  readonly viewer: LedgerClient
  readonly admin: LedgerClient
  readonly ann: Holder
  readonly shop: Holder
  readonly bob: Holder
  readonly zoe: Holder
  /** From ann to bob. */
  readonly paid: Members
  /** From bob to zoe. */
  readonly others: Members
  /** Of a class that zoe issues: ann's, and bob's. */
  readonly annsNft: Nft
  readonly bobsNft: Nft
}

async function setStage({ cluster, client, elsewhere }: ReturnType<GetScene>): Promise<Stage> {
  const [ann, shop] = [await funded(client, 'ann@scoped', '100'), await funded(client, 'shop:scoped:1', '100')]
  // One letter more, or fewer, than what is inside.
  const [bob, zoe] = [await funded(client, 'ann@scoped2', '100'), await funded(client, 'shop:scoped', '100')]
  const paid = await moved(client, ann, { type: 'transfer', amount: '1', to_account_id: bob.accountId })
  const others = await moved(client, bob, { type: 'transfer', amount: '2', to_account_id: zoe.accountId })
  const classId = await classOf(client, `Scoped ${randomUUID()}`, zoe)
  const annsNft = await mintedTo(client, zoe, { class_id: classId, instance_id: 'of-ann' }, ann)
  const bobsNft = await mintedTo(client, zoe, { class_id: classId, instance_id: 'of-bob' }, bob)
  const [scoped, viewer, admin] = [
    await addScoped(cluster, 'scoped-transactor', 'transactor'),
    await addScoped(cluster, 'scoped-viewer', 'viewer'),
    await addScoped(cluster, 'scoped-admin', 'admin'),
  ]
  const own = scoped.at(elsewhere.origin)
  return { scoped, elsewhere: own, viewer, admin, ann, shop, bob, zoe, paid, others, annsNft, bobsNft }
}

async function addScoped(cluster: Cluster, clientId: string, role: string): Promise<LedgerClient> {
  const args = ['client', 'add', '--id', clientId, '--role', role, '--accounts', ACCOUNTS]
  const { code, out, err } = await runLedger(args, { LEDGER_DATA_DIR: cluster.dataDir })
  if (code !== 0) throw new Error(`client add: ${err}`)
  return LedgerClient.login(cluster.origin, {
    clientId,
    clientSecret: textOf(JSON.parse(out) as Members, 'client_secret'),
  })
}

export function scopedClientsSuite(scene: GetScene): void {
  describe('clients scoped to accounts', () => {
    let stage: Stage | undefined
    beforeAll(async () => {
      stage = await setStage(scene())
    })
    afterAll(() => {
      for (const client of [stage?.scoped, stage?.elsewhere, stage?.viewer, stage?.admin]) client?.close()
    })
    const getStage = (): Stage => {
      if (stage === undefined) throw new Error('the stage is not set')
      return stage
    }
    reads(getStage)
    orders(scene, getStage)
    lists(scene, getStage)
    nfts(scene, getStage)
    groups(scene, getStage)
    atRest(scene, getStage)
  })
}

function reads(stage: () => Stage): void {
  test('whatever is read of an account is there inside, by ID and by prefix, and 404 outside, at every edge', async () => {
    const { scoped, elsewhere, viewer, ann, shop, bob, zoe } = stage()
    for (const part of ['', '/state', '/balances', '/balances/BASE', '/nfts', '/audit-chain', '/liability-proof']) {
      for (const client of [scoped, elsewhere, viewer]) {
        const outcomes = async (accountId: string): Promise<string> => {
          const reply = await client.get(`/v1/accounts/${accountId}${part}`)
          // No total of liabilities was signed yet: that is not what is asked here.
          return reply.body.includes('no such proof') || reply.status === 200 ? 'there' : outcomeOf(reply)
        }
        for (const { accountId } of [ann, shop]) expect([part, await outcomes(accountId)]).toEqual([part, 'there'])
        for (const accountId of [bob.accountId, zoe.accountId, 'unknown@scoped']) {
          expect([part, await outcomes(accountId)]).toEqual([part, NOT_THERE])
        }
      }
    }
  })

  test('a transaction is seen as the record of the account inside; the other side of it is not there', async () => {
    const { scoped, bob, paid, others } = stage()
    const path = `/v1/transactions/${textOf(paid, 'txn_id')}`
    expect(await scoped.read(path)).toMatchObject({ account_id: 'ann@scoped', to_account_id: bob.accountId })
    expect((await scoped.get(`${path}/receipt`)).status).toBe(200)
    for (const part of ['', '/receipt']) {
      const reply = await scoped.get(`/v1/transactions/${textOf(others, 'txn_id')}${part}`)
      expect(outcomeOf(reply)).toBe(NOT_THERE)
    }
    const group = await scoped.readAll(`/v1/transactions/group/${textOf(paid, 'group_id')}`, 'transactions')
    expect(group.map(({ account_id: id }) => id)).toEqual(['ann@scoped'])
    const unseen = await scoped.get(`/v1/transactions/group/${textOf(others, 'group_id')}`)
    expect(outcomeOf(unseen)).toBe(NOT_THERE)
  })
}

function orders(scene: GetScene, stage: () => Stage): void {
  test('orders of accounts inside are taken, to whomever; of accounts outside nothing happens', async () => {
    const { client } = scene()
    const { scoped, admin, ann, shop, bob } = stage()
    const sent = await ended(
      scoped,
      await accepted(scoped, shop, { type: 'transfer', amount: '3', to_account_id: bob.accountId }),
    )
    expect(sent).toMatchObject({ status: 'completed', to_account_id: bob.accountId })
    const before = await client.read(`/v1/accounts/${bob.accountId}`)
    const transfer = keyed({ type: 'transfer', amount: '1', to_account_id: ann.accountId })
    expect(outcomeOf(await scoped.submit(bob, transfer))).toBe(NOT_THERE)
    expect(outcomeOf(await scoped.submit({ ...bob, accountId: 'unknown@scoped' }, transfer))).toBe(NOT_THERE)
    const frozen = await admin.post(`/v1/accounts/${bob.accountId}/status`, { status: 'frozen', reason: 'r' })
    expect(outcomeOf(frozen)).toBe(NOT_THERE)
    expect(await client.read(`/v1/accounts/${bob.accountId}`)).toEqual(before)
  })

  test('accounts, tokens and classes are created only for accounts inside', async () => {
    const { scoped, bob } = stage()
    const registered = await scoped.register('shop:scoped:new')
    expect(registered.accountId).toBe('shop:scoped:new')
    for (const accountId of ['new@scoped', bob.accountId]) {
      const body = { account_id: accountId, public_key: newAccountKeys().jwk }
      expect(outcomeOf(await scoped.post('/v1/accounts', body))).toBe(NOT_THERE)
    }
    for (const [issuer, expected] of [
      [bob.accountId, NOT_THERE],
      ['shop:scoped:new', '201'],
    ] as const) {
      const token = await registerToken(scoped, { symbol: `S${randomUUID()}`, issuer, total_supply: '1' })
      const nftClass = await registerClass(scoped, { name: `Own ${randomUUID()}`, issuer })
      expect([token, nftClass].map((reply) => (reply.status === 201 ? '201' : outcomeOf(reply)))).toEqual([
        expected,
        expected,
      ])
    }
  })
}

function lists(scene: GetScene, stage: () => Stage): void {
  test('lists hold what is inside, page by page, each once, in either order', async () => {
    const { client } = scene()
    const { scoped, viewer, admin } = stage()
    const inside = (item: Members): boolean => /^(ann@scoped$|shop:scoped:)/.test(String(item['account_id']))
    const all = (await client.readAll('/v1/transactions', 'transactions')).filter(inside)
    expect(all.length).toBeGreaterThan(3)
    expect(await viewer.readAll('/v1/transactions', 'transactions')).toEqual(all)
    const paged: Members[] = []
    let token = ''
    do {
      const page = await scoped.read(`/v1/transactions?page_size=2&page_token=${token}`)
      expect(page).toMatchObject({ total_count: all.length })
      paged.push(...(page['transactions'] as readonly Members[]))
      token = textOf(page, 'next_page_token')
    } while (token !== '')
    expect(paged).toEqual(all)
    // A feed ends before what a commit that is still under way, whosever it is, might come before.
    await expect
      .poll(async () => {
        const feed = await scoped.read('/v1/transactions?order=asc&page_size=1000')
        return (feed['transactions'] as readonly Members[]).map(({ txn_id: id }) => String(id)).toSorted()
      })
      .toEqual(all.map(({ txn_id: id }) => String(id)).toSorted())
    expect(transactionsIn(await readLines(scoped, '/v1/transactions'))).toEqual(all)
    const accounts = await admin.readAll('/v1/accounts', 'accounts')
    expect(accounts.filter((account) => !inside(account))).toEqual([])
    expect(accounts.map(({ account_id: id }) => String(id)).toSorted()).toEqual([
      'ann@scoped',
      'shop:scoped:1',
      'shop:scoped:new',
    ])
  })

  test('the transactions of an account outside are none, and of one inside the same as for other clients', async () => {
    const { client } = scene()
    const { scoped, bob } = stage()
    const own = '/v1/transactions?account_id=ann@scoped'
    expect(await scoped.readAll(own, 'transactions')).toEqual(await client.readAll(own, 'transactions'))
    for (const id of [bob.accountId, 'unknown@scoped']) {
      const page = await scoped.read(`/v1/transactions?account_id=${id}`)
      expect(page).toEqual({ transactions: [], next_page_token: '', total_count: 0, total_count_relation: 'eq' })
    }
  })
}

function nfts(scene: GetScene, stage: () => Stage): void {
  test('an NFT is seen by its owner and its issuer, with its history and what is stated of it', async () => {
    const { client } = scene()
    const { scoped, viewer, ann, zoe, annsNft, bobsNft } = stage()
    const instances = `/v1/nft-classes/${annsNft.class_id}/instances`
    for (const part of ['', '/history', '/provenance']) {
      expect((await scoped.get(`${instances}/of-ann${part}`)).status).toBe(200)
      expect(outcomeOf(await scoped.get(`${instances}/of-bob${part}`))).toBe(NOT_THERE)
    }
    const owned = await scoped.readAll(instances, 'instances')
    expect(owned.map(({ instance_id: id }) => id)).toEqual(['of-ann'])
    const stolen = await mint(scoped, zoe, annsNft.class_id, { instance_id: 'stolen', owner: ann.accountId })
    expect(outcomeOf(stolen)).toBe(NOT_THERE)

    const state = (by: LedgerClient, attester: string, nft: Nft) =>
      by.post('/v1/attestations', {
        attester,
        subject_class: nft.class_id,
        subject_instance: nft.instance_id,
        attestation_type: 'assay',
        statement: attester,
      })
    const hidden = membersOf(await state(client, 'office@elsewhere', bobsNft))
    const made = [
      await state(client, 'office@elsewhere', annsNft),
      await state(client, 'shop:scoped:9', bobsNft),
      await state(scoped, 'ann@scoped', bobsNft),
    ].map(membersOf)
    expect(outcomeOf(await state(scoped, 'office@elsewhere', annsNft))).toBe(NOT_THERE)
    const idOf = (attestation: Members): string => textOf(attestation, 'attestation_id')
    const listed = await scoped.readAll(`/v1/attestations?subject_class=${annsNft.class_id}`, 'attestations')
    expect(listed.map(idOf).toSorted()).toEqual(made.map(idOf).toSorted())
    for (const one of made) expect(await scoped.read(`/v1/attestations/${idOf(one)}`)).toEqual(one)
    expect(outcomeOf(await scoped.get(`/v1/attestations/${idOf(hidden)}`))).toBe(NOT_THERE)
    // Whom the client itself did not make it is not shown what neither concerns its accounts nor was attested by them.
    const seen = await viewer.readAll(`/v1/attestations?subject_class=${annsNft.class_id}`, 'attestations')
    expect(seen).toHaveLength(3)
  })
}

function groups(scene: GetScene, stage: () => Stage): void {
  test('a group is visible as a whole to clients that a leg concerns, and only they can register it', async () => {
    const { client } = scene()
    const { scoped, ann, bob, zoe } = stage()
    const legs = (from: Holder, to: Holder): readonly Members[] => [
      { account_id: from.accountId, type: 'debit', amount: '1', token_id: 'BASE' },
      { account_id: to.accountId, type: 'credit', amount: '1', token_id: 'BASE' },
    ]
    const ours = await agreed(scoped, agreementOn(legs(ann, bob)))
    expect(await scoped.read(`/v1/settlement-groups/${ours.groupId}`)).toMatchObject({ expected_legs: 2 })
    expect(outcomeOf(await scoped.post('/v1/settlement-groups', agreementOn(legs(bob, zoe)).body))).toBe(NOT_THERE)
    const theirs = await agreed(client, agreementOn(legs(bob, zoe)))
    for (const part of ['', '/revert']) {
      const path = `/v1/settlement-groups/${theirs.groupId}${part}`
      const reply = part === '' ? await scoped.get(path) : await scoped.post(path, { reason: 'r' })
      expect([part, outcomeOf(reply)]).toEqual([part, NOT_THERE])
    }
    for (const [by, { groupId }] of [
      [scoped, ours],
      [client, theirs],
    ] as const) {
      const reverted = await by.post(`/v1/settlement-groups/${groupId}/revert`, { reason: 'tested' })
      expect(reverted.status).toBe(202)
    }
  })
}

function atRest(scene: GetScene, stage: () => Stage): void {
  test('what a client is scoped to is listed for the operator, and is in no row', async () => {
    const { cluster } = scene()
    stage()
    const { code, out } = await runLedger(['client', 'list'], { LEDGER_DATA_DIR: cluster.dataDir })
    expect(code).toBe(0)
    const listed = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Members)
    expect(listed.find(({ client_id: id }) => id === 'scoped-viewer')).toMatchObject({ accounts: ACCOUNTS.split(',') })
    expect(listed.find(({ client_id: id }) => id === 'stranger')).toMatchObject({ accounts: null })
    const sql = postgres(cluster.databaseUrl(), { max: 1 })
    const rows = await sql<{ text: string }[]>`
      SELECT c::text || encode(document, 'escape') AS text FROM clients c WHERE client_id LIKE 'scoped-%'`
    await sql.end()
    expect(rows).toHaveLength(3)
    for (const { text } of rows) expect(text).not.toMatch(/ann@|shop:/)
  })

  test('a scope that is none is refused before anything is made', async () => {
    const { cluster } = scene()
    for (const accounts of ['', '*', 'a b', 'a,,b']) {
      const args = ['client', 'add', '--id', 'never', '--role', 'viewer', '--accounts', accounts]
      const { code, err } = await runLedger(args, { LEDGER_DATA_DIR: cluster.dataDir })
      expect([accounts, code]).toEqual([accounts, 2])
      expect(err).toMatch(/--accounts.*It must be/)
    }
  })
}
