/**
 * The edge before the ledger was created: it is alive and not ready, and says to everything under /v1, token requests
 * included, that there are no shards (D15).
 */
import { Hono } from 'hono'
import type { Log } from '../runtime/ports/log.ts'
import type { Random } from '../runtime/ports/random.ts'
import { createCors } from './http/cors.ts'
import type { EdgeSettings } from './http/dependencies.ts'
import { createFrame, UNROUTED } from './frame.ts'
import { interfaceContents } from './docs/contents.ts'
import { notFound } from './http/problem.ts'
import { unavailableProblem } from './endpoint/refusals.ts'
import { queryOf } from './http/query.ts'
import { isVersioned, requestPath } from './http/request-path.ts'
import { type PublicContext, type PublicEndpoint, queryNames } from './endpoint/route.ts'
import { getConsole, getConsoleAsset, isServedBy } from './routes/service/console.ts'
import { getDocs, getDocsAsset, getGuide, getGuides, getPlainDocs } from './routes/service/docs.ts'
import { getErrorList, getErrorPage } from './routes/service/error-page.ts'
import { getHealth } from './routes/service/health.ts'
import { getOpenApi } from './routes/service/openapi.ts'
import { getReadiness } from './routes/service/ready.ts'

const ENDPOINTS: readonly PublicEndpoint[] = [
  getHealth,
  getReadiness,
  getErrorList,
  getErrorPage,
  getOpenApi,
  getDocs,
  getPlainDocs,
  getGuides,
  getGuide,
  getDocsAsset,
  getConsole,
  getConsoleAsset,
]

export interface UnmigratedEdgeDependencies {
  readonly random: Random
  readonly log: Log
  readonly readiness: PublicContext['readiness']
  readonly settings: Pick<EdgeSettings, 'errorBase' | 'environment' | 'corsOrigins' | 'pages'>
}

export function createUnmigratedEdge({ random, log, readiness, settings }: UnmigratedEdgeDependencies): Hono {
  const app = new Hono({ getPath: requestPath })
  const cors = createCors(settings.corsOrigins)
  const frame = createFrame({ random, log, errorBase: settings.errorBase, cors })
  const context: PublicContext = {
    readiness,
    settings: { environment: settings.environment, ledgerId: null },
    contents: interfaceContents(settings),
  }
  for (const endpoint of ENDPOINTS.filter(isServedBy(settings))) {
    const { method, path } = endpoint
    const known = { path, query: queryNames(endpoint) }
    app.on(method, path, (http) =>
      frame.respond(http, endpoint, (trail) => endpoint.handle(context, { http, trail, query: queryOf(known, http) })),
    )
  }
  app.notFound((http) =>
    frame.respond(http, UNROUTED, () =>
      isVersioned(http.req.path)
        ? unavailableProblem('no_shards', 'not_applied')
        : notFound('There is nothing under this address.'),
    ),
  )
  return app
}
