/** Commands whose acts are in the administrative chain. */
import { Option } from 'commander'
import { AdministrativeChainUnavailable } from '../../../runtime/ports/administrative-chain.ts'
import { existingMasterKeys, openLedgerSecrets } from '../../ledger/ledger-secrets.ts'
import { type OperatorAct, recordedAct } from '../../ledger/recorded-act.ts'
import { CommandFailed, type CommandIo } from './command.ts'
import type { ConfiguredLedger } from './configured.ts'

const NOT_RECORDED = 'the act could not be recorded in the administrative chain'

/** Of a command that ends the access of an attacker: a chain that takes no entries must not prevent that. */
export interface Emergency {
  /** Value of the option. */
  readonly unrecorded: boolean
  readonly io: Pick<CommandIo, 'err'>
}

export function unrecordedOption(): Option {
  return new Option(
    '--unrecorded',
    'in an emergency: proceed with a warning if the administrative chain takes no entry',
  ).default(false)
}

/** Does the work between the entry of the act and that of its outcome. Needs the master key, which seals the entries. */
export async function recorded<T>(
  { configuration, url, ledger }: ConfiguredLedger,
  act: OperatorAct,
  work: () => Promise<T>,
  emergency?: Emergency,
): Promise<T> {
  const { vault } = openLedgerSecrets(await existingMasterKeys(configuration), ledger)
  try {
    const isRefusal = (error: unknown): boolean => error instanceof CommandFailed
    return await recordedAct({ url, ledgerId: ledger.ledgerId, vault }, act, work, isRefusal)
  } catch (cause) {
    if (!(cause instanceof AdministrativeChainUnavailable)) throw cause
    if (emergency?.unrecorded !== true) {
      const remedy = emergency === undefined ? '' : '; in an emergency, --unrecorded proceeds without an entry'
      throw new CommandFailed(`${NOT_RECORDED}: nothing was changed${remedy}`, { cause })
    }
    emergency.io.err(`WARNING: ${NOT_RECORDED}, and proceeds: ${act.act} ${JSON.stringify(act.details)}
Note the time and the reason. Run the command again when the chain takes entries: then it has this act.
`)
  }
  return work()
}
