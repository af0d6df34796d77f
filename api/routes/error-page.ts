/** GET /errors/{slug}: what a type of problem means, for a person (D14). */
import { notFound, PROBLEM_TYPES, type ProblemType } from '../problem.ts'
import { textReply } from '../reply.ts'
import { pathValue, type PublicRoute } from '../route.ts'

const HEADERS = {
  'cache-control': 'public, max-age=3600',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
}

export function errorPage(): PublicRoute {
  return {
    access: 'public',
    method: 'GET',
    path: '/errors/:slug',
    handle(call) {
      const slug = pathValue(call, 'slug')
      if (!isProblemType(slug)) return notFound('There is no such type of problem.')
      return textReply(200, 'text/html; charset=utf-8', pageOf(slug), HEADERS)
    },
  }
}

function isProblemType(slug: string): slug is ProblemType {
  return Object.hasOwn(PROBLEM_TYPES, slug)
}

function pageOf(slug: ProblemType): string {
  const { status, title, meaning, remedy } = PROBLEM_TYPES[slug]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${slug}: ${title}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color: #1b1b1b; background: #fff }
code { font-family: ui-monospace, monospace; background: #f1f1f1; padding: .1em .3em; border-radius: .2em }
h2 { font-size: 1.1rem }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p><code>${slug}</code>, HTTP status <code>${status}</code></p>
<h2>What it means</h2>
<p>${marked(meaning)}</p>
<h2>What to do</h2>
<p>${marked(remedy)}</p>
</main>
</body>
</html>
`
}

/** The texts are ours: what stands in backticks is code, and angle brackets are meant as such. */
function marked(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
}
