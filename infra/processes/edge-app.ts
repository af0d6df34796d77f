/** What answers requests now: before the ledger was created another app than after. */
export interface EdgeApp {
  /** `bindings`: what the server tells beside the request, the client's address among it. */
  readonly fetch: (request: Request, bindings?: object) => Response | Promise<Response>
}

export interface SwitchableApp extends EdgeApp {
  readonly use: (app: EdgeApp) => void
}

/** Answers 503 until an app was given. */
export function createSwitchableApp(): SwitchableApp {
  let current: EdgeApp = { fetch: () => new Response(null, { status: 503 }) }
  return {
    fetch: (request, bindings) => current.fetch(request, bindings),
    use: (app) => {
      current = app
    },
  }
}
