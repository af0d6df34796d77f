/** GET /console: the console, and the files that it loads. */
import { IF_NONE_MATCH } from '../../endpoint/parameters.ts'
import type { Operation } from '../../endpoint/operation.ts'
import { pathValue, type PublicEndpoint } from '../../endpoint/route.ts'
import type { EdgeSettings } from '../../http/dependencies.ts'
import { notFound } from '../../http/problem.ts'
import { PAGE_ANSWERS } from './page-answers.ts'

/** An edge without the console has no resource at its paths. */
export function isServedBy({ pages }: Pick<EdgeSettings, 'pages'>): (endpoint: Pick<Operation, 'path'>) => boolean {
  return ({ path }) => pages.includes('console') || (path !== getConsole.path && path !== getConsoleAsset.path)
}

export const getConsole: PublicEndpoint = {
  id: 'getConsole',
  method: 'GET',
  path: '/console',
  summary: 'Look at the ledger, and verify what it shows',
  description:
    'A page with a script. A client signs in there; the page keeps its tokens in memory, and connects to this ledger only.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: PAGE_ANSWERS,
  handle: async ({ contents }, { http }) => (await contents.console())(http),
}

export const getConsoleAsset: PublicEndpoint = {
  id: 'getConsoleAsset',
  method: 'GET',
  path: '/console/assets/:version/:file',
  summary: 'Get a file that the console loads',
  description: 'The content of a path never changes.',
  roles: null,
  parameters: [IF_NONE_MATCH],
  answers: [
    { status: 200, description: 'The file.', content: 'text/javascript', headers: ['ETag'] },
    { status: 304, description: 'It has not changed.', content: null, headers: ['ETag'] },
  ],
  async handle({ contents }, call) {
    const reply = await contents.consoleAssets.reply(call.http, pathValue(call, 'version'), pathValue(call, 'file'))
    return reply ?? notFound('There is no such file in this release.')
  },
}
