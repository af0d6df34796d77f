/** The page of a type of problem: its meaning, its codes and the remedy, for a person (D14). No script. */
import { ERROR_CODES } from '../http/error-codes.ts'
import { type ErrorCode, PROBLEM_TYPES, type ProblemType, renderProblem } from '../http/problem.ts'
import { html, inline, Markup } from './page-markup.ts'
import { PAGE_STYLE } from './page-style.ts'
import { EXAMPLE_REQUEST_ID, PROBLEM_EXAMPLES } from './problem-examples.ts'

export const ERROR_PAGE_STYLE = `${PAGE_STYLE}main { max-width: 45rem; margin: auto; padding: 2rem 1rem }`

export function isProblemType(slug: string): slug is ProblemType {
  return Object.hasOwn(PROBLEM_TYPES, slug)
}

/** `errorBase`: as in the problems themselves, so that the example is one. */
export function createErrorPage(slug: ProblemType, errorBase: string): string {
  const { status, title, meaning, remedy, retry } = PROBLEM_TYPES[slug]
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${slug}: ${title}</title>
        ${new Markup(`<style>${ERROR_PAGE_STYLE}</style>`)}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
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
          <pre>${exampleOf(slug, errorBase)}</pre>
        </main>
      </body>
    </html> `.text
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
