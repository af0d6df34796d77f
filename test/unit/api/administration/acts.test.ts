/** Acts of administrators are recorded before they are done, with their outcomes, and shown with a signature. */
import { describe, expect, test } from 'vitest'
import { sha256Hex, showHash } from '../../../../actors/audit-chain.ts'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import { signatureProblem } from '../../../../api/endpoint/service-signature.ts'
import { listAdministrativeChain } from '../../../../api/routes/administration/list-administrative-chain.ts'
import { TAGS } from '../../../../api/openapi/tags.ts'
import {
  type AdministrativeChain,
  AdministrativeChainUnavailable,
  type AdministrativeRecord,
} from '../../../../runtime/ports/administrative-chain.ts'
import {
  accountView,
  answering,
  bodyOf,
  clientOf,
  createEdgeFixture,
  type EdgeFixture,
  GROUP_ID,
  LEDGER_ID,
  newAccountKey,
  refusalOf,
} from '../fakes/edge-fixture.ts'
import { streamOf } from '../http/stream-of.ts'
import { WRITTEN } from '../routes/written-requests.ts'

const FREEZE = { status: 'frozen', reason: 'a court order' }
const STATUS = '/v1/accounts/alice/status'
const CHAIN = '/v1/admin/audit-chain'
/** An account signs these, or any client may do them for itself. */
const UNRECORDED = [
  'rotateKey',
  'submitTransaction',
  'submitBatch',
  'createHold',
  'captureHold',
  'mintNft',
  'createSettlementGroup',
  'declineSettlementGroup',
  'createAttestation',
]

function recordedBy({ administrative }: EdgeFixture): readonly JsonObject[] {
  return administrative.entries.map(({ payload }) => {
    const { client_id: client, act, details, of } = JSON.parse(payload) as JsonObject
    return { client, act, details, of } as JsonObject
  })
}

/** A chain that fails at the calls of these numbers, and keeps what it is given. */
function failingAt(...failing: readonly number[]) {
  const given: AdministrativeRecord[] = []
  const chain: AdministrativeChain = {
    record: async (recorded) => {
      given.push(recorded)
      if (failing.includes(given.length)) throw new AdministrativeChainUnavailable('away')
      return given.length - 1
    },
    entries: () => Promise.reject(new AdministrativeChainUnavailable('away')),
  }
  return { chain, given }
}

describe('A1: an act is recorded before it is done', () => {
  test('with the client and the operation, without the account and the reason', async () => {
    const edge = answering({ kind: 'status_changed', account: accountView('alice') })
    expect((await edge.post(STATUS, FREEZE, await edge.tokenFor('admin'))).status).toBe(200)
    expect(recordedBy(edge)).toEqual([
      { client: 'client-admin', act: 'changeStatus', details: { status: 'frozen' }, of: null },
      { client: 'client-admin', act: 'changeStatus', details: { status: 200 }, of: 0 },
    ])
    expect(edge.administrative.entries.map(({ accountId }) => accountId)).toEqual(['alice', 'alice'])
    const texts = edge.administrative.entries.map(({ payload }) => payload).join('\n')
    expect(texts).not.toMatch(/alice|court/)
  })

  test('what cannot be recorded is not done', async () => {
    const { chain } = failingAt(1)
    const edge = answering({ kind: 'status_changed', account: accountView('alice') }, { administrativeChain: chain })
    const refused = await bodyOf(await edge.post(STATUS, FREEZE, await edge.tokenFor('admin')))
    expect(refused).toMatchObject({ status: 503, error_codes: ['ERR_DOWNSTREAM_FAILURE'], outcome: 'not_applied' })
    expect(edge.gateway.asked).toEqual([])
    expect(edge.log.map(({ event }) => event)).toContain('administrative_act_not_recorded')
  })

  test('a request that is not valid, and one that is replayed, are no acts', async () => {
    const edge = answering({ kind: 'status_changed', account: accountView('alice') })
    const token = await edge.tokenFor('admin')
    expect((await edge.post(STATUS, { status: 'melted' }, token)).status).toBe(400)
    expect(recordedBy(edge)).toEqual([])
    for (let sent = 0; sent < 2; sent += 1) {
      expect((await edge.post(STATUS, FREEZE, token, { 'idempotency-key': 'k' })).status).toBe(200)
    }
    expect(recordedBy(edge)).toHaveLength(2)
  })

  test('of a webhook only those of administrators are', async () => {
    const edge = createEdgeFixture()
    const remove = async (role: 'transactor' | 'admin') => {
      const token = await edge.tokenFor(role)
      const made = await bodyOf(await edge.post('/v1/webhooks', { url: 'https://example.com/secret-path' }, token))
      const path = `/v1/webhooks/${String(made['webhook_id'])}`
      const headers = { authorization: `Bearer ${token}` }
      expect((await edge.app.request(path, { method: 'DELETE', headers })).status).toBe(204)
      return made['webhook_id']
    }
    await remove('transactor')
    expect(recordedBy(edge)).toEqual([])
    const webhookId = await remove('admin')
    expect(recordedBy(edge)).toMatchObject([
      { act: 'createWebhook', details: { url: 'https://example.com' } },
      { act: 'createWebhook', details: { status: 201, made: webhookId }, of: 0 },
      { act: 'deleteWebhook', details: { webhook_id: webhookId } },
      { act: 'deleteWebhook', details: { status: 204 }, of: 2 },
    ])
    expect(edge.administrative.entries.map(({ payload }) => payload).join('\n')).not.toContain('secret-path')
  })

  test('of a list it has the number of items', async () => {
    const edge = createEdgeFixture()
    await edge.post('/v1/exports', WRITTEN.createExport.body, await edge.tokenFor('admin'))
    expect(recordedBy(edge)).toMatchObject([
      {
        act: 'createExport',
        details: { mode: 'copy', audience: GROUP_ID, account_ids: 2, recipient_key_id: expect.any(String) as string },
      },
      { act: 'createExport', details: { status: 503, outcome: 'not_applied' } },
    ])
  })

  test('of a new client it has the rights that the client has, also those that are defaults', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('admin')
    const { pem, keyId } = newAccountKey()
    await edge.post('/v1/clients', { client_id: 'one', role: 'viewer' }, token)
    const given = { boundary: ['EUR', 'USD'], accounts: ['alice', 'bob*'], rate: '5/10' }
    await edge.post('/v1/clients', { client_id: 'two', role: 'admin', ...given, public_key: pem }, token)
    const acts = recordedBy(edge).filter(({ of }) => of === null)
    expect(acts.map(({ details }) => details)).toEqual([
      { client_id: 'one', role: 'viewer', boundary: true, accounts: null, rate: null, key_id: null },
      { client_id: 'two', role: 'admin', boundary: ['EUR', 'USD'], accounts: 2, rate: '5/10', key_id: keyId },
    ])
  })

  test('a path has its value in the entry only in the form of its ID', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('admin')
    const remove = async (id: string) => {
      const path = `/v1/webhooks/${encodeURIComponent(id)}`
      const headers = { authorization: `Bearer ${token}` }
      expect((await edge.app.request(path, { method: 'DELETE', headers })).status).toBe(404)
    }
    await remove('Alice Miller, alice@example.com')
    await remove('whk_01ARZ3NDEKTSV4RRFFQ69G5FAV')
    expect(recordedBy(edge).map(({ details }) => details)).toEqual([
      { webhook_id: null },
      { status: 404 },
      { webhook_id: 'whk_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
      { status: 404 },
    ])
  })

  test('the account of a registration is that of its body', async () => {
    const edge = createEdgeFixture()
    const { pem } = newAccountKey()
    await edge.post('/v1/accounts', { account_id: 'carol', public_key: pem }, await edge.tokenFor('admin'))
    expect(edge.administrative.entries.map(({ accountId }) => accountId)).toEqual(['carol', 'carol'])
  })

  test('an act whose client has gone while it was recorded is not done', async () => {
    const leaving = new AbortController()
    const { chain, given } = failingAt()
    const record = async (recorded: AdministrativeRecord): Promise<number> => {
      leaving.abort()
      return chain.record(recorded)
    }
    const edge = createEdgeFixture({ administrativeChain: { ...chain, record } })
    const headers = { authorization: `Bearer ${await edge.tokenFor('admin')}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(FREEZE), signal: leaving.signal }
    await edge.app.request(new Request(`http://edge${STATUS}`, init))
    expect(edge.gateway.asked).toEqual([])
    expect(given.map(({ details }) => details)).toEqual([{ status: 'frozen' }, { outcome: 'not_applied' }])
  })

  test('the document names the members of each entry', () => {
    const bodyMember = (name: string) => name.replace('public_key', 'key_id')
    const pathMember = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const expected = TAGS.flatMap((tag) => tag.endpoints).flatMap(({ id, path, ...rest }) => {
      if (!('administrative' in rest)) return []
      const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => pathMember(name))
      const members = [...inPath.filter((name) => name !== 'account_id'), ...rest.administrative.map(bodyMember)]
      return [`- \`${id}\`: ${members.map((name) => `\`${name}\``).join(', ') || 'none'}`]
    })
    const [, requests = ''] = /Requests:\n\n(.*?)\n\n/s.exec(listAdministrativeChain.description) ?? []
    expect(requests.split('\n').toSorted()).toEqual(expected.toSorted())
  })

  test('every endpoint that changes something records what administrators do, unless an account signs it', () => {
    const endpoints = TAGS.flatMap((tag) => tag.endpoints)
    const unrecorded = endpoints.filter(
      ({ roles, changes, ...rest }) =>
        changes !== undefined && roles?.includes('admin') === true && !('administrative' in rest),
    )
    expect(unrecorded.map(({ id }) => id)).toEqual(UNRECORDED)
  })
})

describe('A2: the outcome is recorded after the act', () => {
  test('of a refusal, and of one that is not known', async () => {
    const edge = createEdgeFixture()
    const token = await edge.tokenFor('admin')
    edge.gateway.outcome = {
      kind: 'answered',
      answer: { kind: 'refused', code: 'account_closed', detail: 'It is closed.', field: null },
    }
    expect((await edge.post(STATUS, FREEZE, token)).status).toBe(409)
    edge.gateway.outcome = { kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' }
    expect((await edge.post(STATUS, FREEZE, token)).status).toBe(503)
    edge.gateway.outcome = new Error('a fault')
    expect((await edge.post(STATUS, FREEZE, token)).status).toBe(503)
    expect(recordedBy(edge).filter(({ of }) => of !== null)).toMatchObject([
      { details: { status: 409 }, of: 0 },
      { details: { status: 503, outcome: 'unknown' }, of: 2 },
      { details: { outcome: 'unknown' }, of: 4 },
    ])
  })

  describe('of an export', () => {
    const LINES = ['{"line":0}\n', '{"line":1}\n']
    async function exporting(content = streamOf(LINES)) {
      const edge = createEdgeFixture({ exports: { begin: () => Promise.resolve({ kind: 'begun', content }) } })
      const token = await edge.tokenFor('admin')
      const ask = (headers = {}) => edge.post('/v1/exports', WRITTEN.createExport.body, token, headers)
      const outcomes = () => recordedBy(edge).filter(({ of }) => of !== null)
      return { edge, ask, outcomes }
    }
    const outcome = (end: string, sent: readonly string[]) => ({
      client: 'client-admin',
      act: 'createExport',
      details: {
        status: 200,
        outcome: end,
        bytes: sent.join('').length,
        content_hash: showHash(sha256Hex(sent.join(''))),
      },
      of: 0,
    })

    test('it is that of the file, at its end, and not recorded again for a replay', async () => {
      const { edge, ask, outcomes } = await exporting()
      const headers = { 'idempotency-key': 'one' }
      const first = await ask(headers)
      expect(recordedBy(edge)).toHaveLength(1)
      expect(await first.text()).toBe(LINES.join(''))
      expect(outcomes()).toEqual([outcome('complete', LINES)])
      expect(await (await ask(headers)).text()).toBe(LINES.join(''))
      expect(recordedBy(edge)).toHaveLength(2)
    })

    test('it is incomplete if the file broke off', async () => {
      const { ask, outcomes } = await exporting(streamOf(LINES, new Error('damaged')))
      await expect((await ask()).text()).rejects.toThrow('damaged')
      await expect.poll(outcomes).toMatchObject([{ details: { status: 200, outcome: 'incomplete' }, of: 0 }])
    })

    test('it is incomplete if the client left', async () => {
      const { ask, outcomes } = await exporting()
      const reader = ((await ask()).body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      await reader.cancel()
      await expect.poll(outcomes).toEqual([outcome('incomplete', LINES.slice(0, 1))])
    })

    test('it is incomplete if the client left while the file was being made', async () => {
      const { ask, outcomes } = await exporting(new ReadableStream({ pull: () => new Promise(() => undefined) }))
      const reader = ((await ask()).body as ReadableStream<Uint8Array>).getReader()
      const read = reader.read()
      await reader.cancel()
      expect(await read).toMatchObject({ done: true })
      await expect.poll(outcomes).toEqual([outcome('incomplete', [])])
    })
  })

  test('an outcome that cannot be recorded changes no reply', async () => {
    const { chain, given } = failingAt(2)
    const edge = answering({ kind: 'status_changed', account: accountView('alice') }, { administrativeChain: chain })
    expect((await edge.post(STATUS, FREEZE, await edge.tokenFor('admin'))).status).toBe(200)
    expect(given.map(({ of }) => of)).toEqual([null, 0])
    expect(edge.log.map(({ event }) => event)).toContain('administrative_outcome_not_recorded')
  })
})

describe('GET /v1/admin/audit-chain', () => {
  const read = async (edge: EdgeFixture, query = '') =>
    bodyOf(await edge.get(`${CHAIN}${query}`, await edge.tokenFor('admin')))

  test('shows the entries in pages, each with its last entry signed', async () => {
    const edge = answering({ kind: 'status_changed', account: accountView('alice') })
    expect(await read(edge)).toEqual({
      ledger_id: LEDGER_ID,
      entries: [],
      next_page_token: '',
      total_count: 0,
      total_count_relation: 'eq',
    })
    await edge.post(STATUS, FREEZE, await edge.tokenFor('admin'))
    const first = await read(edge, '?page_size=1')
    const second = await read(edge, `?page_size=1&page_token=${String(first['next_page_token'])}`)
    for (const [index, { entries, head, total_count: total }] of [first, second].entries()) {
      const { payload, auditHash, previousHash } = edge.administrative.entries[index] ?? {}
      expect(total).toBe(2)
      expect(entries).toEqual([
        { sequence: index, previous_hash: `sha256:${previousHash}`, audit_hash: `sha256:${auditHash}`, payload },
      ])
      const { signature, ...content } = head as JsonObject
      expect(content).toMatchObject({
        type: 'administrative_chain',
        sequence: index,
        audit_hash: `sha256:${auditHash}`,
        total_count: 2,
      })
      const claim = { keyId: content['key_id'], atMs: edge.clock.now(), text: canonicalJson(content), signature }
      expect(signatureProblem(claim, 'assertion', edge.keys.published())).toBeUndefined()
    }
  })

  test('shows the acts on one account, without a head', async () => {
    const edge = answering({ kind: 'status_changed', account: accountView('alice') })
    const token = await edge.tokenFor('admin')
    await edge.post(STATUS, FREEZE, token)
    await edge.post('/v1/accounts/bob/status', FREEZE, token)
    const shown = await read(edge, '?account_id=bob')
    expect(shown['entries']).toMatchObject([{ sequence: 2 }, { sequence: 3 }])
    expect(shown).not.toHaveProperty('head')
    expect(shown).not.toHaveProperty('total_count')
    const odd = await edge.get(`${CHAIN}?account_id=%20`, token)
    expect(await refusalOf(odd)).toMatchObject({ status: 400, codes: ['ERR_INVALID_ACCOUNT_ID'] })
  })

  test('is not for an administrator whose client is limited to accounts', async () => {
    const edge = createEdgeFixture()
    edge.access.clients.set('client-admin', { ...clientOf('client-admin', 'admin'), accounts: ['alice'] })
    const refused = await edge.get(CHAIN, await edge.tokenFor('admin'))
    expect(await refusalOf(refused)).toMatchObject({ status: 403, codes: ['ERR_FORBIDDEN'] })
  })

  test('a chain that cannot be read is a 503', async () => {
    const edge = createEdgeFixture({ administrativeChain: failingAt().chain })
    expect((await edge.get(CHAIN, await edge.tokenFor('admin'))).status).toBe(503)
    expect(edge.log.map(({ event }) => event)).toContain('port_unavailable')
  })
})
