/** GET /errors and /errors/{slug}: the types of problems, and a page for each (D14). */
import { pathValue, type PublicEndpoint } from '../../endpoint/route.ts'
import { notFound } from '../../http/problem.ts'
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'
import { PAGE_ANSWERS } from './page-answers.ts'

export const getErrorList: PublicEndpoint = {
  id: 'getErrorList',
  method: 'GET',
  path: '/errors',
  summary: 'Read which types of problems there are',
  description: 'A page for a person, with a link to the page of each type.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: PAGE_ANSWERS,
  handle: async ({ contents }, { http }) => (await contents.errorList())(http),
}

export const getErrorPage: PublicEndpoint = {
  id: 'getErrorPage',
  method: 'GET',
  path: '/errors/:slug',
  summary: 'Read what a type of problem means',
  description: 'A page for a person: the `type` of a problem leads here.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: PAGE_ANSWERS,
  async handle({ contents }, call) {
    const page = await contents.errorPage(pathValue(call, 'slug'))
    return page?.(call.http) ?? notFound('There is no such type of problem.')
  },
}
