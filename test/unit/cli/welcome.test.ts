/** Only the start that generates secrets prints them. Secrets of the operator are never printed. */
import { expect, test } from 'vitest'
import type { BootstrapClient } from '../../../infra/config/bootstrap-client.ts'
import type { Configuration } from '../../../infra/config/configuration.ts'
import { welcome } from '../../../infra/cli/welcome.ts'

const clients: readonly BootstrapClient[] = (['admin', 'transactor'] as const).map((role) => ({
  clientId: `the-${role}`,
  clientSecret: `lsk_${role}-secret`,
  role,
  boundary: undefined,
  accounts: null,
  rate: undefined,
}))
const SECRETS = clients.map(({ clientSecret }) => clientSecret)

function messageFor(file: string | undefined, made: boolean, pages: Configuration['pages'] = ['console']): string {
  const configuration = { environment: 'sandbox', dataDir: '/srv/ledger', pages } as Configuration
  const ledger = { addresses: ['http://127.0.0.1:8080'], ledgerId: 'one', startClients: { clients, file, made } }
  return welcome(ledger, configuration)
}

test('the first start prints each secret once, next to its client', () => {
  const text = messageFor("/srv/led'ger/clients.json", true)
  for (const secret of SECRETS) expect(text.split(secret)).toHaveLength(2)
  expect(text).toContain('the-transactor (transactor): lsk_transactor-secret')
})

test('a later start names the file, and the example reads the secret from there', () => {
  const text = messageFor("/srv/led'ger/clients.json", false)
  for (const secret of SECRETS) expect(text).not.toContain(secret)
  expect(text).toContain("Clients (their secrets are in /srv/led'ger/clients.json):\n  the-admin (admin)\n")
  expect(text).toContain(
    String.raw` login --url http://127.0.0.1:8080 --client-id the-transactor --secret-file '/srv/led'\''ger/clients.json'`,
  )
})

test('secrets of the operator are never printed', () => {
  const text = messageFor(undefined, false)
  for (const secret of SECRETS) expect(text).not.toContain(secret)
  expect(text).toContain('Clients of LEDGER_BOOTSTRAP_CLIENTS:')
})

test('the console is named unless it is switched off', () => {
  expect(messageFor(undefined, false)).toContain('\n  console: http://127.0.0.1:8080/console\n  ledger one,')
  expect(messageFor(undefined, false, ['docs'])).toContain('http://127.0.0.1:8080\n  ledger one,')
})
