export type Role = 'viewer' | 'transactor' | 'admin'

/** The role in an access token (RFC 9068); undefined for any other text. */
export function roleIn(token: string): Role | undefined {
  try {
    const claims: unknown = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')))
    const role = typeof claims === 'object' && claims !== null && 'role' in claims ? claims.role : undefined
    return role === 'viewer' || role === 'transactor' || role === 'admin' ? role : undefined
  } catch {
    return undefined
  }
}
