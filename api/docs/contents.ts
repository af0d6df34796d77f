/** The document and its page, ready to be sent. They follow from where problems are explained, and from nothing else. */
import { createHash } from 'node:crypto'
import { createKnownContent, type KnownContent } from '../http/known-content.ts'
import { createOpenApiDocument } from '../openapi/document.ts'
import { createDocumentationPage } from './page.ts'
import { PAGE_STYLE } from './page-style.ts'

export interface InterfaceContents {
  readonly document: KnownContent
  readonly page: KnownContent
}

/** No script, image, font, form or frame; one style, by its hash. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
}

let made: { readonly errorBase: string; readonly contents: InterfaceContents } | undefined

/** Made once a process, because it is made of much and every edge that is created wants it. */
export function interfaceContents(errorBase: string): InterfaceContents {
  if (made?.errorBase !== errorBase) made = { errorBase, contents: make(errorBase) }
  return made.contents
}

function make(errorBase: string): InterfaceContents {
  const document = createOpenApiDocument(errorBase)
  return {
    document: createKnownContent('application/json', JSON.stringify(document)),
    page: createKnownContent('text/html; charset=utf-8', createDocumentationPage(document), PAGE_HEADERS),
  }
}
