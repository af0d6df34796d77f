/** The frame of the pages under `/docs`: header, navigation and stylesheet. */
import { pageHeaders } from '../http/page-headers.ts'
import { html, Markup, NOTHING } from './page-markup.ts'

export type Section = 'reference' | 'guides' | 'errors'

const SECTIONS: readonly (readonly [section: Section | null, path: string, name: string])[] = [
  ['reference', '/docs', 'API reference'],
  ['guides', '/docs/guides', 'Guides'],
  ['errors', '/errors', 'Errors'],
  [null, '/docs/plain', 'On one page'],
  [null, '/openapi.json', 'openapi.json'],
]

/** Of pages without scripts. */
export const SITE_HEADERS = pageHeaders({ 'style-src': "'self'", 'img-src': 'data:' })

export interface SitePage {
  readonly section: Section
  readonly title: string
  /** Path of `docs.css`. */
  readonly stylesheet: string
  readonly head?: Markup
  readonly body: Markup
}

export function sitePage({ section, title, stylesheet, head = NOTHING, body }: SitePage): string {
  const links = SECTIONS.map(
    ([own, path, name]) =>
      html`<a href="${path}" ${own === section ? new Markup('aria-current="page"') : NOTHING}>${name}</a> `,
  )
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${stylesheet}" />
        ${head}
      </head>
      <body>
        <header class="site">
          <a class="name" href="/">Ledger</a>
          <nav aria-label="Documentation">${links}</nav>
        </header>
        ${body}
      </body>
    </html> `.text
}
