/** Names of keys on tokens: URIs of RFC 7512, of which the ledger needs the token and the object. */

export interface TokenObject {
  /** Label of the token. */
  readonly token: string
  /** CKA_LABEL of the key. */
  readonly object: string
}

const SCHEME = 'pkcs11:'

/** Such as `pkcs11:token=ledger;object=receipts-1`; undefined for any other text, also with other attributes. */
export function readPkcs11Uri(text: string): TokenObject | undefined {
  if (!text.startsWith(SCHEME)) return undefined
  const named = new Map<string, string>()
  for (const attribute of text.slice(SCHEME.length).split(';')) {
    const [name = '', value = '', ...others] = attribute.split('=')
    const decoded = decodedOf(value)
    if (decoded === undefined || decoded === '' || others.length > 0 || named.has(name)) return undefined
    named.set(name, decoded)
  }
  const [token, object] = [named.get('token'), named.get('object')]
  const type = named.get('type') ?? 'private'
  const isKnown = [...named.keys()].every((name) => ['token', 'object', 'type'].includes(name))
  const isKey = ['private', 'public', 'secret-key'].includes(type)
  return token === undefined || object === undefined || !isKnown || !isKey ? undefined : { token, object }
}

function decodedOf(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
