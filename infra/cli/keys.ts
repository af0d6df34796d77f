import { SERVICE_KEY_PURPOSES } from '../../runtime/ports/service-keys.ts'
import { createServiceKeys, type PostgresServiceKeys, type ServiceKey } from '../postgres/service-keys-postgres.ts'
import { createSystemClock } from '../system/clock-system.ts'
import {
  CommandFailed,
  EXIT_OK,
  readArgs,
  required,
  UsageError,
  wholeNumber,
  type Command,
  type CommandIo,
} from './command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from './configured.ts'
import { rotateMaster } from './keys-rotate-master.ts'
import { openedSecrets } from './opened-secrets.ts'

const DEFAULT_AFTER_SECONDS = 300
/** Every node looks for new keys more often: none signs with a key that has retired. */
const SHORTEST_AFTER_SECONDS = 10
const LONGEST_AFTER_SECONDS = 86_400

export const keysCommand: Command = {
  summary: "rotate or revoke the service's signing keys, rotate the master key",
  help: `Usage: ledger keys rotate --purpose ${SERVICE_KEY_PURPOSES.join('|')} [--after SECONDS]
       ledger keys revoke --kid=KEY_ID
       ledger keys rotate-master [--check]

rotate makes the next signing key of a purpose. It is published in the JWKS at once and signs after SECONDS (${DEFAULT_AFTER_SECONDS} by default, at least ${SHORTEST_AFTER_SECONDS}), so
that every cache knows it by then; the key before it retires at that moment and stays published. Nothing is restarted.
Prints the new key as JSON. To a key for import other ledgers encrypt: it is in no JWKS and signs nothing, and what was
encrypted to one that has retired still opens.

revoke is for a key that somebody else may have. It voids everything that the key ever signed, whenever that was: access
tokens end, receipts, assertions and attestations no longer verify, and the JWKS says so. A key that is in use is replaced
at once; every process follows within seconds. It cannot be taken back. Prints the revoked key, and the one that took its
place, as JSON.

rotate-master puts everything that an earlier master key protects under the current one: keys are wrapped anew, no data is
rewritten, and the ledger may run meanwhile. First give every part both keys (LEDGER_MASTER_KEY the new one,
LEDGER_PREVIOUS_MASTER_KEY those before, or the files of these names) and restart it; take the earlier key away when this is
done. It may be stopped at any moment and run again. Prints how many of each kind were put under the current key, as JSON.
--check changes nothing and prints how many are not; exit code 1 if there are any.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(
      args,
      {
        purpose: { type: 'string' },
        after: { type: 'string' },
        kid: { type: 'string' },
        check: { type: 'boolean' },
      },
      { least: 1, most: 1, what: 'rotate, revoke or rotate-master' },
    )
    switch (positionals[0]) {
      case 'rotate':
        return rotate(values, io)
      case 'revoke':
        return revoke(values, io)
      case 'rotate-master':
        return masterRotation(values, io)
      default:
        throw new UsageError(`there is no "keys ${positionals[0] ?? ''}"`)
    }
  },
}

interface Values {
  readonly purpose?: string | undefined
  readonly after?: string | undefined
  readonly kid?: string | undefined
  readonly check?: boolean | undefined
}

async function rotate({ purpose: named, after, kid, check }: Values, io: CommandIo): Promise<number> {
  if (kid !== undefined) throw new UsageError('--kid is for revoke')
  refuseCheck(check)
  const purpose = SERVICE_KEY_PURPOSES.find((known) => known === named)
  if (purpose === undefined) throw new UsageError(`--purpose must be one of ${SERVICE_KEY_PURPOSES.join(', ')}`)
  const afterSeconds = wholeNumber(after, 'after', SHORTEST_AFTER_SECONDS, LONGEST_AFTER_SECONDS, DEFAULT_AFTER_SECONDS)
  const made = await withServiceKeys(io, (keys) => keys.rotate(purpose, { activeAfterMs: afterSeconds * 1_000 }))
  io.out(`${JSON.stringify(membersOf(made))}\n`)
  return EXIT_OK
}

async function revoke({ purpose, after, kid, check }: Values, io: CommandIo): Promise<number> {
  if (purpose !== undefined || after !== undefined) throw new UsageError('--purpose and --after are for rotate')
  refuseCheck(check)
  const keyId = required(kid, 'kid')
  const revocation = await withServiceKeys(io, (keys) => keys.revoke(keyId))
  if (revocation === undefined) throw new CommandFailed(`there is no key ${keyId}, or it is revoked already`)
  const { revoked, replacement } = revocation
  io.out(
    `${JSON.stringify({
      ...membersOf(revoked),
      revoked_at: new Date(revoked.revokedAtMs ?? 0).toISOString(),
      replaced_by: replacement === null ? null : membersOf(replacement),
    })}\n`,
  )
  return EXIT_OK
}

async function masterRotation({ purpose, after, kid, check = false }: Values, io: CommandIo): Promise<number> {
  if (purpose !== undefined || after !== undefined) throw new UsageError('--purpose and --after are for rotate')
  if (kid !== undefined) throw new UsageError('--kid is for revoke')
  const configuration = configurationOf(io)
  refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
  return withDatabase(configuration, io, (url) => rotateMaster(configuration, url, check, io))
}

function refuseCheck(check: boolean | undefined): void {
  if (check !== undefined) throw new UsageError('--check is for rotate-master')
}

function membersOf({ keyId, purpose, activeFromMs }: ServiceKey): object {
  return { kid: keyId, purpose, active_from: new Date(activeFromMs).toISOString() }
}

async function withServiceKeys<T>(io: CommandIo, work: (keys: PostgresServiceKeys) => Promise<T>): Promise<T> {
  const configuration = configurationOf(io)
  refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
  return withDatabase(configuration, io, async (url) => {
    const { serviceKeys } = await openedSecrets(configuration, url)
    const keys = await createServiceKeys({ url, sealing: serviceKeys, clock: createSystemClock() })
    try {
      return await work(keys)
    } finally {
      await keys.close()
    }
  })
}
