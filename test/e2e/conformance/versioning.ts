/** What is said of versions, and each change of the interface that a version made. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { membersOf } from '../../support/client.ts'
import { type Members, signed } from '../../support/client-keys.ts'
import { keyed, outcomeOf } from '../../support/client-moves.ts'
import { historyOf, mint } from '../../support/client-nfts.ts'
import { projectRoot } from '../../support/cluster-process.ts'
import { crowdOf } from './crowd.ts'
import { bodied, endpoints } from './endpoints.ts'
import { BODY_LIMIT_BYTES } from './forms.ts'
import type { Suite } from './suite.ts'

const SEMANTIC_VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

/** `503 and not 404 while a shard moves` stands with the outages. */
export function versioningChapter(suite: Suite): void {
  const row = suite.chapter('Versioning')

  row('path prefix', 'everything is under /v1, and nothing under another version', async (stage) => {
    for (const { method, path } of endpoints(stage)) {
      for (const elsewhere of [path.replace('/v1/', '/v2/'), path.replace('/v1/', '/')]) {
        const headers = { ...stage.admin.authorization(), 'content-type': 'application/json' }
        const body = method === 'GET' ? {} : { body: '{}' }
        const reply = await stage.ask({ method, path: elsewhere, headers, ...body })
        expect([elsewhere, outcomeOf(reply)]).toEqual([elsewhere, '404 ERR_NOT_FOUND'])
      }
    }
  })

  row('semantic versions and a changelog', 'of what serves, with its features, and what breaks', async ({ ask }) => {
    const { info } = membersOf(await ask({ method: 'GET', path: '/openapi.json' }))
    const version = String((info as Members)['version'])
    expect(version).toMatch(SEMANTIC_VERSION)
    const changelog = readFileSync(join(projectRoot(), 'CHANGELOG.md'), 'utf8')
    expect(changelog).toContain(`## [${version}]`)
    const released = [...changelog.matchAll(/^## \[(.*)\] - \d{4}-\d{2}-\d{2}$/gm)].map(([, one]) => one)
    expect(released.length).toBeGreaterThan(0)
    for (const one of released) expect(one).toMatch(SEMANTIC_VERSION)
  })

  row('idempotency_key is required', 'on every submission', async ({ transactor, cast }) => {
    const { alice, bob } = cast
    for (const fields of [
      { type: 'credit' },
      { type: 'debit' },
      { type: 'transfer', to_account_id: bob.accountId },
      { type: 'mint', token_id: 'COIN' },
      { type: 'burn', token_id: 'COIN' },
    ]) {
      const body = signed({ account_id: alice.accountId, amount: '1', ...fields }, alice.keys.privateKey)
      const reply = await transactor.post('/v1/transactions', body)
      expect([fields.type, outcomeOf(reply)]).toEqual([fields.type, '400 ERR_INVALID_IDEMPOTENCY_KEY'])
    }
  })

  row('the body limit is 1 MB', 'not the 10 MB of before', async ({ transactor }) => {
    for (const size of [BODY_LIMIT_BYTES + 1, 2 * BODY_LIMIT_BYTES, 10 * BODY_LIMIT_BYTES - 1]) {
      const reply = await transactor.post('/v1/transactions', Buffer.alloc(size, ' '))
      expect([size, outcomeOf(reply)]).toEqual([size, '413 ERR_PAYLOAD_TOO_LARGE'])
    }
  })

  row('the content type is enforced', 'on every POST', async (stage) => {
    for (const { method, path } of bodied(stage)) {
      const headers = { ...stage.admin.authorization(), 'content-type': 'text/json' }
      const reply = await stage.ask({ method, path, headers, body: '{}' })
      expect([path, outcomeOf(reply)]).toEqual([path, '415 ERR_UNSUPPORTED_CONTENT_TYPE'])
    }
  })

  row('a duplicate mint is 409', 'and no silent success', async ({ transactor, cast }) => {
    const before = await transactor.read(`/v1/nft-classes/${cast.classId}/instances/deed-1`)
    const reply = await mint(transactor, cast.alice, cast.classId, { instance_id: 'deed-1' })
    expect(outcomeOf(reply)).toBe('409 ERR_CONFLICT')
    expect(await transactor.read(`/v1/nft-classes/${cast.classId}/instances/deed-1`)).toEqual(before)
  })

  row('IDs, amounts and queries are validated', 'each with its code', async ({ transactor, cast }) => {
    const outcomes = [
      await transactor.get('/v1/accounts/a%20b/balances'),
      await transactor.submit(cast.alice, keyed({ type: 'credit', amount: '1e3' })),
      await transactor.get('/v1/transactions?status=unknown'),
    ].map(outcomeOf)
    expect(outcomes).toEqual(['400 ERR_INVALID_ACCOUNT_ID', '400 ERR_INVALID_AMOUNT', '400 ERR_INVALID_QUERY'])
  })

  row('page_size is capped', 'at 1,000', async (stage) => {
    const { scope } = await crowdOf(stage)
    const { transactions } = await stage.viewer.read(`/v1/transactions?${scope}&page_size=5000`)
    expect(transactions).toHaveLength(1000)
  })

  row('attestations are listed by filters', 'each of them tells one from another', async ({ viewer, cast }) => {
    const { attestation_id: id } = membersOf(cast.attestation)
    const fits = [
      `subject_class=${cast.classId}`,
      'subject_instance=deed-1',
      `asset_class=${cast.classId}`,
      'source=land-registry@london',
      'status=active',
    ]
    const misses = ['subject_class=x', 'subject_instance=x', 'asset_class=x', 'source=x@y', 'status=revoked']
    for (const [index, fit] of fits.entries()) {
      const others = fits.filter((_, other) => other !== index)
      const found = await viewer.readAll(`/v1/attestations?${[...others, fit].join('&')}`, 'attestations')
      expect([fit, found.map((one) => one['attestation_id'])]).toEqual([fit, [id]])
      const missed = await viewer.readAll(`/v1/attestations?${[...others, misses[index]].join('&')}`, 'attestations')
      expect([misses[index], missed]).toEqual([misses[index], []])
    }
  })

  row('ownership history is filled', 'when an NFT changes hands', async ({ viewer, cast }) => {
    const history = await historyOf(viewer, cast.deed)
    expect(history.map(({ from, to }) => [from, to])).toEqual([
      [null, cast.alice.accountId],
      [cast.alice.accountId, cast.bob.accountId],
    ])
  })
}
