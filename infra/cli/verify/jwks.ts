/** The JWKS of a ledger, from a file or fetched. */
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { TrustedKeys } from '../../../api/client/index.ts'
import type { PublishedKey } from '../../../runtime/ports/service-keys.ts'

export interface ReceiptKeys {
  /** Name of the file, for messages. */
  readonly name: string
  /** The ledger of the document; undefined if it names none. */
  readonly ledgerId: string | undefined
  readonly keys: readonly PublishedKey<string>[]
  /** The document. */
  readonly document: TrustedKeys
}

/** A strict ID: any other value names no key that could be fetched. */
const ID = /^[\x21-\x7e]{1,128}$/

/**
 * Why this JWKS cannot verify the signature, and what to do; undefined if it can. A JWKS of another ledger, or one saved
 * before the key existed, proves neither validity nor tampering. `signed`: has the members `ledger_id` and `key_id`.
 */
export function unsuitableJwks(signed: JsonObject, { keys, ledgerId, name }: ReceiptKeys): string | undefined {
  const [ofLedger, keyId] = [idIn(signed, 'ledger_id'), idIn(signed, 'key_id')]
  if (ofLedger === undefined) return undefined
  const fetchIt = `fetch /.well-known/jwks.json of ledger ${ofLedger}`
  if (ledgerId !== undefined && ofLedger !== ledgerId) {
    return `it is of ledger ${ofLedger}, but ${name} is of ledger ${ledgerId}: ${fetchIt}`
  }
  if (keyId === undefined || keys.some((key) => key.keyId === keyId)) return undefined
  return `it names key ${keyId}, which ${name} does not have: ${fetchIt} again`
}

function idIn(signed: JsonObject, member: string): string | undefined {
  const id = signed[member]
  return typeof id === 'string' && ID.test(id) ? id : undefined
}
