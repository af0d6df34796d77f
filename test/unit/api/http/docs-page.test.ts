import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createOpenApiDocument } from '../../../../api/openapi/document.ts'
import { createDocumentationPage } from '../../../../api/docs/page.ts'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'

const DOCUMENT = createOpenApiDocument('https://ledger.example/errors')

function operationIds(): readonly string[] {
  return Object.values(DOCUMENT.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
}

function shownIn(page: string): readonly string[] {
  return operationIds().filter((id) => page.includes(`<section id="${id}">`))
}

async function pageOf(): Promise<string> {
  return (await createEdgeFixture().get('/docs/plain')).text()
}

test('the OpenAPI document needs no token', async () => {
  const response = await createEdgeFixture().get('/openapi.json')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  expect(await response.json()).toEqual(DOCUMENT)
})

test('the plain page loads nothing external, runs no script, and has a policy that allows its one style', async () => {
  const response = await createEdgeFixture().get('/docs/plain')
  const page = await response.text()
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page) ?? []
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toBe(
    `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
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

test('the plain page shows every operation, schema, error code and example, and every link has a target', async () => {
  const page = await pageOf()
  expect(shownIn(page)).toEqual(operationIds())
  const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id = '']) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const schemas = Object.keys(DOCUMENT.components.schemas)
  expect(schemas.filter((name) => !ids.includes(`schema-${name}`))).toEqual([])
  const examples = DOCUMENT['x-walkthrough'].map(({ operationId, example }) => `${operationId}-${example}`)
  expect(examples.filter((example) => !ids.includes(example))).toEqual([])
  const links = [...page.matchAll(/href="#([^"]*)"/g)].map(([, target = '']) => target)
  expect(links.filter((target) => !ids.includes(target))).toEqual([])
  for (const { code } of DOCUMENT['x-error-codes']) expect(page).toContain(`<code>${code}</code>`)
})

test('the plain page escapes markup in the texts of the document', () => {
  const name = '<b onclick="x">&amp;'
  const info = { ...DOCUMENT.info, title: name, version: name, summary: name, description: `\`${name}\`` }
  const page = createDocumentationPage({ ...DOCUMENT, info })
  expect(page).not.toContain('<b ')
  expect(page).toContain('<code>&lt;b onclick=&quot;x&quot;&gt;&amp;amp;</code>')
})
