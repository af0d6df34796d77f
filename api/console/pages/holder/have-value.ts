import type { LedgerClient } from '../../../client/index.ts'
import type { HeldAccount } from './held-account.ts'

/** True if one of the accounts has a balance, or if the ledger does not tell. */
export async function haveValue(
  client: Pick<LedgerClient, 'call'>,
  accounts: readonly Pick<HeldAccount, 'accountId'>[],
  signal: AbortSignal,
): Promise<boolean> {
  const counts = accounts.map(({ accountId }) =>
    client.call('listBalances', { path: { accountId }, query: { page_size: 1 }, signal }).then(
      ({ balances }) => balances.length,
      () => 1,
    ),
  )
  return (await Promise.all(counts)).some((count) => count > 0)
}
