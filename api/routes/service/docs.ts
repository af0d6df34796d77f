/** The documentation for people: the reference, guides, and the files that these pages load. */
import { pathValue, type PublicEndpoint } from '../../endpoint/route.ts'
import { notFound } from '../../http/problem.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'
import { PAGE_ANSWERS } from './page-answers.ts'

export const getDocs: PublicEndpoint = {
  id: 'getDocs',
  method: 'GET',
  path: '/docs',
  summary: 'Read this document, and send requests from it',
  description: 'A page with a script. Its requests go to this ledger only, and nothing in it comes from elsewhere.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: PAGE_ANSWERS,
  handle: async ({ contents }, { http }) => (await contents.reference())(http),
}

export const getPlainDocs: PublicEndpoint = {
  id: 'getPlainDocs',
  method: 'GET',
  path: '/docs/plain',
  summary: 'Read this document as one page',
  description: 'One page without scripts, and nothing in it comes from elsewhere.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: PAGE_ANSWERS,
  handle: async ({ contents }, { http }) => (await contents.plainPage())(http),
}

export const getGuides: PublicEndpoint = {
  id: 'getGuides',
  method: 'GET',
  path: '/docs/guides',
  summary: 'Read which guides there are',
  description: 'A page with a link to each guide.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: PAGE_ANSWERS,
  handle: async ({ contents }, { http }) => (await contents.guides())(http),
}

export const getGuide: PublicEndpoint = {
  id: 'getGuide',
  method: 'GET',
  path: '/docs/guides/:guide',
  summary: 'Read a guide',
  description: 'One page without scripts, and nothing in it comes from elsewhere.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: PAGE_ANSWERS,
  async handle({ contents }, call) {
    const page = await contents.guide(pathValue(call, 'guide'))
    return page?.(call.http) ?? notFound('There is no such guide.')
  },
}

export const getDocsAsset: PublicEndpoint = {
  id: 'getDocsAsset',
  method: 'GET',
  path: '/docs/assets/:version/:file',
  summary: 'Get a file that the documentation loads',
  description: 'The content of a path never changes.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The file.', content: 'text/javascript', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
  async handle({ contents }, call) {
    const reply = await contents.assets.reply(call.http, pathValue(call, 'version'), pathValue(call, 'file'))
    return reply ?? notFound('There is no such file in this release.')
  },
}
