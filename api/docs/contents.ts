/** The document and the pages, ready to be sent. They follow from where problems are explained, and from nothing else. */
import { createHash } from 'node:crypto'
import type { InterfaceContents } from '../endpoint/route.ts'
import { createKnownContent, type KnownContent } from '../http/known-content.ts'
import { createOpenApiDocument } from '../openapi/document.ts'
import { createErrorPage, ERROR_PAGE_STYLE, isProblemType } from './error-page.ts'
import { createDocumentationPage } from './page.ts'
import { PAGE_STYLE } from './page-style.ts'

let made: { readonly errorBase: string; readonly contents: InterfaceContents } | undefined

/** Made once a process, because it is made of much and every edge that is created wants it. */
export function interfaceContents(errorBase: string): InterfaceContents {
  if (made?.errorBase !== errorBase) made = { errorBase, contents: make(errorBase) }
  return made.contents
}

function make(errorBase: string): InterfaceContents {
  const document = createOpenApiDocument(errorBase)
  const errorPages = new Map<string, KnownContent>()
  return {
    document: createKnownContent('application/json', JSON.stringify(document)),
    page: pageContent(createDocumentationPage(document), PAGE_STYLE),
    errorPage(slug) {
      if (!isProblemType(slug)) return undefined
      const page = errorPages.get(slug) ?? pageContent(createErrorPage(slug, errorBase), ERROR_PAGE_STYLE)
      errorPages.set(slug, page)
      return page
    },
  }
}

/** No script, image, font, form or frame; one style, by its hash. */
function pageContent(page: string, style: string): KnownContent {
  return createKnownContent('text/html; charset=utf-8', page, {
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
  })
}
