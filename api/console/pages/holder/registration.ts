import { isLedgerError, type LedgerClient } from '../../../client/index.ts'
import type { HeldAccount } from './held-account.ts'

interface KeyStore {
  /** Rejects if it already holds a key of the account. */
  readonly keepAccount: (account: HeldAccount) => Promise<void>
  readonly forgetAccount: (account: HeldAccount) => Promise<void>
}

/** Statuses of an account that the ledger does not have, or whose ID is invalid. */
const ABSENT: readonly number[] = [400, 404, 422]

/** Stores a new key, then registers it. The browser forgets the key only if the ledger surely did not register it. */
export async function registerNewKey(
  client: Pick<LedgerClient, 'registerAccount' | 'call'>,
  account: HeldAccount,
  { keepAccount, forgetAccount }: KeyStore,
): Promise<void> {
  await keepAccount(account)
  try {
    await client.registerAccount(account.accountId, account.key)
  } catch (error) {
    const isRefused = isLedgerError(error) && error.outcome === 'not_applied'
    // The client repeats a request whose reply was lost: the first one may have registered the key.
    if (isRefused && !(await mayHaveKey(client, account))) await forgetAccount(account)
    throw error
  }
}

async function mayHaveKey(client: Pick<LedgerClient, 'call'>, { accountId, key }: HeldAccount): Promise<boolean> {
  return client.call('getAccount', { path: { accountId } }).then(
    ({ key_id: keyId }) => keyId === key.keyId,
    (error: unknown) => !isLedgerError(error) || !ABSENT.includes(error.status),
  )
}
