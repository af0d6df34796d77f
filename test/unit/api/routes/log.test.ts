/** The log of the ledger, as anybody may read it, and the proofs of entries. */
import { expect, test, vi } from 'vitest'
import type { LedgerLog } from '../../../../runtime/ports/ledger-log.ts'
import { LogStoreUnavailable } from '../../../../runtime/ports/log-store.ts'
import { createEdgeFixture, refusalOf } from '../fakes/edge-fixture.ts'
import { createFakeLog, FAKE_KEY, FAKE_NOTE, FAKE_PROOF } from '../fakes/fake-log.ts'

test('the head and the key of the log are texts for everybody', async () => {
  const edge = createEdgeFixture()
  const head = await edge.app.request('/log/checkpoint')
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
    200,
    'text/plain; charset=utf-8',
    FAKE_NOTE,
  ])
  expect(head.headers.get('cache-control')).toBe('public, max-age=1')
  expect(await (await edge.app.request('/log/key')).text()).toBe(`${FAKE_KEY}\n`)
})

test('before the first head there is none, and a store that does not respond is 503', async () => {
  const checkpoint = vi.fn<LedgerLog['checkpoint']>(() => Promise.resolve(undefined))
  const edge = createEdgeFixture({ ledgerLog: { ...createFakeLog(), checkpoint } })
  expect(await refusalOf(await edge.app.request('/log/checkpoint'))).toMatchObject({
    status: 404,
    codes: ['ERR_NOT_FOUND'],
  })
  checkpoint.mockRejectedValue(new LogStoreUnavailable('of a test'))
  expect((await edge.app.request('/log/checkpoint')).status).toBe(503)
  expect(edge.log).toContainEqual(expect.objectContaining({ level: 'warn', event: 'port_unavailable' }))
})

test.for([
  ['0/000', 256 * 32],
  ['0/001.p/44', 44 * 32],
  ['entries/001.p/1', 32],
])('a tile may be kept for ever: %s', async ([path, bytes]) => {
  const reply = await createEdgeFixture().app.request(`/log/tile/${path}`)
  expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, bytes])
  expect(reply.headers.get('content-type')).toBe('application/octet-stream')
  expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

test.for([
  '0/001',
  '0/1',
  '0/0000',
  '0/000.p/0',
  '0/000.p/256',
  '0/000.p/257',
  '64/000',
  '-1/000',
  'entries/x000/000',
  '0/..',
])('a path that no tile has is 404: %s', async (path) => {
  expect((await createEdgeFixture().app.request(`/log/tile/${path}`)).status).toBe(404)
})

test('an entry is proved, or not yet, or unknown', async () => {
  const edge = createEdgeFixture()
  const token = await edge.tokenFor('viewer')
  const proofOf = (sequence: string) => edge.get(`/v1/accounts/alice/audit-chain/${sequence}/proof`, token)
  const proved = await proofOf('0')
  expect([proved.status, await proved.text()]).toEqual([200, FAKE_PROOF])
  const pending = await proofOf('1')
  expect(await refusalOf(pending)).toMatchObject({ status: 404, codes: ['ERR_NOT_FOUND'] })
  for (const sequence of ['2', '-1', '01', '1e3', '9999999999999999', 'x']) {
    expect((await proofOf(sequence)).status).toBe(404)
  }
})
