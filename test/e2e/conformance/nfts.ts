/** The endpoints of NFT classes and instances. */
import { expect } from 'vitest'
import { membersOf, textOf } from '../../support/client.ts'
import type { Members } from '../../support/client-keys.ts'
import { outcomeOf } from '../../support/client-moves.ts'
import { COLOURED, mint, registerClass } from '../../support/client-nfts.ts'
import { CLASS_ID, NO_CLASS, TIMESTAMP, TXN_ID } from './forms.ts'
import type { Stage } from './stage.ts'
import type { Suite } from './suite.ts'

export function nftsChapter(suite: Suite): void {
  classes(suite)
  instances(suite)
}

function classes(suite: Suite): void {
  const row = suite.chapter('NFT classes and instances')

  row('POST /v1/nft-classes', '201 with the class', async ({ transactor, cast }) => {
    const fields = { name: 'Stones', description: 'precious', issuer: cast.alice.accountId, metadata_schema: COLOURED }
    const reply = await transactor.post('/v1/nft-classes', fields)
    expect(reply.status).toBe(201)
    expect(membersOf(reply)).toEqual({
      class_id: expect.stringMatching(CLASS_ID),
      ...fields,
      created_at: expect.stringMatching(TIMESTAMP),
    })
    expect(reply.headers.location).toBe(`/v1/nft-classes/${textOf(membersOf(reply), 'class_id')}`)
  })

  row('POST /v1/nft-classes', '409 on a duplicate name, in any case', async ({ transactor, cast }) => {
    for (const name of [cast.className, cast.className.toUpperCase()]) {
      expect(outcomeOf(await registerClass(transactor, { name, issuer: cast.bob.accountId }))).toBe('409 ERR_CONFLICT')
    }
  })

  row('GET /v1/nft-classes', '200 with classes, by ID', async ({ viewer, cast }) => {
    const list = await viewer.read('/v1/nft-classes')
    expect(Object.keys(list).toSorted()).toEqual(['classes', 'next_page_token', 'total_count', 'total_count_relation'])
    const shown = list['classes'] as readonly Members[]
    expect([shown.length, list['next_page_token']]).toEqual([list['total_count'], ''])
    const { description: _, metadata_schema: __, ...listed } = membersOf(cast.nftClass)
    expect(shown).toContainEqual(listed)
    const ids = shown.map((one) => textOf(one, 'class_id'))
    expect(ids).toEqual(ids.toSorted())
    const first = await viewer.read('/v1/nft-classes?page_size=1')
    const next = encodeURIComponent(textOf(first, 'next_page_token'))
    const rest = await viewer.read(`/v1/nft-classes?page_token=${next}`)
    expect([...(first['classes'] as readonly Members[]), ...(rest['classes'] as readonly Members[])]).toEqual(shown)
  })

  row('GET /v1/nft-classes/{id}', '200 with the class; 404 when it is unknown', async ({ viewer, cast }) => {
    expect(await viewer.read(`/v1/nft-classes/${cast.classId}`)).toEqual(membersOf(cast.nftClass))
    for (const id of [NO_CLASS, 'Title%20deeds', cast.classId.toLowerCase(), '-']) {
      expect([id, outcomeOf(await viewer.get(`/v1/nft-classes/${id}`))]).toEqual([id, '404 ERR_NOT_FOUND'])
    }
  })
}

function instances(suite: Suite): void {
  const row = suite.chapter('NFT classes and instances')

  row('GET /v1/nft-classes/{classId}/instances', '200 with class_id and instances, by ID', async (stage) => {
    const { viewer, cast } = stage
    const list = await viewer.read(`/v1/nft-classes/${cast.classId}/instances`)
    expect([Object.keys(list).toSorted(), list['class_id'], list['next_page_token']]).toEqual([
      ['class_id', 'instances', 'next_page_token'],
      cast.classId,
      '',
    ])
    const shown = list['instances'] as readonly Members[]
    expect(shown).toContainEqual({
      instance_id: 'deed-1',
      owner: cast.bob.accountId,
      status: 'active',
      metadata: { colour: 'blue', weight: 2.5 },
      minted_at: membersOf(cast.minted)['minted_at'],
    })
    const ids = shown.map((one) => textOf(one, 'instance_id'))
    expect(ids).toEqual(ids.toSorted())
    expect(shown.find((one) => one['instance_id'] === 'to-burn')).toMatchObject({ status: 'burned' })
    await expectMissing(stage, [`/v1/nft-classes/${NO_CLASS}/instances`])
  })

  row(
    'GET /v1/nft-classes/{classId}/instances/{instanceId}',
    '200 with the instance; 404 when the class has none such',
    async (stage) => {
      const { viewer, cast } = stage
      const path = `/v1/nft-classes/${cast.classId}/instances`
      expect(await viewer.read(`${path}/deed-1`)).toEqual({
        class_id: cast.classId,
        instance_id: 'deed-1',
        owner: cast.bob.accountId,
        status: 'active',
        metadata: { colour: 'blue', weight: 2.5 },
        minted_at: expect.stringMatching(TIMESTAMP),
      })
      await expectMissing(stage, [`${path}/no-such`, `${path}/a%20b`, `/v1/nft-classes/${NO_CLASS}/instances/deed-1`])
    },
  )

  row(
    'GET /v1/nft-classes/{classId}/instances/{instanceId}/history',
    '200 with class_id, instance_id and history, from the mint to the owner of now',
    async (stage) => {
      const { viewer, cast } = stage
      const path = `/v1/nft-classes/${cast.classId}/instances`
      const common = { txn_id: expect.stringMatching(TXN_ID), timestamp: expect.stringMatching(TIMESTAMP) }
      expect(await viewer.read(`${path}/deed-1/history`)).toEqual({
        class_id: cast.classId,
        instance_id: 'deed-1',
        history: [
          { from: null, to: cast.alice.accountId, type: 'mint', ...common },
          { from: cast.alice.accountId, to: cast.bob.accountId, type: 'transfer', ...common },
        ],
        next_page_token: '',
      })
      await expectMissing(stage, [`${path}/no-such/history`, `/v1/nft-classes/${NO_CLASS}/instances/deed-1/history`])
    },
  )

  row(
    'GET /v1/nft-classes/{classId}/instances/{instanceId}/provenance',
    '200 with class_id, instance_id and provenance; 404 when the instance is not in the class',
    async (stage) => {
      const { viewer, cast } = stage
      const path = `/v1/nft-classes/${cast.classId}/instances`
      const provenance = await viewer.read(`${path}/deed-1/provenance`)
      expect(Object.keys(provenance).toSorted()).toEqual(['class_id', 'instance_id', 'next_page_token', 'provenance'])
      expect(provenance).toMatchObject({
        class_id: cast.classId,
        instance_id: 'deed-1',
        provenance: [
          { depth: 0, event: 'mint' },
          { depth: 1, event: 'transfer' },
          { depth: 1, event: 'attestation' },
        ],
      })
      await expectMissing(stage, [
        `${path}/no-such/provenance`,
        `/v1/nft-classes/${NO_CLASS}/instances/deed-1/provenance`,
      ])
    },
  )

  row('duplicate mint', 'is 409 and mints nothing, of a burned one too', async ({ transactor, cast }) => {
    const { alice, bob, classId } = cast
    const again = await mint(transactor, alice, classId, { instance_id: 'deed-1', owner: alice.accountId })
    expect(outcomeOf(again)).toBe('409 ERR_CONFLICT')
    expect(await transactor.read(`/v1/nft-classes/${classId}/instances/deed-1`)).toMatchObject({ owner: bob.accountId })
    const burned = await mint(transactor, alice, classId, { instance_id: 'to-burn' })
    expect(outcomeOf(burned)).toBe('409 ERR_CONFLICT')
  })
}

async function expectMissing({ viewer }: Stage, paths: readonly string[]): Promise<void> {
  for (const path of paths) expect([path, outcomeOf(await viewer.get(path))]).toEqual([path, '404 ERR_NOT_FOUND'])
}
