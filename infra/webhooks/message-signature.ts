/** Signatures of messages after Standard Webhooks 1.0: https://www.standardwebhooks.com. */
import { createHmac } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'

/** The header `webhook-signature`: one signature for each secret. `timestampS`: seconds since 1970. */
export function signaturesOf(
  { id, body }: { readonly id: string; readonly body: string },
  timestampS: number,
  secrets: readonly string[],
): string {
  const content = `${id}.${timestampS}.${body}`
  return secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`).join(' ')
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
}
