/**
 * Whether a JWKS document can tell anything of what names its ledger and its key. One that was saved before the key was made,
 * or of another ledger, shows neither that it is genuine nor that it was tampered with.
 */
import type { JsonObject } from '../../../actors/canonical-json.ts'
import type { ReceiptKeys } from './verify-receipt.ts'

/** What could be an ID: all else is no key that anybody could fetch, and judged as it stands. */
const ID = /^[\x21-\x7e]{1,128}$/

/** Why the document does not tell, and what to do; undefined where it does. `signed`: with its `ledger_id` and `key_id`. */
export function unfitOf(signed: JsonObject, { keys, ledgerId, name }: ReceiptKeys): string | undefined {
  const [ofLedger, keyId] = [idIn(signed, 'ledger_id'), idIn(signed, 'key_id')]
  if (ofLedger === undefined) return undefined
  const fetchIt = `fetch /.well-known/jwks.json of ledger ${ofLedger}`
  if (ledgerId !== undefined && ofLedger !== ledgerId) {
    return `it is of another ledger, ${ofLedger}, than ${name}, which is of ${ledgerId}: ${fetchIt}`
  }
  if (keyId === undefined || keys.some((key) => key.keyId === keyId)) return undefined
  return `it names key ${keyId}, which ${name} does not have: ${fetchIt} anew`
}

function idIn(signed: JsonObject, member: string): string | undefined {
  const id = signed[member]
  return typeof id === 'string' && ID.test(id) ? id : undefined
}
