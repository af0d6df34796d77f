/** Places of the console are in the address behind `#`, so that no log of a server has an account's ID. */
export interface Place {
  /** Decoded segments; empty: the overview. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  return {
    path: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decoded),
    query: new URLSearchParams(query),
  }
}

/** The link to a place. Members of the query that are empty are left out. */
export function hrefOf(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  return `#/${path.map(encodeURIComponent).join('/')}${given.size === 0 ? '' : `?${given.toString()}`}`
}

/** A segment that is not percent-encoded text stands for itself. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
