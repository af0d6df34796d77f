import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createUnmigratedEdge } from '../../../api/unmigrated-edge.ts'
import { createOpenApiDocument } from '../../../api/openapi/document.ts'
import { createDocumentationPage } from '../../../api/openapi/page.ts'
import { createEdgeFixture } from './edge-fixture.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')
const PATHS = ['/openapi.json', '/docs'] as const

function operationIds(): readonly string[] {
  return Object.values(DOCUMENT.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
}

function shownIn(page: string): readonly string[] {
  return operationIds().filter((id) => page.includes(`<section id="${id}">`))
}

async function pageOf(): Promise<string> {
  return (await createEdgeFixture().get('/docs')).text()
}

describe('GET /openapi.json and GET /docs', () => {
  test('the document is served as it is built, to anybody', async () => {
    const response = await createEdgeFixture().get('/openapi.json')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await response.json()).toEqual(DOCUMENT)
  })

  test('D18: both are there before the ledger was created', async () => {
    const app = createUnmigratedEdge({
      random: { hex: (size) => 'ab'.repeat(size), integer: () => 0 },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      readiness: async () => ({ ready: false, checks: {} }),
      settings: { errorBase: 'https://ledger.example/errors', environment: 'sandbox', corsOrigins: 'any' },
    })
    for (const path of PATHS) expect((await app.request(path)).status).toBe(200)
    expect(await (await app.request('/openapi.json')).json()).toEqual(DOCUMENT)
  })
})

describe('the documentation page', () => {
  test('what is asked for as lines is shown with how it is asked for, and line by line', async () => {
    const [, section = ''] = (await pageOf()).split('id="listTransactions-lines"')
    const [example = ''] = section.split('</details>')
    expect(example).toContain('\nAccept: application/x-ndjson</pre>')
    expect(example).toContain(
      '}\n{&quot;end&quot;:true,&quot;count&quot;:2,&quot;next_page_token&quot;:&quot;&quot;}\n</pre>',
    )
  })

  test('has nothing from elsewhere, no script, and a policy that lets in its one style', async () => {
    const response = await createEdgeFixture().get('/docs')
    const page = await response.text()
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page) ?? []
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
    )
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(
      page.match(
        /<(script|link|img|iframe|object|embed|audio|video|base|meta http-equiv)|\son\w+=|\sstyle=|@import|url\(/gi,
      ),
    ).toBeNull()
    const targets = [...page.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map(([, target = '']) => target)
    expect(targets.filter((target) => !/^(#|\/docs|\/openapi\.json)/.test(target))).toEqual([])
    expect(targets.length).toBeGreaterThan(100)
  })

  test('shows every operation, schema, error code and example, and every link on it leads somewhere', async () => {
    const page = await pageOf()
    expect(shownIn(page)).toEqual(operationIds())
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const schemas = Object.keys(DOCUMENT.components.schemas)
    expect(schemas.filter((name) => !ids.includes(`schema-${name}`))).toEqual([])
    const examples = DOCUMENT['x-walkthrough'].map(({ operationId, example }) => `${operationId}-${example}`)
    expect(examples.filter((example) => !ids.includes(example))).toEqual([])
    const links = [...page.matchAll(/href="(?:\/docs)?#([^"]*)"/g)].map(([, target = '']) => target)
    expect(links.filter((target) => !ids.includes(target))).toEqual([])
    for (const { code } of DOCUMENT['x-error-codes']) expect(page).toContain(`<code>${code}</code>`)
  })

  test('its elements are closed in the order in which they are opened', async () => {
    const open: string[] = []
    const crossed: string[] = []
    for (const [, close, name = '', rest = ''] of (await pageOf()).matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
      if (rest.endsWith('/')) continue
      if (close === '') open.push(name)
      else if (open.pop() !== name) crossed.push(name)
    }
    expect(crossed).toEqual([])
    expect(open).toEqual([])
  })

  test('shows a document of any text without taking it for markup', () => {
    const name = '<b onclick="x">&amp;'
    const info = { ...DOCUMENT.info, title: name, version: name, summary: name, description: `\`${name}\`` }
    const page = createDocumentationPage({ ...DOCUMENT, info })
    expect(page).not.toContain('<b ')
    expect(page).toContain('<code>&lt;b onclick=&quot;x&quot;&gt;&amp;amp;</code>')
  })
})
