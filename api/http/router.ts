/**
 * Hono's router for the paths of the API. Most requests name a path without parameters: one look-up finds its route.
 * Hono's fast router takes no parameter beside a fixed segment (`/v1/imports/key`, `/v1/imports/:importId`), and the one
 * that does walks the path segment by segment. A route has one handler: there is no middleware.
 */
import { METHOD_NAME_ALL, type Result, type Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'

export class PathRouter<T> implements Router<T> {
  readonly name = 'PathRouter'
  /** By method and path. */
  private readonly fixed = new Map<string, Map<string, Result<T>>>()
  private readonly patterns = new TrieRouter<T>()

  add(method: string, path: string, handler: T): void {
    if (method === METHOD_NAME_ALL || this.fixed.get(method)?.has(path) === true)
      throw new Error(`${method} ${path}: a route has one handler, and no middleware`)
    if (path.includes(':') || path.includes('*')) return this.patterns.add(method, path, handler)
    const byPath = this.fixed.get(method) ?? new Map<string, Result<T>>()
    this.fixed.set(method, byPath.set(path, [[[handler, {}]]]))
  }

  match(method: string, path: string): Result<T> {
    return this.fixed.get(method)?.get(path) ?? this.patterns.match(method, path)
  }
}
