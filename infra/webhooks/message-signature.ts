/** Signatures of messages after Standard Webhooks 1.0, by the library of the standard: https://www.standardwebhooks.com. */
import { Webhook } from 'standardwebhooks'

const MS_PER_SECOND = 1_000

/** The header `webhook-signature`: one signature for each secret. `timestampS`: seconds since 1970. */
export function signaturesOf(
  { id, body }: { readonly id: string; readonly body: string },
  timestampS: number,
  secrets: readonly string[],
): string {
  const signedAt = new Date(timestampS * MS_PER_SECOND)
  return secrets.map((secret) => new Webhook(secret).sign(id, signedAt, body)).join(' ')
}
