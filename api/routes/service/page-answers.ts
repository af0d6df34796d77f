import type { AnswerDescription } from '../../endpoint/operation.ts'

/** The answers of an endpoint that serves a page. */
export const PAGE_ANSWERS: readonly AnswerDescription[] = [
  { status: 200, description: 'The page.', content: 'text/html', headers: ['ETag'] },
  { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
]
