/**
 * The OpenAPI document as one HTML page, so that the browser's search covers all of it.
 * No script, and nothing from elsewhere.
 */
import type { OpenApiDocument } from '../openapi/openapi-types.ts'
import { html, inline, Markup, prose } from './page-markup.ts'
import { answerExamples, operationMarkup, type PlacedOperation, requestText, type Schemas } from './page-operation.ts'
import { fieldsOf, typeOf } from './page-schemas.ts'
import { PAGE_STYLE } from './page-style.ts'

/** Whole, so that nothing gets between the element and the text that its hash is of. */
const STYLE = new Markup(`<style>${PAGE_STYLE}</style>`)

interface Entry extends PlacedOperation {
  readonly id: string
  readonly tag: string
  readonly section: Markup
}

export function createDocumentationPage(document: OpenApiDocument): string {
  const entries = entriesOf(document)
  const beginning = html`${introductionOf(document)} ${walkthroughOf(document, entries)}`
  const ending = html`${codesOf(document)} ${schemasOf(document.components.schemas)}`
  return pageOf(document, entries, html`${beginning} ${tagsOf(document, entries)} ${ending}`)
}

function pageOf({ info, tags }: OpenApiDocument, entries: readonly Entry[], main: Markup): string {
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
            <a href="/docs">With a try-out</a> · <a href="#start">Start</a> · <a href="#walk-through">Walk-through</a> ·
            <a href="#errors">Errors</a> · <a href="#schemas">Schemas</a> · <a href="/openapi.json">openapi.json</a>
            ${navigationOf(tags, entries)}
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
      const { operationId, tags } = operation
      const section = operationMarkup(placed, components.schemas)
      return { ...placed, id: operationId, tag: tags[0], section }
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
