/** What answers requests now: before the ledger was created another app than after. */
export interface EdgeApp {
  readonly fetch: (request: Request) => Response | Promise<Response>
}

export interface SwitchableApp extends EdgeApp {
  readonly use: (app: EdgeApp) => void
}

/** Answers 503 until an app was given. */
export function createSwitchableApp(): SwitchableApp {
  let current: EdgeApp = { fetch: () => new Response(null, { status: 503 }) }
  return {
    fetch: (request) => current.fetch(request),
    use: (app) => {
      current = app
    },
  }
}
