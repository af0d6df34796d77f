import type { Configuration } from '../config/configuration.ts'
import { MasterKeyMissing } from '../keys/master-seal.ts'
import type { KeyRing } from '../keys/wrapping-keys.ts'
import { existingMasterKeys } from '../ledger/ledger-secrets.ts'
import { connect, type Sql } from '../postgres/connection/connection.ts'
import { readLedger } from '../postgres/migrations/migrate.ts'
import { countLeft, type RotationProgress, RotationUnfinished, rotateMasterKey } from '../ledger/master-key-rotation.ts'
import { CommandFailed, EXIT_FAILED, EXIT_OK, type CommandIo } from './common/command.ts'

/** Between two lines that say how far it is. */
const SAID_EVERY_MS = 2_000

/** `check`: counts what is left and changes nothing. */
export async function rotateMaster(
  configuration: Configuration,
  url: string,
  check: boolean,
  io: CommandIo,
): Promise<number> {
  const masterKeys = await existingMasterKeys(configuration)
  const connection = await connect({ url, applicationName: 'ledger keys rotate-master' })
  try {
    if ((await readLedger(connection.sql)) === undefined) {
      throw new CommandFailed('the database has no ledger of this version: run ledger migrate')
    }
    return await (check ? sayLeft : rotate)(connection.sql, masterKeys, io)
  } catch (cause) {
    throw explained(cause)
  } finally {
    await connection.end()
  }
}

async function sayLeft(sql: Sql, masterKeys: KeyRing, io: CommandIo): Promise<number> {
  const left = await countLeft(sql, masterKeys)
  io.out(`${JSON.stringify({ master_key_id: masterKeys.current.masterKeyId, left })}\n`)
  return Object.values(left).some((count) => count > 0) ? EXIT_FAILED : EXIT_OK
}

async function rotate(sql: Sql, masterKeys: KeyRing, io: CommandIo): Promise<number> {
  const rotated = await rotateMasterKey(sql, masterKeys, { onProgress: sayingSometimes(io) })
  if (Object.values(rotated).every((count) => count === 0)) {
    io.err('everything was under the current master key already: nothing was changed\n')
  }
  io.out(`${JSON.stringify({ master_key_id: masterKeys.current.masterKeyId, rotated })}\n`)
  return EXIT_OK
}

function sayingSometimes(io: CommandIo): (progress: RotationProgress) => void {
  let saidMs = performance.now()
  return ({ what, done, of }) => {
    if (performance.now() - saidMs < SAID_EVERY_MS) return
    saidMs = performance.now()
    io.err(`${what}: ${done} of ${of}\n`)
  }
}

function explained(cause: unknown): unknown {
  if (cause instanceof MasterKeyMissing) {
    const message = 'give every earlier master key by LEDGER_PREVIOUS_MASTER_KEY or LEDGER_PREVIOUS_MASTER_KEY_FILE'
    const missing = cause.message.replace(/opens it$/, 'opens what this ledger has under its master key')
    return new CommandFailed(`${missing}: ${message}; nothing more was changed`, { cause })
  }
  if (cause instanceof RotationUnfinished) {
    return new CommandFailed(`${cause.message}; restart it with both keys and run this again`, { cause })
  }
  return cause
}
