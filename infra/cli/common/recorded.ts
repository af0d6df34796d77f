/** Commands whose acts are in the administrative chain. */
import { AdministrativeChainUnavailable } from '../../../runtime/ports/administrative-chain.ts'
import { existingMasterKeys, openLedgerSecrets } from '../../ledger/ledger-secrets.ts'
import { type OperatorAct, recordedAct } from '../../ledger/recorded-act.ts'
import { CommandFailed } from './command.ts'
import type { ConfiguredLedger } from './configured.ts'

/** Does the work between the entry of the act and that of its outcome. Needs the master key, which seals the entries. */
export async function recorded<T>(
  { configuration, url, ledger }: ConfiguredLedger,
  act: OperatorAct,
  work: () => Promise<T>,
): Promise<T> {
  const { vault } = openLedgerSecrets(await existingMasterKeys(configuration), ledger)
  try {
    const isRefusal = (error: unknown): boolean => error instanceof CommandFailed
    return await recordedAct({ url, ledgerId: ledger.ledgerId, vault }, act, work, isRefusal)
  } catch (cause) {
    if (!(cause instanceof AdministrativeChainUnavailable)) throw cause
    throw new CommandFailed('the act could not be recorded in the administrative chain: nothing was changed', { cause })
  }
}
