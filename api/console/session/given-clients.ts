export interface GivenClient {
  readonly clientId: string
  readonly secret: string
  readonly role: string
}

/** As the first start prints them: `admin (admin): SECRET`. */
const PRINTED = /(\S+) \((viewer|transactor|admin)\): (\S+)/g

/** The clients in the text of a `clients.json`, or in printed lines; none in any other text. The administrator comes first. */
export function readClients(text: string): readonly GivenClient[] {
  const found = text.trimStart().startsWith('[') ? listedClients(text) : printedClients(text)
  return found.toSorted((one, other) => Number(other.role === 'admin') - Number(one.role === 'admin'))
}

function printedClients(text: string): readonly GivenClient[] {
  return [...text.matchAll(PRINTED)].map(([, clientId = '', role = '', secret = '']) => ({ clientId, secret, role }))
}

function listedClients(text: string): readonly GivenClient[] {
  try {
    const listed: unknown = JSON.parse(text)
    return (Array.isArray(listed) ? listed : []).flatMap(clientOf)
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
