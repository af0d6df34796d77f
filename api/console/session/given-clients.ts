export interface GivenClient {
  readonly clientId: string
  readonly secret: string
  readonly role: string
}

/** The clients in the text of a `clients.json`; none in any other text. The administrator comes first. */
export function readClients(text: string): readonly GivenClient[] {
  if (!text.trimStart().startsWith('[')) return []
  try {
    const listed: unknown = JSON.parse(text)
    const found = (Array.isArray(listed) ? listed : []).flatMap(clientOf)
    return found.toSorted((one, other) => Number(other.role === 'admin') - Number(one.role === 'admin'))
  } catch {
    return []
  }
}

function clientOf(value: unknown): readonly GivenClient[] {
  if (typeof value !== 'object' || value === null) return []
  const { client_id: clientId, client_secret: secret, role }: Readonly<Record<string, unknown>> = { ...value }
  return typeof clientId === 'string' && typeof secret === 'string' && typeof role === 'string'
    ? [{ clientId, secret, role }]
    : []
}
