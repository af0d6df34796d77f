import { Option } from 'commander'
import { SERVICE_KEY_PURPOSES, type ServiceKeyPurpose } from '../../runtime/ports/service-keys.ts'
import { SignerUnavailable } from '../../runtime/ports/signer.ts'
import { MasterKeyMissing } from '../keys/master-seal.ts'
import { remedyOf } from '../keys/outside/key-process.ts'
import { createKeyProgram } from '../keys/outside/key-program.ts'
import { isKeyReference } from '../keys/key-reference.ts'
import { OutsideKeysUnavailable } from '../keys/outside/outside-keys.ts'
import { publicKeyObject, signOutside } from '../keys/outside/outside-signatures.ts'
import { partKeyText } from '../keys/part-key.ts'
import { jwkOf, readPublicKey } from '../keys/public-key.ts'
import { type Part, PARTS } from '../keys/wrapping-keys.ts'
import { existingMasterKeys, openLedgerSecrets } from '../ledger/ledger-secrets.ts'
import { countLeft, type RotationProgress, RotationUnfinished, rotateMasterKey } from '../ledger/master-key-rotation.ts'
import {
  createServiceKeys,
  type PostgresServiceKeys,
  type ServiceKey,
} from '../postgres/access/service-keys-postgres.ts'
import type { OutsideServiceKey } from '../postgres/access/service-key-table.ts'
import { connect } from '../postgres/connection/connection.ts'
import { openStoreClock } from '../postgres/store/store-clock.ts'
import {
  CommandFailed,
  type CommandIo,
  type CommandSetup,
  exitUnless,
  integerBetween,
  UsageError,
} from './common/command.ts'
import { addPkcs11Commands } from './pkcs11.ts'
import { type ConfiguredLedger, configurationOf, withLedger } from './common/configured.ts'
import { recorded, unrecordedOption } from './common/recorded.ts'

const DEFAULT_AFTER_SECONDS = 300
/** Nodes refresh the keys more often, so that none signs with a retired key. */
const MIN_AFTER_SECONDS = 10
const MAX_AFTER_SECONDS = 86_400
const PROGRESS_MS = 2_000
/** Nodes sign receipts with keys outside. Edges have no key program. */
const OUTSIDE_PURPOSE = 'receipt'

interface RotateOptions {
  readonly purpose: ServiceKeyPurpose
  readonly after: number
  readonly outside?: string
}

interface RevokeOptions {
  readonly kid: string
  readonly outside?: string
  readonly unrecorded: boolean
}

export const keysCommand: CommandSetup = (command, io) => {
  command.description('Rotates and revokes signing keys, rotates the master key, and derives part keys.')
  command
    .command('rotate')
    .summary('create the next signing key of a purpose')
    .description(
      `Creates the next signing key of a purpose and prints it as JSON. The key is published in the JWKS at
once and signs after the given delay, so that every cache has it by then. The previous key retires
at that moment and stays published. No process needs a restart.

Other ledgers encrypt exports to the import key. It is not in the JWKS and signs nothing. A retired
import key still decrypts earlier exports.`,
    )
    .addOption(
      new Option('--purpose <purpose>', 'purpose of the key').choices(SERVICE_KEY_PURPOSES).makeOptionMandatory(),
    )
    .option(
      '--after <seconds>',
      'delay until the key signs',
      integerBetween(MIN_AFTER_SECONDS, MAX_AFTER_SECONDS),
      DEFAULT_AFTER_SECONDS,
    )
    .option('--outside <reference>', 'use this key of LEDGER_KEY_COMMAND, in place of a generated one (receipt)')
    .action((options: RotateOptions) => rotate(options, io))
  command
    .command('revoke')
    .summary('revoke a compromised signing key')
    .description(
      `Revokes a compromised signing key. All its signatures become invalid, whenever they were made: access
tokens end, receipts, assertions and attestations no longer verify, and the JWKS marks the key as
revoked. A key in use is replaced at once. Every process follows within seconds. This cannot be
undone. Prints the revoked key and its replacement as JSON.`,
    )
    .requiredOption('--kid <key-id>', 'ID of the key, as in the JWKS')
    .option(
      '--outside <reference>',
      'replace a receipt key with this key of LEDGER_KEY_COMMAND, not with a generated one',
    )
    .addOption(unrecordedOption())
    .action((options: RevokeOptions) => revoke(options, io))
  command
    .command('part-key')
    .summary('print the part key of a node, an edge or the auditor')
    .description(
      `Prints the part key of a node, an edge or the auditor, which uses it instead of the master key. It
opens only the keys and secrets that this part needs. The part reads it from LEDGER_PART_KEY_FILE
(or LEDGER_PART_KEY), and refuses the key of another part. With LEDGER_PREVIOUS_MASTER_KEY the part
key also opens secrets under the earlier master keys. Needs the master key, but no database.`,
    )
    .addOption(new Option('--part <part>', 'the part').choices(PARTS).makeOptionMandatory())
    .action(async ({ part }: { part: Part }) => {
      io.out(partKeyText(await existingMasterKeys(configurationOf(io)), part))
    })
  command
    .command('rotate-master')
    .summary('move all keys from an earlier master key to the current one')
    .description(
      `Moves every key and secret from an earlier master key to the current one. It rewraps keys, rewrites no
data, and may run while the ledger runs. Prints the number of rewrapped keys of each kind as JSON.

First give every part a part key derived from both master keys (LEDGER_MASTER_KEY is the new one,
LEDGER_PREVIOUS_MASTER_KEY the earlier ones, or the files of these names), or both master keys, and
restart the parts. Afterwards give them part keys derived from the new master key alone. You may stop
the command at any time and run it again.`,
    )
    .option('--check', 'change nothing, print the number of keys left; exit code 1 if there are any')
    .action(({ check = false }: { check?: boolean }) => withLedger(io, (given) => rotateMaster(given, check, io)))
  addPkcs11Commands(command, io)
}

async function rotate({ purpose, after, outside }: RotateOptions, io: CommandIo): Promise<void> {
  if (outside !== undefined && purpose !== OUTSIDE_PURPOSE) {
    throw new UsageError(`--outside is for --purpose ${OUTSIDE_PURPOSE}`)
  }
  const key = await outsideKey(outside, io)
  const activeAfterMs = after * 1_000
  const details = { purpose, after_seconds: after, outside: key.outside !== undefined }
  const created = await withServiceKeys(io, (keys, given) =>
    recorded(given, { act: 'keys rotate', details }, () => keys.rotate(purpose, { activeAfterMs, ...key })),
  )
  io.out(`${JSON.stringify(membersOf(created))}\n`)
}

async function revoke({ kid, outside: reference, unrecorded }: RevokeOptions, io: CommandIo): Promise<void> {
  const { outside } = await outsideKey(reference, io)
  const revocation = await withServiceKeys(io, (keys, given) => {
    const revoked = keys.published().find(({ keyId }) => keyId === kid)
    if (outside !== undefined && revoked !== undefined && revoked.purpose !== OUTSIDE_PURPOSE) {
      throw new UsageError(`--outside is for keys of the purpose ${OUTSIDE_PURPOSE}`)
    }
    const act = { act: 'keys revoke', details: { kid, outside: outside !== undefined } }
    const work = async () => {
      const done = await keys.revoke(kid, outside)
      if (done === undefined) throw new CommandFailed(`there is no key ${kid}, or it is already revoked`)
      return done
    }
    return recorded(given, act, work, { unrecorded, io })
  })
  const { revoked, replacement } = revocation
  io.out(
    `${JSON.stringify({
      ...membersOf(revoked),
      revoked_at: new Date(revoked.revokedAtMs ?? 0).toISOString(),
      replaced_by: replacement === null ? null : membersOf(replacement),
    })}\n`,
  )
}

function membersOf({ keyId, purpose, activeFromMs }: ServiceKey): object {
  return { kid: keyId, purpose, active_from: new Date(activeFromMs).toISOString() }
}

/** The key, once it has signed. Throws CommandFailed. */
async function outsideKey(
  reference: string | undefined,
  io: CommandIo,
): Promise<{ readonly outside?: OutsideServiceKey }> {
  if (reference === undefined) return {}
  if (!isKeyReference(reference))
    throw new UsageError('the reference must be printable ASCII without spaces and commas')
  const { keyCommand } = configurationOf(io)
  if (keyCommand === undefined) throw new CommandFailed('LEDGER_KEY_COMMAND is not set: it names the key program')
  const program = createKeyProgram({ command: keyCommand, log: { info: () => undefined, error: () => undefined } })
  try {
    const key = readPublicKey(await program.publicKey(reference))
    if (key === undefined) throw new CommandFailed('the key is not on the curve P-256')
    const { x, y } = jwkOf(key.publicKey)
    await signOutside(program, { reference, publicKey: publicKeyObject({ x, y }) }, ['ledger keys rotate'])
    return { outside: { reference, keyId: key.keyId, x, y } }
  } catch (cause) {
    if (!(cause instanceof OutsideKeysUnavailable) && !(cause instanceof SignerUnavailable)) throw cause
    throw new CommandFailed(`the key cannot be used: ${cause.message}.${remedyOf(cause)}`, { cause })
  } finally {
    await program.close()
  }
}

async function withServiceKeys<T>(
  io: CommandIo,
  work: (keys: PostgresServiceKeys, given: ConfiguredLedger) => Promise<T>,
): Promise<T> {
  return withLedger(io, async (given) => {
    const { configuration, url, ledger } = given
    const { serviceKeys: seals } = openLedgerSecrets(await existingMasterKeys(configuration), ledger)
    const keys = await createServiceKeys({ url, seals, clock: await openStoreClock(url) })
    try {
      return await work(keys, given)
    } finally {
      await keys.close()
    }
  })
}

async function rotateMaster(given: ConfiguredLedger, check: boolean, io: CommandIo): Promise<void> {
  const { configuration, url } = given
  const masterKeys = await existingMasterKeys(configuration)
  const keyId = { master_key_id: masterKeys.current.masterKeyId }
  const connection = await connect({ url, applicationName: 'ledger keys rotate-master' })
  try {
    if (check) {
      const left = await countLeft(connection.sql, masterKeys)
      io.out(`${JSON.stringify({ ...keyId, left })}\n`)
      exitUnless(Object.values(left).every((count) => count === 0))
      return
    }
    // Throws if there is a key that the given ones do not open.
    await countLeft(connection.sql, masterKeys)
    const rotated = await recorded(given, { act: 'keys rotate-master', details: keyId }, () =>
      rotateMasterKey(connection.sql, masterKeys, { onProgress: printProgress(io) }),
    )
    if (Object.values(rotated).every((count) => count === 0)) {
      io.err('all keys are already under the current master key: nothing was changed\n')
    }
    io.out(`${JSON.stringify({ ...keyId, rotated })}\n`)
  } catch (cause) {
    throw explained(cause)
  } finally {
    await connection.end()
  }
}

function printProgress(io: CommandIo): (progress: RotationProgress) => void {
  let printedMs = performance.now()
  return ({ kind, done, of }) => {
    if (performance.now() - printedMs < PROGRESS_MS) return
    printedMs = performance.now()
    io.err(`${kind}: ${done} of ${of}\n`)
  }
}

function explained(cause: unknown): unknown {
  if (cause instanceof MasterKeyMissing) {
    return new CommandFailed(
      `${cause.message}: set LEDGER_PREVIOUS_MASTER_KEY or LEDGER_PREVIOUS_MASTER_KEY_FILE to all earlier master keys; nothing more was changed`,
      { cause },
    )
  }
  if (cause instanceof RotationUnfinished) {
    return new CommandFailed(`${cause.message}; restart it with both keys and run this command again`, { cause })
  }
  return cause
}
