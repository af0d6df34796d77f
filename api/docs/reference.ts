/**
 * The page `/docs`: Scalar shows the OpenAPI document, and sends requests to the ledger that serves it.
 *   R1. Nothing is loaded from elsewhere: no font, no proxy, no telemetry. The page's policy allows this origin only.
 *   R2. Tokens stay in the memory of the page.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createKnownContent, type KnownContent } from '../http/known-content.ts'
import { pageHeaders } from '../http/page-headers.ts'
import { createStaticFiles, type FileSource, type StaticFiles } from '../http/static-files.ts'
import { html } from './page-markup.ts'
import { sitePage } from './site.ts'
import { SITE_STYLE } from './site-style.ts'

const SCALAR = '@scalar/fastify-api-reference'
/** The languages of Scalar's generated samples that are not shown. Of the others, each shows one library. */
const HIDDEN_LANGUAGES =
  'c clojure csharp dart fsharp go http java kotlin node objc ocaml php powershell r ruby rust swift'.split(' ')
const HIDDEN_LIBRARIES = {
  shell: ['wget', 'httpie'],
  js: ['axios', 'ofetch', 'jquery', 'xhr'],
  python: ['requests', 'httpx_sync', 'httpx_async', 'aiohttp'],
}
const CONFIGURATION = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  hideClientButton: true,
  hideDarkModeToggle: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'none',
  authentication: { preferredSecurityScheme: 'bearer' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: { ...Object.fromEntries(HIDDEN_LANGUAGES.map((name) => [name, true])), ...HIDDEN_LIBRARIES },
}
const SCRIPT = `Scalar.createApiReference('#reference', ${JSON.stringify(CONFIGURATION)})\n`

/** The files that the pages under `/docs` load; without scripts unless the reference page has its form. */
export function createDocsAssets(hasForm: boolean): StaticFiles {
  const scripts: readonly (readonly [string, FileSource])[] = [
    ['scalar.js', readScalar],
    ['reference.js', () => Promise.resolve(Buffer.from(SCRIPT))],
  ]
  return createStaticFiles(
    '/docs/assets',
    new Map([...(hasForm ? scripts : []), ['docs.css', () => Promise.resolve(Buffer.from(SITE_STYLE))]]),
  )
}

function readScalar(): Promise<Uint8Array> {
  const entry = createRequire(import.meta.url).resolve(SCALAR)
  return readFile(join(dirname(entry), 'js', 'standalone.js'))
}

export async function createReferencePage(assets: StaticFiles): Promise<KnownContent> {
  const page = sitePage({
    section: 'reference',
    title: 'Ledger: API reference',
    stylesheet: await assets.urlOf('docs.css'),
    head: html`<script src="${await assets.urlOf('scalar.js')}" defer></script>
      <script src="${await assets.urlOf('reference.js')}" defer></script>`,
    body: html`<div id="reference"></div>
      <noscript
        ><p>
          This page needs JavaScript. The same reference without it: <a href="/docs/plain">/docs/plain</a>.
        </p></noscript
      >`,
  })
  // Scalar writes style elements and attributes: a hash or nonce cannot allow the attributes.
  const allowed = {
    'script-src': "'self'",
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data:",
    'font-src': "'self' data:",
    'connect-src': "'self'",
  }
  return createKnownContent('text/html; charset=utf-8', page, pageHeaders(allowed))
}
