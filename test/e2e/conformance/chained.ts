/** The rule of the audit chain (D9), by nothing of ours. */
import { createHash } from 'node:crypto'

/** SHA-256 over the previous hash and the SHA-256 of the payload, as bytes. */
export function chained(previousHash: string, payload: string): string {
  const previous = Buffer.from(previousHash.slice('sha256:'.length), 'hex')
  const data = createHash('sha256').update(payload, 'utf8').digest()
  return `sha256:${createHash('sha256').update(previous).update(data).digest('hex')}`
}
