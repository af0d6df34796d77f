/** Something to see on every page of the console, made with the client. */
import { type AccountKey, generateKey, LedgerClient } from '../../../api/client/index.ts'
import type { LedgerUp } from '../start-harness.ts'

export interface ConsoleData {
  /** Has balances, a hold, an NFT and failed and completed transactions. */
  readonly accountId: string
  readonly txnId: string
  readonly hostileTxnId: string
  readonly groupId: string
  readonly tokenId: string
  readonly classId: string
  readonly instanceId: string
  readonly webhookId: string
}

/** Markup, characters that reverse the order of text, invisible ones, stacked marks, and far too much of it. */
export const HOSTILE = {
  markup: '<script>window.broken = true</script><img src=x onerror="window.broken = true">',
  order: 'paid \u202Eeb ot\u202C \u2066now\u2069 zero\u200Bwidth',
  marks: `Z${'\u0310'.repeat(40)}`,
  long: 'M'.repeat(200),
}

/** As many digits as an amount may have. */
const LARGE_AMOUNT = '123456789012345678.123456789012345678'

interface Holder {
  readonly accountId: string
  readonly key: AccountKey
}

/** `place`: in names of which a ledger has one. */
export async function makeConsoleData(ledger: LedgerUp, place = 'console'): Promise<ConsoleData> {
  const client = new LedgerClient({ url: ledger.address, credentials: ledger.credentials('admin') })
  const register = async (accountId: string): Promise<Holder> => {
    const key = await generateKey()
    await client.registerAccount(accountId, key)
    return { accountId, key }
  }
  const [alice, bob] = [await register(`alice@${place}`), await register(`bob@${place}`)]
  const tokenId = `GOLD.${place}`
  await client.createToken({ symbol: tokenId, decimals: 2, issuer: alice.accountId, total_supply: '1000' })
  const { txn_id: txnId } = await client.transfer(
    { account_id: alice.accountId, to_account_id: bob.accountId, token_id: tokenId, amount: '25.50' },
    alice.key,
  )
  const { txn_id: hostileTxnId } = await client.submitAndWait(
    {
      type: 'credit',
      account_id: bob.accountId,
      amount: LARGE_AMOUNT,
      metadata: { ...HOSTILE, '<b>name</b>': 'bold' },
    },
    bob.key,
  )
  await client.submitAndWait({ type: 'debit', account_id: alice.accountId, amount: '1' }, alice.key)
  await client.createHold(
    {
      account_id: alice.accountId,
      to_account_id: bob.accountId,
      token_id: tokenId,
      amount: '40',
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
    alice.key,
  )
  const groupId = await settleGroup(client, tokenId, alice, bob)
  const { classId, instanceId } = await makeNft(client, alice, bob)
  const { webhook_id: webhookId } = await client.call('createWebhook', {
    body: { url: 'http://127.0.0.1:9/events', types: ['ledger.transaction.completed.v1'], description: HOSTILE.markup },
  })
  return { accountId: alice.accountId, txnId, hostileTxnId, groupId, tokenId, classId, instanceId, webhookId }
}

async function settleGroup(client: LedgerClient, tokenId: string, alice: Holder, bob: Holder): Promise<string> {
  const legs = [
    { account_id: alice.accountId, type: 'debit', token_id: tokenId, amount: '5' },
    { account_id: bob.accountId, type: 'credit', token_id: tokenId, amount: '5' },
    { account_id: bob.accountId, type: 'transfer', to_account_id: alice.accountId, amount: '7' },
  ] as const
  const registered = await client.registerGroup(legs)
  const group = { group_id: registered.group_id, terms_hash: registered.terms_hash ?? '' }
  await client.submitLeg(group, legs[0], alice.key)
  await client.submitLeg(group, legs[1], bob.key)
  await client.submitLeg(group, legs[2], bob.key)
  const { status, group_id: groupId } = await client.waitForGroup(group.group_id)
  if (status !== 'settled') throw new Error(`the group is ${status}`)
  return groupId
}

async function makeNft(client: LedgerClient, alice: Holder, bob: Holder) {
  const { class_id: classId } = await client.call('createNftClass', {
    body: {
      name: `Paintings of ${alice.accountId} ${HOSTILE.markup}`,
      description: HOSTILE.order,
      issuer: alice.accountId,
      metadata_schema: { type: 'object' },
    },
  })
  const instanceId = 'sunflowers-1'
  const metadata = { title: HOSTILE.order, note: HOSTILE.markup, nested: { marks: HOSTILE.marks } }
  await client.mintNft(
    { class_id: classId, instance_id: instanceId, account_id: alice.accountId, owner: alice.accountId, metadata },
    alice.key,
  )
  await client.transfer(
    {
      account_id: alice.accountId,
      to_account_id: bob.accountId,
      class_id: classId,
      instance_id: instanceId,
      amount: '1',
    },
    alice.key,
  )
  await client.transfer(
    {
      account_id: bob.accountId,
      to_account_id: alice.accountId,
      class_id: classId,
      instance_id: instanceId,
      amount: '1',
    },
    bob.key,
  )
  await client.attest({
    attester: 'Gallery <b>North</b>',
    subject_class: classId,
    subject_instance: instanceId,
    attestation_type: 'authenticity',
    statement: `Seen on 2026-11-01. ${HOSTILE.markup}`,
  })
  return { classId, instanceId }
}
