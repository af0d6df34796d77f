import { KEY_PURPOSES } from '../../runtime/ports/service-keys.ts'
import { openMasterKey } from '../main/ledger-secrets.ts'
import { createServiceKeys } from '../postgres/service-keys-postgres.ts'
import { createSystemClock } from '../system/clock-system.ts'
import { EXIT_OK, readArgs, UsageError, wholeNumber, type Command } from './command.ts'
import { configurationOf, refuseMissingInProduction, withDatabase } from './configured.ts'

const DEFAULT_AFTER_SECONDS = 300
/** Every node looks for new keys more often: none signs with a key that has retired. */
const SHORTEST_AFTER_SECONDS = 10
const LONGEST_AFTER_SECONDS = 86_400

export const keysCommand: Command = {
  summary: "rotate the service's signing keys",
  help: `Usage: ledger keys rotate --purpose ${KEY_PURPOSES.join('|')} [--after SECONDS]

Makes the next signing key of a purpose. It is published in the JWKS at once and signs after SECONDS (${DEFAULT_AFTER_SECONDS} by default, at least ${SHORTEST_AFTER_SECONDS}), so
that every cache knows it by then; the key before it retires at that moment and stays published. Nothing is restarted.
Prints the new key as JSON.
`,
  run: async (args, io) => {
    const { values, positionals } = readArgs(
      args,
      { purpose: { type: 'string' }, after: { type: 'string' } },
      { least: 1, most: 1, what: 'rotate' },
    )
    if (positionals[0] !== 'rotate') throw new UsageError(`there is no "keys ${positionals[0] ?? ''}"`)
    const purpose = KEY_PURPOSES.find((known) => known === values.purpose)
    if (purpose === undefined) throw new UsageError(`--purpose must be one of ${KEY_PURPOSES.join(', ')}`)
    const afterSeconds = wholeNumber(
      values.after,
      'after',
      SHORTEST_AFTER_SECONDS,
      LONGEST_AFTER_SECONDS,
      DEFAULT_AFTER_SECONDS,
    )
    const configuration = configurationOf(io)
    refuseMissingInProduction({ ...configuration, nats: { ...configuration.nats, urls: [] } }, false)
    const masterKey = await openMasterKey(configuration)
    const made = await withDatabase(configuration, io, async (url) => {
      const keys = await createServiceKeys({ url, masterKey, clock: createSystemClock() })
      try {
        return await keys.rotate(purpose, { activeAfterMs: afterSeconds * 1_000 })
      } finally {
        await keys.close()
      }
    })
    const activeFrom = new Date(made.activeFromMs).toISOString()
    io.out(`${JSON.stringify({ kid: made.keyId, purpose: made.purpose, active_from: activeFrom })}\n`)
    return EXIT_OK
  },
}
