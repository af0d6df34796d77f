/** The limits, each from both sides; most of them where what they limit is. */
import { expect } from 'vitest'
import { fieldsOf, outcomeOf } from '../../support/client-moves.ts'
import { crowdOf } from './crowd.ts'
import { entitled, lists } from './endpoints.ts'
import type { RowOf } from './specification.ts'
import type { Suite } from './suite.ts'

export function limitsChapter(suite: Suite): void {
  const row = suite.chapter('Limits')
  const same = (limit: RowOf<'Limits'>, ...to: Parameters<Suite['same']>[1]): void => suite.same(['Limits', limit], to)
  same('request body size', 'Status codes', '413')
  same('content type', 'Status codes', '415')
  same('account ID length', 'Conventions', 'account ID')
  same('amount digits', 'Conventions', 'decimal string')
  same('token decimals', 'Conventions', 'decimals')
  same('page_token length', 'Transaction query', 'page_token')
  same('access token lifetime', 'Bearer tokens', 'access token lifetime')
  same('refresh token lifetime', 'Bearer tokens', 'refresh token lifetime')

  row('idempotency key length', '255 printable ASCII characters; 256 are 400', async ({ transactor, cast }) => {
    const order = { type: 'credit', amount: '1' }
    const longest = await transactor.submit(cast.alice, { ...order, idempotency_key: '~'.repeat(255) })
    expect(longest.status).toBe(202)
    for (const key of ['~'.repeat(256), '', 'ä', 'a\nb', 7]) {
      const reply = await transactor.submit(cast.alice, { ...order, idempotency_key: key })
      expect([key, outcomeOf(reply)]).toEqual([key, '400 ERR_INVALID_IDEMPOTENCY_KEY'])
    }
  })

  row('page_size', 'default 100, at most 1,000, on every list', async (stage) => {
    for (const endpoint of lists(stage)) {
      const client = entitled(stage, endpoint)
      for (const [pageSize, outcome] of [
        ['1', '200'],
        ['1001', '200'],
        ['0', '400 ERR_INVALID_QUERY'],
        ['1.5', '400 ERR_INVALID_QUERY'],
      ] as const) {
        const reply = await client.get(`${endpoint.path}?page_size=${pageSize}`)
        expect([endpoint.path, pageSize, outcomeOf(reply)]).toEqual([endpoint.path, pageSize, outcome])
      }
    }
    const { accountId } = await crowdOf(stage)
    for (const [query, rows] of [
      ['', 100],
      ['?page_size=1001', 1000],
    ] as const) {
      const chain = await stage.viewer.read(`/v1/accounts/${accountId}/audit-chain${query}`)
      expect([query, (chain['entries'] as readonly unknown[]).length]).toEqual([query, rows])
    }
  })

  row('provenance max_depth', '0 to 1,000; -1 and 1,001 are 400', async ({ viewer, cast }) => {
    const path = `/v1/nft-classes/${cast.classId}/instances/deed-1/provenance`
    for (const [depth, entries] of [
      ['0', 1],
      ['1000', 3],
    ] as const) {
      const { provenance } = await viewer.read(`${path}?max_depth=${depth}`)
      expect([depth, (provenance as readonly unknown[]).length]).toEqual([depth, entries])
    }
    for (const depth of ['-1', '1001', '1.5', 'x', '']) {
      const reply = await viewer.get(`${path}?max_depth=${depth}`)
      expect([depth, outcomeOf(reply), fieldsOf(reply)]).toEqual([depth, '400 ERR_INVALID_QUERY', ['max_depth']])
    }
  })
}
