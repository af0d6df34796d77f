/** An app that handles the requests of an edge. */
export interface EdgeApp {
  /** `bindings`: details of the connection, such as the client's address. */
  readonly fetch: (request: Request, bindings?: object) => Response | Promise<Response>
}

export interface SwitchableApp extends EdgeApp {
  readonly use: (app: EdgeApp) => void
}

/** An app that can be replaced, once the ledger has been created. Until `use` it answers 503. */
export function createSwitchableApp(): SwitchableApp {
  let current: EdgeApp = { fetch: () => new Response(null, { status: 503 }) }
  return {
    fetch: (request, bindings) => current.fetch(request, bindings),
    use: (app) => {
      current = app
    },
  }
}
