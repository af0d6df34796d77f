/** LEDGER_PAGES: pages with scripts are switched off whole, with their files. */
import { describe, expect, test } from 'vitest'
import type { ScriptedPage } from '../../../../api/http/dependencies.ts'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'

describe('pages with scripts that are switched off', () => {
  const edgeWith = (pages: readonly ScriptedPage[]) =>
    createEdgeFixture({ settings: { ...createEdgeFixture().settings, pages } }).app

  test('the console is no resource, and the root leads to the documentation', async () => {
    const edge = edgeWith(['docs'])
    expect((await edge.request('/console')).status).toBe(404)
    expect((await edge.request('/console/assets/any/console.js')).status).toBe(404)
    const root = await edge.request('/', { headers: { accept: 'text/html' } })
    expect(root.headers.get('location')).toBe('/docs')
    expect(await (await edge.request('/docs')).text()).toContain('scalar.js')
  })

  test('the documentation has no script, and its other pages stay', async () => {
    const edge = edgeWith(['console'])
    const docs = await edge.request('/docs')
    const plain = await edge.request('/docs/plain')
    expect([docs.status, (await edge.request('/console')).status]).toEqual([200, 200])
    expect(docs.headers.get('content-security-policy')).not.toContain('script-src')
    expect(await docs.text()).toBe(await plain.text())
    const guides = await (await edge.request('/docs/guides')).text()
    const [, style = ''] = /href="(\/docs\/assets\/[^"]+docs\.css)"/.exec(guides) ?? []
    expect((await edge.request(style)).status).toBe(200)
    expect((await edge.request(style.replace('docs.css', 'scalar.js'))).status).toBe(404)
  })
})
