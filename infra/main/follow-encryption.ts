/** Looks every second how far the encryption of a ledger has come, until all of it is encrypted or the process ends. */
import type { Log } from '../../runtime/ports/log.ts'
import { codeOf } from '../postgres/failure.ts'
import { createQueryPool } from '../postgres/query-pool.ts'
import type { RowVault } from '../vault/row-vault.ts'

export interface FollowedEncryption {
  readonly stop: () => Promise<void>
}

const LOOK_EVERY_MS = 1_000
const STATEMENT_TIMEOUT_MS = 5_000

export function followEncryption(url: string, vault: RowVault, log: Log): FollowedEncryption {
  const { follow } = vault
  if (follow === undefined) return { stop: () => Promise.resolve() }
  const pool = createQueryPool({
    url,
    name: 'ledger encryption',
    size: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    readsOnly: true,
    unavailable: (message, cause) => new Error(message, cause),
  })
  let looking = Promise.resolve()
  let busy = false
  const look = async (): Promise<void> => {
    busy = true
    try {
      await pool.run(follow)
      if (vault.encrypts && !vault.mixes) clearInterval(timer)
    } catch (error) {
      log.warn('encryption_not_followed', { code: codeOf(error) })
    } finally {
      busy = false
    }
  }
  const timer = setInterval(() => {
    if (!busy) looking = look()
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await looking
      await pool.close()
    },
  }
}
