/** Secrets of clients: the hash of a secret is `of` and the secret. */
import { createHash } from 'node:crypto'
import type { ClientSecrets } from '../../../../api/http/dependencies.ts'

export function createFakeSecrets() {
  /** `failure` is thrown by each check while it is set. */
  const checks = { failure: null as Error | null, known: [] as boolean[], addresses: [] as string[] }
  const secrets: ClientSecrets = {
    async create(clientId) {
      const secret = `lsk_${createHash('sha256').update(clientId).digest('base64url')}`
      return { secret, secretHash: `of ${secret}` }
    },
    async verify(record, secret, address) {
      checks.known.push(record !== undefined)
      checks.addresses.push(address)
      if (checks.failure !== null) throw checks.failure
      return record !== undefined && record.secretHash === `of ${secret}`
    },
  }
  return { secrets, checks }
}
