/** What is said of versions, and each change of the interface that a version made. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { membersOf } from '../../support/client.ts'
import { type Members } from '../../support/client-keys.ts'
import { outcomeOf } from '../../support/client-moves.ts'
import { projectRoot } from '../../support/cluster-process.ts'
import { endpoints } from './endpoints.ts'
import type { RowOf } from './specification.ts'
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

  const same = (row: RowOf<'Versioning'>, ...to: Parameters<Suite['same']>[1]): void =>
    suite.same(['Versioning', row], to)
  same('idempotency_key is required', 'Error codes', 'ERR_INVALID_IDEMPOTENCY_KEY')
  same('the body limit is 1 MB', 'Status codes', '413')
  same('the content type is enforced', 'Status codes', '415')
  same('a duplicate mint is 409', 'NFT classes and instances', 'duplicate mint')
  same('IDs, amounts and queries are validated', 'Transaction query', 'invalid format')
  same('page_size is capped', 'Transaction query', 'page_size')
  same('attestations are listed by filters', 'Attestations', 'GET /v1/attestations')
  same('ownership history is filled', 'Ownership history entry', 'to')
}
