/**
 * Goal: whoever reads all that passes NATS learns nothing of a transfer between two accounts, as the edge and the nodes of
 * both send it (D19). Of a ledger without encryption the same capture holds all of it.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { accountAddress } from '../../actors/address.ts'
import { Parties, type Party } from '../support/audited-ledger.ts'
import { startWiredLedger, type WiredLedger } from '../support/wired-ledger.ts'

const AMOUNT = '987654.32'
const TOKEN = 'NUGGET'
const SECRETS = { metadata: 'for the blue door', key: 'key of the door', token: TOKEN, amount: AMOUNT }

let ledger: WiredLedger
afterEach(() => ledger.close())

describe('a capture of all NATS traffic of a transfer', () => {
  test('holds no account, amount, token, metadata, key or signature', async () => {
    ledger = await startWiredLedger('on')
    const told = await transferred()
    for (const sent of [/^ledger\.node\.\w+\n/, /^ledger\.node\.\w+\.deliveries\n/, /^_INBOX_edge\./, /^_INBOX_node_/])
      expect(ledger.traffic.some((message) => sent.test(message))).toBe(true)
    expect(found(told)).toEqual([])
  })

  test('holds them all where the ledger does not encrypt', async () => {
    ledger = await startWiredLedger('off')
    const told = await transferred()
    expect(found(told)).toEqual(Object.keys(told))
  })
})

/** Which of them stand in any message. */
function found(told: Readonly<Record<string, string>>): readonly string[] {
  const all = ledger.traffic.join('\n')
  return Object.keys(told).filter((name) => all.includes(told[name] ?? ''))
}

/** From an account on one node to one on the other; what a reader must not find. */
async function transferred(): Promise<Readonly<Record<string, string>>> {
  const signatures: string[] = []
  const ask: WiredLedger['node']['ask'] = (actor, operation) => {
    if (operation.kind === 'submit') signatures.push(operation.signature)
    return ledger.node.ask(actor, operation)
  }
  const parties = new Parties({ node: { ask }, sql: ledger.sql })
  const alice = await openOn(parties, 0, 'alice')
  const bob = await openOn(parties, 1, 'bob')
  await parties.issue(TOKEN, alice.accountId, '5000000')
  await parties.atRest()
  await parties.submit(alice, {
    type: 'transfer',
    amount: AMOUNT,
    token_id: TOKEN,
    to_account_id: bob.accountId,
    idempotency_key: SECRETS.key,
    metadata: { purpose: SECRETS.metadata },
  })
  await parties.atRest()
  await ledger.settle()
  return { ...SECRETS, sender: alice.accountId, receiver: bob.accountId, signature: signatures.at(-1) ?? '' }
}

async function openOn(parties: Parties, node: number, name: string): Promise<Party> {
  for (let serial = 1; ; serial += 1) {
    const accountId = `${name}.number.${serial}@bank`
    if ((await ledger.nodeOf(accountAddress(accountId))) === node) return parties.open(accountId)
  }
}
