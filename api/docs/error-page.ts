/** The page of a type of problem: its meaning, its codes and the remedy, for a person (D14). No script. */
import { ERROR_CODES } from '../http/error-codes.ts'
import { type ErrorCode, PROBLEM_TYPES, type ProblemType, renderProblem } from '../http/problem.ts'
import { html, inline, Markup, NOTHING } from './page-markup.ts'
import { EXAMPLE_REQUEST_ID, PROBLEM_EXAMPLES } from './problem-examples.ts'
import { sitePage } from './site.ts'

export function isProblemType(slug: string): slug is ProblemType {
  return Object.hasOwn(PROBLEM_TYPES, slug)
}

/** `errorBase`: as in the problems themselves, so that the example is one. */
export function createErrorPage(slug: ProblemType, errorBase: string, stylesheet: string): string {
  const { status, title, meaning, remedy, retry } = PROBLEM_TYPES[slug]
  const main = html`<h1>${title}</h1>
    <p><code>${slug}</code>, HTTP status <code>${status}</code></p>
    <h2>What it means</h2>
    <p>${inline(meaning)}</p>
    <h2>What to do</h2>
    <p>${inline(remedy)}</p>
    <h2>May it be sent again?</h2>
    <p>${inline(retry)}</p>
    <h2>Error codes</h2>
    <dl>${codesOf(slug)}</dl>
    <h2>An example</h2>
    <pre>${exampleOf(slug, errorBase)}</pre>`
  return errorPage(`${slug}: ${title}`, slug, main, stylesheet)
}

/** The list of all types. */
export function createErrorList(stylesheet: string): string {
  const rows = TYPES.map(
    ([slug, { status, title }]) =>
      html`<tr>
        <td>${status}</td>
        <td><a href="/errors/${slug}">${title}</a></td>
        <td><code>${slug}</code></td>
      </tr>`,
  )
  const main = html`<h1>Errors</h1>
    <p>Every error is a problem (RFC 9457). Its <code>type</code> leads to one of these pages.</p>
    <div class="table">
      <table>
        <thead>
          <tr>
            <th>Status</th>
            <th>Title</th>
            <th>Type</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`
  return errorPage('Errors', null, main, stylesheet)
}

const TYPES = Object.entries(PROBLEM_TYPES)

function errorPage(title: string, shown: string | null, main: Markup, stylesheet: string): string {
  const items = TYPES.map(
    ([slug]) =>
      html`<li>
        <a href="/errors/${slug}" ${slug === shown ? new Markup('aria-current="page"') : NOTHING}>${slug}</a>
      </li>`,
  )
  const body = html`<div class="guide">
    <nav aria-label="Errors">
      <ul>
        ${items}
      </ul>
    </nav>
    <main>${main}</main>
  </div>`
  return sitePage({ section: 'errors', title, stylesheet, body })
}

function codesOf(slug: ProblemType): readonly Markup[] {
  const rows: Readonly<Record<ErrorCode, { readonly types: readonly ProblemType[]; readonly meaning: string }>> =
    ERROR_CODES
  return Object.entries(rows)
    .filter(([, { types }]) => types.includes(slug))
    .map(
      ([code, { meaning }]) =>
        html`<dt><code>${code}</code></dt>
          <dd>${inline(meaning)}</dd>`,
    )
}

function exampleOf(slug: ProblemType, errorBase: string): string {
  const { problem, instance } = PROBLEM_EXAMPLES[slug]
  const { body } = renderProblem(problem, { errorBase, instance, requestId: EXAMPLE_REQUEST_ID })
  return JSON.stringify(JSON.parse(body), null, 2)
}
