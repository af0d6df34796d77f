/**
 * The OpenAPI document as a page for people: everything on one page, so that the browser finds it, and a search of its own.
 * No script, and nothing from elsewhere.
 */
import type { OpenApiDocument } from './openapi-types.ts'
import { html, inline, Markup, prose } from './page-markup.ts'
import { answerExamples, operationMarkup, type PlacedOperation, requestText, type Schemas } from './page-operation.ts'
import { fieldsOf, typeOf } from './page-schemas.ts'
import { PAGE_STYLE } from './page-style.ts'

/** Whole, so that nothing gets between the element and the text that its hash is of. */
const STYLE = new Markup(`<style>${PAGE_STYLE}</style>`)

export interface DocumentationPage {
  /** `words`: what is searched for; empty: everything is shown. */
  readonly render: (words: string) => string
}

interface Entry extends PlacedOperation {
  readonly id: string
  readonly tag: string
  readonly section: Markup
  /** Lower case: what the search looks at. */
  readonly text: string
}

export function createDocumentationPage(document: OpenApiDocument): DocumentationPage {
  const entries = entriesOf(document)
  const beginning = html`${introductionOf(document)} ${walkthroughOf(document, entries)}`
  const ending = html`${codesOf(document)} ${schemasOf(document.components.schemas)}`
  return {
    render(words) {
      const wanted = words
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== '')
      const found = entries.filter(({ text }) => wanted.every((word) => text.includes(word)))
      const start = wanted.length === 0 ? beginning : foundOf(found.length, entries.length, words)
      return pageOf(document, words, found, html`${start} ${tagsOf(document, found)} ${ending}`)
    },
  }
}

function pageOf({ info, tags }: OpenApiDocument, words: string, found: readonly Entry[], main: Markup): string {
  const { title, version } = info
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} ${version}: the interface</title>
        ${STYLE}
      </head>
      <body>
        <div class="layout">
          <nav aria-label="Endpoints">
            <form action="/docs" role="search">
              <input
                type="search"
                name="q"
                value="${words}"
                maxlength="100"
                placeholder="Search the endpoints"
                aria-label="Search the endpoints"
              /><button>Search</button>
            </form>
            <a href="/docs#start">Start</a> · <a href="/docs#walk-through">Walk-through</a> ·
            <a href="#errors">Errors</a> · <a href="#schemas">Schemas</a> · <a href="/openapi.json">openapi.json</a>
            ${navigationOf(tags, found)}
          </nav>
          <main id="start">
            <h1>${title} <small>${version}</small></h1>
            ${main}
          </main>
        </div>
      </body>
    </html> `.text
}

function navigationOf(tags: OpenApiDocument['tags'], found: readonly Entry[]): Markup {
  const groups = tags.flatMap(({ name }) => {
    const links = found
      .filter(({ tag }) => tag === name)
      .map(
        ({ id, method, path }) =>
          html`<li>
            <a href="#${id}"><span class="method">${method}</span> ${path}</a>
          </li>`,
      )
    if (links.length === 0) return []
    return [
      html`<strong>${name}</strong>
        <ul>
          ${links}
        </ul>`,
    ]
  })
  return html`${groups}`
}

function foundOf(found: number, all: number, words: string): Markup {
  return html`<p>${found} of ${all} endpoints have “${words}”. <a href="/docs">Show all</a></p>`
}

function tagsOf({ tags }: OpenApiDocument, found: readonly Entry[]): readonly Markup[] {
  return tags.flatMap(({ name, description }) => {
    const sections = found.filter(({ tag }) => tag === name).map(({ section }) => section)
    if (sections.length === 0) return []
    return [
      html`<h2>${name}</h2>
        ${prose(description)} ${sections}`,
    ]
  })
}

function introductionOf({ info }: OpenApiDocument): Markup {
  return html`<p><strong>${info.summary}</strong></p>
    ${prose(info.description)}`
}

function entriesOf({ components, paths }: OpenApiDocument): readonly Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => {
      const placed = { method: name.toUpperCase(), path, operation }
      const { operationId, summary, tags } = operation
      const section = operationMarkup(placed, components.schemas)
      const words = section.text.replaceAll(/<[^>]*>/g, ' ')
      const text = `${placed.method} ${path} ${operationId} ${summary} ${words}`.toLowerCase()
      return { ...placed, id: operationId, tag: tags[0], section, text }
    }),
  )
}

function walkthroughOf(document: OpenApiDocument, entries: readonly Entry[]): Markup {
  const items = document['x-walkthrough'].flatMap(({ operationId, example, role }) => {
    const entry = entries.find(({ id }) => id === operationId)
    if (entry === undefined) return []
    const { summary = '' } = answerExamples(entry.operation).find(({ name }) => name === example) ?? {}
    const [line = ''] = requestText(entry, example).split('\n')
    return [
      html`<li>
        <a href="#${operationId}-${example}">${inline(summary)}</a>
        <span class="quiet">${line}${role === null ? '' : `, as ${role}`}</span>
      </li>`,
    ]
  })
  return html`<h2 id="walk-through">Walk-through</h2>
    <p>The examples can be sent to a new ledger in this order, each as a client of the role that is named.</p>
    <details>
      <summary>${items.length} steps</summary>
      <ol>
        ${items}
      </ol>
    </details>`
}

function codesOf(document: OpenApiDocument): Markup {
  const rows = document['x-error-codes'].map(
    ({ code, status, meaning }) =>
      html`<tr>
        <td><code>${code}</code></td>
        <td>${status}</td>
        <td>${inline(meaning)}</td>
      </tr>`,
  )
  return html`<h2 id="errors">Errors</h2>
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`
}

function schemasOf(schemas: Schemas): Markup {
  const sections = Object.entries(schemas).map(([name, schema]) => {
    const { description, properties } = schema
    return html`<section id="schema-${name}">
      <h3>${name}</h3>
      ${prose(typeof description === 'string' ? description : '')}
      ${properties === undefined ? html`<p>${typeOf(schema)}</p>` : fieldsOf(schema)}
    </section>`
  })
  return html`<h2 id="schemas">Schemas</h2>
    ${sections}`
}
