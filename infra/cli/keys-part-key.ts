import { partKeyText } from '../keys/part-key.ts'
import { PARTS } from '../keys/wrapping-keys.ts'
import { existingMasterKeys } from '../ledger/ledger-secrets.ts'
import { EXIT_OK, UsageError, type CommandIo } from './common/command.ts'
import { configurationOf } from './common/configured.ts'

/** Needs no database: a part key can be created before the database exists. */
export async function printPartKey(named: string | undefined, io: CommandIo): Promise<number> {
  const part = PARTS.find((known) => known === named)
  if (part === undefined) throw new UsageError(`--part must be one of ${PARTS.join(', ')}`)
  io.out(partKeyText(await existingMasterKeys(configurationOf(io)), part))
  return EXIT_OK
}
