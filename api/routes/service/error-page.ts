/**
 * GET /errors/{slug}: what a type of problem means, which codes it has and what to do about it, for a person (D14).
 * No script, no image, nothing from elsewhere: the policy lets in one style, by its hash.
 */
import { open, pathValue, type PublicRoute } from '../../endpoint/route.ts'
import { createHash } from 'node:crypto'
import { createKnownContent } from '../../http/known-content.ts'
import { ERROR_CODES } from '../../http/error-codes.ts'
import { type ErrorCode, notFound, PROBLEM_TYPES, type ProblemType, renderProblem } from '../../http/problem.ts'
import { EXAMPLE_REQUEST_ID, PROBLEM_EXAMPLES } from './problem-examples.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'

export const GET_ERROR_PAGE: Operation = {
  id: 'getErrorPage',
  method: 'GET',
  path: '/errors/:slug',
  summary: 'Read what a type of problem means',
  description: 'A page for a person: the `type` of a problem leads here.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The page.', content: 'text/html', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
}

const STYLE = `
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 45rem; margin: 3rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff }
code, pre { font-family: ui-monospace, monospace; background: #f1f1f1; border-radius: .2em }
code { padding: .1em .3em; overflow-wrap: anywhere }
pre { padding: .8em 1em; overflow-x: auto }
h2 { font-size: 1.1rem }
dt { margin-top: .6em }
dd { margin-left: 1.2em }
`
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

interface CodeRow {
  readonly types: readonly ProblemType[]
  readonly meaning: string
}

/** `errorBase`: as in the problems themselves, so that the example is one. */
export function errorPage(errorBase: string): PublicRoute {
  const pages = new Map<ProblemType, ReturnType<typeof createKnownContent>>()
  return {
    ...open(GET_ERROR_PAGE),
    handle(call) {
      const slug = pathValue(call, 'slug')
      if (!isProblemType(slug)) return notFound('There is no such type of problem.')
      const page = pages.get(slug) ?? createKnownContent('text/html; charset=utf-8', pageOf(slug, errorBase), HEADERS)
      pages.set(slug, page)
      return page(call.http)
    },
  }
}

function isProblemType(slug: string): slug is ProblemType {
  return Object.hasOwn(PROBLEM_TYPES, slug)
}

function pageOf(slug: ProblemType, errorBase: string): string {
  const { status, title, meaning, remedy, retry } = PROBLEM_TYPES[slug]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${slug}: ${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p><code>${slug}</code>, HTTP status <code>${status}</code></p>
<h2>What it means</h2>
<p>${marked(meaning)}</p>
<h2>What to do</h2>
<p>${marked(remedy)}</p>
<h2>May it be sent again?</h2>
<p>${marked(retry)}</p>
<h2>Error codes</h2>
<dl>
${codesOf(slug)}
</dl>
<h2>An example</h2>
<pre>${escaped(exampleOf(slug, errorBase))}</pre>
</main>
</body>
</html>
`
}

function codesOf(slug: ProblemType): string {
  const rows: Readonly<Record<ErrorCode, CodeRow>> = ERROR_CODES
  return Object.entries(rows)
    .filter(([, { types }]) => types.includes(slug))
    .map(([code, { meaning }]) => `<dt><code>${code}</code></dt>\n<dd>${marked(meaning)}</dd>`)
    .join('\n')
}

function exampleOf(slug: ProblemType, errorBase: string): string {
  const { problem, instance } = PROBLEM_EXAMPLES[slug]
  const { body } = renderProblem(problem, { errorBase, instance, requestId: EXAMPLE_REQUEST_ID })
  return JSON.stringify(JSON.parse(body), null, 2)
}

/** The texts are our own: text in backticks is code, and angle brackets are escaped. */
function marked(text: string): string {
  return escaped(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
