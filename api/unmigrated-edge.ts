/**
 * The edge before the ledger was created: it is alive and not ready, and says to everything under /v1, token requests
 * included, that there are no shards (D15).
 */
import { Hono } from 'hono'
import type { Log } from '../runtime/ports/log.ts'
import type { Random } from '../runtime/ports/random.ts'
import { type AllowedOrigins, createCors } from './http/cors.ts'
import { createFrame, UNROUTED } from './frame.ts'
import { interfaceContents } from './docs/contents.ts'
import { notFound } from './http/problem.ts'
import { unavailableProblem } from './endpoint/refusals.ts'
import { queryOf } from './http/query.ts'
import { isVersioned, requestPath } from './http/request-path.ts'
import { errorPage } from './routes/service/error-page.ts'
import { docs } from './routes/service/docs.ts'
import { health } from './routes/service/health.ts'
import { openApi } from './routes/service/openapi.ts'
import { ready, type ReadyContext } from './routes/service/ready.ts'

export interface UnmigratedEdgeDependencies {
  readonly random: Random
  readonly log: Log
  readonly readiness: ReadyContext['readiness']
  readonly settings: {
    readonly errorBase: string
    readonly environment: ReadyContext['environment']
    readonly corsOrigins: AllowedOrigins
  }
}

export function createUnmigratedEdge({ random, log, readiness, settings }: UnmigratedEdgeDependencies): Hono {
  const app = new Hono({ getPath: requestPath })
  const cors = createCors(settings.corsOrigins)
  const frame = createFrame({ random, log, errorBase: settings.errorBase, cors })
  const contents = interfaceContents(settings.errorBase)
  for (const route of [
    health(),
    ready({ readiness, environment: settings.environment, ledgerId: null }),
    errorPage(settings.errorBase),
    openApi(contents.document),
    docs(contents.page),
  ]) {
    app.on(route.method, route.path, (http) =>
      frame.respond(http, route, (trail) => route.handle({ http, trail, query: queryOf(route, http) })),
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
