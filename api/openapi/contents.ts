/** The document and its page, ready to be sent. They follow from where problems are explained, and from nothing else. */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { createKnownContent } from '../known-content.ts'
import type { Reply } from '../reply.ts'
import { createOpenApiDocument } from './document.ts'
import { createDocumentationPage } from './page.ts'
import { PAGE_STYLE } from './page-style.ts'

export interface InterfaceContents {
  readonly document: (http: Context) => Reply
  /** `words`: what is searched for; empty: everything is shown. */
  readonly page: (http: Context, words: string) => Reply
}

/** No script, image, font or frame; one style, by its hash; a form that leads back here. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
    "form-action 'self'",
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
  const page = createDocumentationPage(document)
  const pageContent = (words: string): ((http: Context) => Reply) =>
    createKnownContent('text/html; charset=utf-8', page.render(words), PAGE_HEADERS)
  const wholePage = pageContent('')
  return {
    document: createKnownContent('application/json', JSON.stringify(document)),
    page: (http, words) => (words === '' ? wholePage(http) : pageContent(words)(http)),
  }
}
