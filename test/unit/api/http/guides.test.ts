/** The guides and the reference: pages of one look, whose policies allow this origin only. */
import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../../api/docs/markdown.ts'
import { createEdgeFixture } from '../fakes/edge-fixture.ts'

const { app, get, tokenFor } = createEdgeFixture()

async function pageOf(path: string): Promise<string> {
  const response = await get(path)
  expect([path, response.status, response.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
  return response.text()
}

async function guidePaths(): Promise<readonly string[]> {
  const [, main = ''] = /<main>([^]*)<\/main>/.exec(await pageOf('/docs/guides')) ?? []
  return [...main.matchAll(/href="(\/docs\/guides\/[^"]*)"/g)].map(([, path = '']) => path)
}

function attributes(html: string, name: string): readonly string[] {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value)
}

test('every guide is listed, and links between guides lead to a heading that exists', async () => {
  const paths = await guidePaths()
  expect(paths).toHaveLength(12)
  const pages = new Map(await Promise.all(paths.map(async (path) => [path, await pageOf(path)] as const)))
  for (const [path, html] of pages) {
    const ids = attributes(html, 'id')
    expect([path, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([path, []])
    const broken = attributes(html, 'href').filter((target) => {
      const [page = '', anchor] = target.split('#')
      if (/^(https?:|data:,)/.test(target) || anchor === '') return false
      if (page === '' || pages.has(page))
        return anchor !== undefined && !attributes(pages.get(page) ?? html, 'id').includes(anchor)
      return !/^\/(docs|errors|openapi\.json|$)/.test(page)
    })
    expect([path, broken]).toEqual([path, []])
  }
})

test('guides have no script, and load the stylesheet of this release only', async () => {
  for (const path of [...(await guidePaths()), '/docs/guides']) {
    const response = await get(path)
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'self'; img-src data:",
    )
    const html = await response.text()
    expect([path, html.match(/<(script|img|iframe|object|embed|form|base)\b|\son\w+="|\sstyle="/gi)]).toEqual([
      path,
      null,
    ])
    const [stylesheet = ''] = html.match(/\/docs\/assets\/[^"]*docs\.css/) ?? []
    expect((await get(stylesheet)).headers.get('content-type')).toBe('text/css; charset=utf-8')
  }
})

test('the reference runs scripts of this origin only, and no page of others may frame it', async () => {
  const response = await get('/docs')
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-security-policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  const html = await response.text()
  expect(html.match(/<script(?! src="\/docs\/assets\/)/g)).toBeNull()
  for (const path of attributes(html, 'src')) {
    expect([path, (await get(path)).headers.get('content-type')]).toEqual([path, 'text/javascript; charset=utf-8'])
  }
})

test('the reference is configured to load and send nothing elsewhere', async () => {
  const [path = ''] = attributes(await pageOf('/docs'), 'src').filter((one) => one.endsWith('reference.js'))
  const script = await (await get(path)).text()
  expect(JSON.parse(/Scalar\.createApiReference\('#reference', (.*)\)\n$/.exec(script)?.[1] ?? '')).toMatchObject({
    url: '/openapi.json',
    withDefaultFonts: false,
    telemetry: false,
    persistAuth: false,
    agent: { disabled: true },
    hideClientButton: true,
  })
  expect(script).not.toMatch(/https?:|proxyUrl/)
})

test('markup in a guide is text, and links lead only to web pages and guides', () => {
  const hostile = [
    '# A <img src=x onerror=alert(1)> & `<b>` title',
    '<script>alert(1)</script>',
    '[one](javascript:alert(1)) [two](https://ledger.example/"onclick=") [three](other.md)',
    '![<i>](https://elsewhere.example/pixel.png)',
    '| a |\n|---|\n| <svg onload=alert(1)> |',
    '```\n<script>\n```',
  ].join('\n\n')
  const linkOf = (target: string): string | undefined => (target.startsWith('https:') ? target : undefined)
  const { headings, markup } = renderMarkdown(hostile, linkOf)
  const tags = new Set([...markup.text.matchAll(/<(\w+)/g)].map(([, tag = '']) => tag))
  expect([...tags].sort()).toEqual(['a', 'code', 'div', 'h1', 'p', 'pre', 'table', 'tbody', 'td', 'th', 'thead', 'tr'])
  expect(attributes(markup.text, 'href')).toEqual(['https://ledger.example/&quot;onclick=&quot;'])
  expect(headings.map(({ id }) => id)).toEqual(['a-img-srcx-onerroralert1--b-title'])
})

test('headings have the anchors of GitHub, also repeated ones', () => {
  const { headings } = renderMarkdown("# It's `a_b`, 3.1?\n\n## Keys\n\n## Keys\n\n## Größe & Maß", () => undefined)
  expect(headings.map(({ id }) => id)).toEqual(['its-a_b-31', 'keys', 'keys-1', 'größe--maß'])
})

test.for([
  ['/docs/', '/docs'],
  ['/docs/plain/', '/docs/plain'],
  ['/docs/guides/', '/docs/guides'],
  ['/errors/', '/errors'],
  ['/errors/%E4%BD%A0%0D%0A/', '/errors/%E4%BD%A0%0D%0A'],
] as const)('%s redirects to %s', async ([path, target]) => {
  for (const method of ['GET', 'HEAD']) {
    const response = await app.request(path, { method })
    expect([method, response.status, response.headers.get('location')]).toEqual([method, 308, target])
  }
})

test.for(['/docs', '/docs/plain', '/docs/guides', '/console', '/errors'])(
  'a client asks each time whether %s has changed, because its files are those of one release',
  async (path) => {
    expect((await app.request(path)).headers.get('cache-control')).toBe('no-cache')
  },
)

test('no other path redirects, and those under /v1 need a token first', async () => {
  for (const path of ['/docs//', '/docs!', '/nowhere/', '//elsewhere.example/']) {
    expect([path, (await app.request(`http://localhost${path}`)).status]).toEqual([path, 404])
  }
  expect((await app.request('/docs/', { method: 'POST' })).status).toBe(404)
  expect((await app.request('/v1/accounts/')).status).toBe(401)
  expect((await get('/v1/accounts/', await tokenFor('admin'))).status).toBe(404)
})

test('the root leads a browser to the page where people begin, and a program to the resources', async () => {
  const browser = await app.request('/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
  expect([browser.status, browser.headers.get('location')]).toEqual([303, '/console'])
  const program = await app.request('/', { headers: { accept: '*/*' } })
  expect([program.status, await program.json()]).toMatchObject([
    200,
    { console: '/console', documentation: '/docs', errors: '/errors' },
  ])
})

test('an unknown guide is 404', async () => {
  for (const slug of ['nothing', encodeURIComponent('../../package.json'), '__proto__']) {
    expect([slug, (await get(`/docs/guides/${slug}`)).status]).toEqual([slug, 404])
  }
})
