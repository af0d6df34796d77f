/**
 * Logs at the level `debug` and metrics contain no content of requests or accounts (D19). The test makes requests of
 * every kind, refused requests and faults.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { accountAddress } from '../../../actors/address.ts'
import { createAccountTag } from '../../../infra/keys/account-tag.ts'
import type { Operation } from '../../../runtime/protocol/messages.ts'
import { everythingOnce, Parties, type Party } from '../../support/audited-ledger.ts'
import { canonical, type Members, signatureBytes } from '../../support/client/client-keys.ts'
import { until } from '../../support/postgres/ledger-store-postgres.ts'
import { startWiredLedger, type WiredLedger } from '../../support/wired-ledger.ts'

const NAME = 'xyzzy'
const AMOUNTS = ['31415.92', '27182.81', '98765.43']
/** Characters: shorter texts may occur by chance. */
const SHORTEST = 6
/** Words of the interface, which are no private content. */
const WORDS = new Set(['transfer', 'exchange', 'credit', 'object', 'active', 'frozen'])

let ledger: WiredLedger
afterEach(() => ledger.close())

test('logs and metrics contain no text of a request', async () => {
  ledger = await startWiredLedger()
  const told = new Set<string>(AMOUNTS)
  const listening = listener(told)
  const parties = new Parties(listening)
  const { alice, bob } = await everythingOnce(parties, NAME)
  await refusals(listening, parties, alice, bob)
  await faults(listening, parties, alice, bob)
  const events = new Set(ledger.logLines.map((line) => String((JSON.parse(line) as Members)['event'])))
  const followed = ['submission_received', 'submission_stepped', 'submission_committed', 'submission_answered']
  const broken = ['shard_quarantined', 'messages_not_opened']
  expect([...followed, ...broken].filter((event) => !events.has(event))).toEqual([])
  const said = [...ledger.logLines, await ledger.metrics()].join('\n')
  expect(told.size).toBeGreaterThan(100)
  expect([...told].filter((text) => said.includes(text))).toEqual([])
  expect(said.toLowerCase()).not.toContain(NAME)
  expect(said).not.toMatch(/\bkey \d/)
  // Log lines name an account by this hash.
  const tag = createAccountTag(ledger.secrets.derive('account-tags'))
  for (const { accountId } of [alice, bob]) expect(said).toContain(`"account":"${tag(accountId)}"`)
})

/** Sends requests and collects their texts in `told`. */
function listener(told: Set<string>) {
  const keep = (value: unknown): void => {
    if (typeof value === 'string' && value.length >= SHORTEST && !WORDS.has(value)) told.add(value)
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(keep)
  }
  const listen = ({ kind: _kind, ...operation }: Operation): void => {
    keep(operation)
    if ('payload' in operation) keep(JSON.parse(operation.payload))
  }
  return {
    sql: ledger.sql,
    node: {
      ask: (actor, operation) => {
        listen(operation)
        return ledger.node.ask(actor, operation)
      },
    } satisfies WiredLedger['node'],
    asked: (party: Party, fields: Members, signature?: string) => {
      const body = { account_id: party.accountId, idempotency_key: `${NAME} ${randomUUID()}`, ...fields }
      const operation: Operation = {
        kind: 'submit',
        payload: canonical(body),
        signature: signature ?? signatureBytes(body, party.keys.privateKey).toString('base64url'),
      }
      listen(operation)
      return ledger.asked(accountAddress(party.accountId), operation)
    },
  }
}

type Listener = ReturnType<typeof listener>

async function refusals({ asked }: Listener, parties: Parties, alice: Party, bob: Party): Promise<void> {
  const transfer = { type: 'transfer', to_account_id: bob.accountId }
  await asked(alice, { ...transfer, amount: AMOUNTS[0] ?? '' })
  await asked(alice, { ...transfer, amount: '1' }, 'A'.repeat(86))
  await asked(alice, { ...transfer, amount: '1', to_account_id: `nobody-${NAME}@bank` })
  await asked({ ...alice, accountId: `stranger-${NAME}@bank` }, { ...transfer, amount: '1' })
  const again = { idempotency_key: `again ${NAME}`, metadata: { purpose: `a gift of ${NAME}` } }
  for (const amount of ['1', '1', '2']) await asked(alice, { ...transfer, ...again, amount })
  await Promise.all(AMOUNTS.map((amount) => asked(bob, { type: 'credit', amount })))
  await parties.atRest()
}

/** Injects unsealed messages, breaks connections under load, and copies a row to another account. */
async function faults({ asked }: Listener, parties: Parties, alice: Party, bob: Party): Promise<void> {
  for (const message of ledger.traffic) {
    const [subject = ''] = message.split('\n')
    if (/^ledger\.node\.\w+(\.deliveries)?$/.test(subject)) ledger.inject(subject, `"${alice.accountId} ${AMOUNTS[0]}`)
  }
  await ledger.settle()
  const transfers = Array.from({ length: 100 }, () =>
    asked(alice, { type: 'transfer', amount: '0.01', to_account_id: bob.accountId }),
  )
  await ledger.sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'ledger:node-%'`
  await Promise.all(transfers)
  await until(async () => (await asked(alice, { type: 'credit', amount: '1' })).kind === 'answered')
  await parties.atRest()
  await misplaced(alice, asked, bob)
}

/** Copies Alice's row to an account without rows on her shard, and sends requests that look it up. */
async function misplaced(alice: Party, asked: Listener['asked'], bob: Party): Promise<void> {
  const { vault, shardOf } = ledger.secrets
  let serial = 0
  let ghost = ''
  do ghost = `ghost-${(serial += 1)}-${NAME}@bank`
  while (shardOf(ghost) !== shardOf(alice.accountId))
  await ledger.sql`
    INSERT INTO accounts OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(a, jsonb_build_object('account_id', ${vault.accountRef(ghost)}::text))).*
      FROM accounts a WHERE account_id = ${vault.accountRef(alice.accountId)}`
  // Both requests end at their timeout.
  await Promise.all([
    asked({ ...alice, accountId: ghost }, { type: 'credit', amount: AMOUNTS[1] ?? '' }),
    asked(bob, { type: 'transfer', amount: AMOUNTS[2] ?? '', to_account_id: ghost }),
  ])
}
