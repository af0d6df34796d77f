/** Acts of an administrator for tests. */
import {
  type AdministrativeChainOptions,
  createAdministrativeChain,
} from '../../../infra/postgres/access/administrative-chain-postgres.ts'

/** Adds acts to the chain. Every other one, from the first, is about the account. */
export async function recordActs(
  { url, ledgerId, vault }: AdministrativeChainOptions,
  accountId: string,
  count: number,
): Promise<void> {
  const chain = createAdministrativeChain({ url, ledgerId, vault })
  for (let act = 0; act < count; act += 1) {
    const about = act % 2 === 0 ? accountId : null
    await chain.record({ clientId: 'admin', act: 'changeStatus', accountId: about, details: { act }, of: null })
  }
  await chain.close()
}
