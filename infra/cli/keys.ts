import { SERVICE_KEY_PURPOSES } from '../../runtime/ports/service-keys.ts'
import { PARTS } from '../keys/wrapping-keys.ts'
import {
  createServiceKeys,
  type PostgresServiceKeys,
  type ServiceKey,
} from '../postgres/access/service-keys-postgres.ts'
import { openStoreClock } from '../postgres/store/store-clock.ts'
import {
  CommandFailed,
  EXIT_OK,
  readArgs,
  required,
  UsageError,
  wholeNumber,
  type Command,
  type CommandIo,
} from './common/command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from './common/configured.ts'
import { printPartKey } from './keys-part-key.ts'
import { rotateMaster } from './keys-rotate-master.ts'
import { openedSecrets } from './opened-secrets.ts'

const DEFAULT_AFTER_SECONDS = 300
/** Every node looks for new keys more often: none signs with a key that has retired. */
const SHORTEST_AFTER_SECONDS = 10
const LONGEST_AFTER_SECONDS = 86_400

export const keysCommand: Command = {
  summary: "rotate or revoke the service's signing keys, rotate the master key, create part keys",
  help: `Usage: ledger keys rotate --purpose ${SERVICE_KEY_PURPOSES.join('|')} [--after SECONDS]
       ledger keys revoke --kid=KEY_ID
       ledger keys part-key --part ${PARTS.join('|')}
       ledger keys rotate-master [--check]

rotate makes the next signing key of a purpose. It is published in the JWKS at once and signs after SECONDS (${DEFAULT_AFTER_SECONDS} by default, at least ${SHORTEST_AFTER_SECONDS}), so
that every cache knows it by then; the key before it retires at that moment and stays published. Nothing is restarted.
Prints the new key as JSON. To a key for import other ledgers encrypt: it is in no JWKS and signs nothing, and what was
encrypted to one that has retired still opens.

revoke is for a key that somebody else may have. It voids everything that the key ever signed, whenever that was: access
tokens end, receipts, assertions and attestations no longer verify, and the JWKS says so. A key that is in use is replaced
at once; every process follows within seconds. It cannot be taken back. Prints the revoked key, and the one that took its
place, as JSON.

part-key prints the part key, which replaces the master key at a part: it opens only the keys and secrets that the part
needs. The part reads it from LEDGER_PART_KEY_FILE (or LEDGER_PART_KEY), and refuses that of another part. With
LEDGER_PREVIOUS_MASTER_KEY it also opens secrets under the earlier master keys. Needs the master key, but no database.

rotate-master moves every key and secret from an earlier master key to the current one: it rewraps keys and rewrites no
data, and the ledger may keep running. First give every part a part key created from both keys (LEDGER_MASTER_KEY the new
one, LEDGER_PREVIOUS_MASTER_KEY the earlier ones, or the files of these names), or both keys, and restart it. After
rotate-master, give it a part key created from the new key alone. You may stop the command at any time and run it again.
Prints the number of rewrapped keys of each kind, as JSON. --check changes nothing and prints the number of remaining ones;
exit code 1 if there are any.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(
      args,
      {
        purpose: { type: 'string' },
        after: { type: 'string' },
        kid: { type: 'string' },
        check: { type: 'boolean' },
        part: { type: 'string' },
      },
      { least: 1, most: 1, what: 'rotate, revoke, part-key or rotate-master' },
    )
    const [name = ''] = positionals
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (action === undefined) throw new UsageError(`unknown command "keys ${name}"`)
    for (const option of Object.keys(values)) {
      if (!action.options.includes(option)) throw new UsageError(`--${option} does not apply to ${name}`)
    }
    return action.run(values, io)
  },
}

interface Values {
  readonly purpose?: string | undefined
  readonly after?: string | undefined
  readonly kid?: string | undefined
  readonly check?: boolean | undefined
  readonly part?: string | undefined
}

interface Action {
  readonly options: readonly string[]
  readonly run: (values: Values, io: CommandIo) => Promise<number>
}

const ACTIONS: Readonly<Record<string, Action>> = {
  rotate: { options: ['purpose', 'after'], run: rotate },
  revoke: { options: ['kid'], run: revoke },
  'part-key': { options: ['part'], run: ({ part }, io) => printPartKey(part, io) },
  'rotate-master': { options: ['check'], run: masterRotation },
}

async function rotate({ purpose: named, after }: Values, io: CommandIo): Promise<number> {
  const purpose = SERVICE_KEY_PURPOSES.find((known) => known === named)
  if (purpose === undefined) throw new UsageError(`--purpose must be one of ${SERVICE_KEY_PURPOSES.join(', ')}`)
  const afterSeconds = wholeNumber(after, 'after', SHORTEST_AFTER_SECONDS, LONGEST_AFTER_SECONDS, DEFAULT_AFTER_SECONDS)
  const made = await withServiceKeys(io, (keys) => keys.rotate(purpose, { activeAfterMs: afterSeconds * 1_000 }))
  io.out(`${JSON.stringify(membersOf(made))}\n`)
  return EXIT_OK
}

async function revoke({ kid }: Values, io: CommandIo): Promise<number> {
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

async function masterRotation({ check = false }: Values, io: CommandIo): Promise<number> {
  const configuration = configurationOf(io)
  refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
  return withDatabase(configuration, io, (url) => rotateMaster(configuration, url, check, io))
}

function membersOf({ keyId, purpose, activeFromMs }: ServiceKey): object {
  return { kid: keyId, purpose, active_from: new Date(activeFromMs).toISOString() }
}

async function withServiceKeys<T>(io: CommandIo, work: (keys: PostgresServiceKeys) => Promise<T>): Promise<T> {
  const configuration = configurationOf(io)
  refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
  return withDatabase(configuration, io, async (url) => {
    const { serviceKeys: seals } = await openedSecrets(configuration, url)
    const keys = await createServiceKeys({ url, seals, clock: await openStoreClock(url) })
    try {
      return await work(keys)
    } finally {
      await keys.close()
    }
  })
}
