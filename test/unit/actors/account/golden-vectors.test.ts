/** Receipts and audit chains keep the exact bytes that clients store and verify. */
import { expect, test } from 'vitest'
import { receiptPayload } from '../../../../actors/account/receipt.ts'
import { entryPayload } from '../../../../actors/account/record.ts'
import type { AccountState } from '../../../../actors/account/state.ts'
import type { AuditEntry } from '../../../../actors/audit-chain.ts'
import type { JsonObject } from '../../../../actors/canonical-json.ts'
import { receiptPayload as receiptSchema } from '../../../../api/schemas/responses/transaction.ts'
import {
  afterSteps,
  registerCommand,
  rotateCommand,
  SIGNED,
  START_MS,
  stateAfter,
  stepAccount,
  steppedOf,
  submitCommand,
} from '../../../support/accounts.ts'
import { GOLDEN_KEY_ID, GOLDEN_LEDGER_ID, GOLDEN_RECEIPTS } from '../../../support/golden-receipts.ts'
import { receiptText } from '../../../support/receipt-text.ts'

test('every member that the interface documents for a receipt is in a golden receipt', () => {
  const members = GOLDEN_RECEIPTS.flatMap(({ payload }) => Object.keys(JSON.parse(payload) as object))
  expect([...new Set(members)].toSorted()).toEqual(Object.keys(receiptSchema.entries).toSorted())
})

test.for(GOLDEN_RECEIPTS)('the receipt of $transaction.txnId', ({ transaction, payload }) => {
  expect(receiptPayload(transaction, GOLDEN_LEDGER_ID, GOLDEN_KEY_ID)).toBe(payload)
  expect(receiptText(transaction, GOLDEN_LEDGER_ID, GOLDEN_KEY_ID)).toBe(payload)
})

/**
 * The hashes are from Python: `chain = bytes(32)`, then for each payload
 * `chain = sha256(chain + sha256(payload.encode()).digest()).digest()`, with `sha256` of hashlib.
 */
const CHAIN: readonly AuditEntry[] = [
  {
    sequence: 0,
    txnId: null,
    previousHash: '0000000000000000000000000000000000000000000000000000000000000000',
    auditHash: '8ff1480eea1398afb19ff86070c914e04319a563705eaf34c596b11bd831c046',
    payload:
      '{"account_id":"alice@example","created_at":"2026-09-21T14:13:20.000Z","format":2,"key_id":"key-1","kind":"registration","public_key":"public-1","salt":"00112233445566778899aabbccddeeff","sequence":0,"txn_id":null}',
  },
  {
    sequence: 1,
    txnId: 'txn_01M80E1PQB000010SNKHFAT8F1',
    previousHash: '8ff1480eea1398afb19ff86070c914e04319a563705eaf34c596b11bd831c046',
    auditHash: 'aa89437c53cc3f8f28b247d7f4bc7528b355444a07271b76b251de71a23ef52b',
    payload:
      '{"account_id":"alice@example","amount":"10.50","available_after":"10.5","balance_after":"10.5","created_at":"2026-09-21T14:13:20.001Z","format":2,"group_id":null,"key_id":"key-1","kind":"transaction","metadata":{"note":"first é"},"origin":"client","processed_at":"2026-09-21T14:13:20.001Z","salt":"ffeeddccbbaa99887766554433221100","sequence":1,"shard_id":7,"submission_hash":"371aa4bf95f04024e180f0b399458487616a5c090cb99f788b4884edf4deb10f","token_id":"BASE","txn_id":"txn_01M80E1PQB000010SNKHFAT8F1","type":"credit"}',
  },
  {
    sequence: 2,
    txnId: null,
    previousHash: 'aa89437c53cc3f8f28b247d7f4bc7528b355444a07271b76b251de71a23ef52b',
    auditHash: '0f27e3fbb2856d03b2220b0b45ab014ff99dfa573b542f73a88b3c4af6051a61',
    payload:
      '{"account_id":"alice@example","format":2,"key_id":"key-2","kind":"key_rotation","processed_at":"2026-09-21T14:13:20.002Z","public_key":"public-2","salt":"0123456789abcdef0123456789abcdef","sequence":2,"submission_hash":"c6ddd8dd4a5146b3206733de5a2a57075308b59839c4e5eb1af223479adafbe7","txn_id":null}',
  },
]

test('C1, C2: the chain of an account that is registered, credited and gets another key', () => {
  const commands = [
    registerCommand(),
    submitCommand(
      { amount: '10.50', metadata: { note: 'first é' } },
      {
        newTxnId: 'txn_01M80E1PQB000010SNKHFAT8F1',
        payloadHash: '371aa4bf95f04024e180f0b399458487616a5c090cb99f788b4884edf4deb10f',
        atMs: START_MS + 1,
        salt: 'ffeeddccbbaa99887766554433221100',
      },
    ),
    rotateCommand({
      payloadHash: 'c6ddd8dd4a5146b3206733de5a2a57075308b59839c4e5eb1af223479adafbe7',
      atMs: START_MS + 2,
      salt: '0123456789abcdef0123456789abcdef',
    }),
  ]
  const entries: AuditEntry[] = []
  let account: AccountState | null = null
  for (const command of commands) {
    const result = stepAccount(account, command, SIGNED)
    if (result.kind !== 'stepped') throw new Error(`${command.type} was not stepped`)
    account = stateAfter(result)
    entries.push(...result.effects.flatMap((effect) => (effect.kind === 'entry_appended' ? [effect.entry] : [])))
  }
  expect(entries).toEqual(CHAIN)
})

/** The second entry of that chain as releases before format 2 wrote it. */
const FIRST_FORMAT =
  '{"account_id":"alice@example","amount":"10.50","balance":"10.5","created_at":"2026-09-21T14:13:20.001Z","format":1,"group_id":null,"key_id":"key-1","kind":"transaction","metadata":{"note":"first é"},"origin":"client","processed_at":"2026-09-21T14:13:20.001Z","salt":"ffeeddccbbaa99887766554433221100","sequence":1,"shard_id":7,"submission_hash":"371aa4bf95f04024e180f0b399458487616a5c090cb99f788b4884edf4deb10f","token_id":"BASE","txn_id":"txn_01M80E1PQB000010SNKHFAT8F1","type":"credit"}'

test('C1: an entry of format 1 keeps its payload, and so its hash', () => {
  const { format: _, ...members } = JSON.parse(FIRST_FORMAT) as JsonObject
  const credit = submitCommand(
    { amount: '10.50', metadata: { note: 'first é' } },
    { newTxnId: String(members['txn_id']), payloadHash: String(members['submission_hash']), atMs: START_MS + 1 },
  )
  const { effects } = steppedOf(stepAccount(afterSteps(registerCommand()), credit, SIGNED))
  const entered = effects.find((effect) => effect.kind === 'transaction_entered')
  if (entered === undefined) throw new Error('The credit entered no transaction.')
  const received = { receivedBalance: null, receivedAvailable: null, receivedIncoming: null }
  const entry = { format: 1, salt: String(members['salt']), balance: '10.5', available: null, incoming: null } as const
  expect(entryPayload({ ...entered.transaction, entry: { ...entry, ...received } })).toBe(FIRST_FORMAT)
})

test('an entry states the incoming value of the asset that an exchange received, which no receipt does', () => {
  const [exchange] = GOLDEN_RECEIPTS.filter(({ transaction }) => transaction.receive !== null)
  if (exchange === undefined) throw new Error('an exchange is among the golden receipts')
  const fields = JSON.parse(entryPayload(exchange.transaction)) as Record<string, unknown>
  expect(fields).toMatchObject({ incoming: 'in no receipt', received_incoming: 'in no receipt' })
})
