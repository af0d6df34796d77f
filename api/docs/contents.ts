/** The document and the pages, ready to be sent. They follow from two settings, and from nothing else. */
import { createHash } from 'node:crypto'
import type { InterfaceContents } from '../endpoint/route.ts'
import type { EdgeSettings } from '../http/dependencies.ts'
import { createKnownContent, type KnownContent } from '../http/known-content.ts'
import { createMadeOnce } from '../http/made-once.ts'
import { pageHeaders } from '../http/page-headers.ts'
import { createOpenApiDocument } from '../openapi/document.ts'
import { createConsoleAssets, createConsolePage } from './console-page.ts'
import { createErrorList, createErrorPage, isProblemType } from './error-page.ts'
import { createGuideList, createGuidePage, guideOf } from './guides.ts'
import { createDocumentationPage } from './page.ts'
import { PAGE_STYLE } from './page-style.ts'
import { createDocsAssets, createReferencePage } from './reference.ts'
import { SITE_HEADERS } from './site.ts'

type ContentSettings = Pick<EdgeSettings, 'errorBase' | 'pages'>

let made: { readonly key: string; readonly contents: InterfaceContents } | undefined

/** Made once a process, because it is made of much and every edge that is created wants it. */
export function interfaceContents({ errorBase, pages }: ContentSettings): InterfaceContents {
  const key = [errorBase, ...pages].join(' ')
  if (made?.key !== key) made = { key, contents: make({ errorBase, pages }) }
  return made.contents
}

/** Pages are made at their first request. */
function make({ errorBase, pages: served }: ContentSettings): InterfaceContents {
  const document = createOpenApiDocument(errorBase)
  const hasForm = served.includes('docs')
  const assets = createDocsAssets(hasForm)
  const consoleAssets = createConsoleAssets()
  const pages = createMadeOnce<KnownContent>()
  const plainPage = (): Promise<KnownContent> =>
    pages('plain', async () => plainContent(createDocumentationPage(document)))
  const errorPage = async (make: (stylesheet: string) => string): Promise<KnownContent> =>
    htmlContent(make(await assets.urlOf('docs.css')), SITE_HEADERS)
  return {
    startPage: served.includes('console') ? '/console' : '/docs',
    document: createKnownContent('application/json', JSON.stringify(document)),
    assets,
    console: () => pages('console', () => createConsolePage(consoleAssets)),
    consoleAssets,
    reference: hasForm ? () => pages('reference', () => createReferencePage(assets)) : plainPage,
    plainPage,
    guides: () => pages('guides', () => createGuideList(assets)),
    async guide(slug) {
      const guide = guideOf(slug)
      return guide === undefined ? undefined : pages(`guides/${slug}`, () => createGuidePage(guide, assets))
    },
    errorList: () => pages('errors', () => errorPage(createErrorList)),
    async errorPage(slug) {
      if (!isProblemType(slug)) return undefined
      return pages(`errors/${slug}`, () => errorPage((stylesheet) => createErrorPage(slug, errorBase, stylesheet)))
    },
  }
}

/** No script, image, font, form or frame; one style, by its hash. */
function plainContent(page: string): KnownContent {
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64')
  return htmlContent(page, pageHeaders({ 'style-src': `'sha256-${hash}'` }))
}

function htmlContent(page: string, headers: Readonly<Record<string, string>>): KnownContent {
  return createKnownContent('text/html; charset=utf-8', page, headers)
}
