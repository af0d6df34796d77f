/**
 * Accounts move to another ledger completely or not at all, once, with their tokens, NFTs and attestations. A client
 * cannot duplicate them (D20).
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpReply, membersOf, textOf } from '../support/client/client.ts'
import type { Members } from '../support/client/client-keys.ts'
import { free, holdingOf, moved, outcomeOf } from '../support/client/client-moves.ts'
import { historyOf, instanceOf, ownedBy } from '../support/client/client-nfts.ts'
import { until } from '../support/processes/cluster-process.ts'
import {
  exported,
  GOLD,
  imported,
  linesOf,
  type Side,
  startSide,
  stocked,
  type Stock,
  stopSide,
  trusting,
} from './portability-scene.ts'

const REQUEST = { requester: 'a test' }
const DEADLINE_MS = 180_000

let source: Side
let target: Side
let stock: Stock
let lines: readonly string[]

beforeAll(async () => {
  source = await startSide()
  stock = await stocked(source)
  target = await startSide(await trusting(source))
  lines = linesOf(await exported(source, target))
})
afterAll(async () => {
  await stopSide(source)
  await stopSide(target)
})

/** Adds the ID of the target ledger to the fields of an order. */
function forTarget(fields: Members): Members {
  return { ledger_id: target.ledgerId, ...fields }
}

async function totalsOf({ client }: Side): Promise<Readonly<Record<string, string>>> {
  const assertion = membersOf(await client.post('/v1/assertions/proof-of-liabilities', REQUEST))
  const byToken = (assertion['result'] as Members)['by_token'] as readonly Members[]
  return Object.fromEntries(byToken.map((one) => [textOf(one, 'token_id'), textOf(one, 'total')]))
}

describe('after the import', () => {
  let summary: Members
  const importId = randomUUID() as string

  beforeAll(async () => {
    const reply = await imported(target, lines, { importId })
    if (reply.status !== 200) throw new Error(`import: ${reply.status} ${reply.body}`)
    summary = membersOf(reply)['summary'] as Members
  })

  test('the summary counts the imported records', () => {
    expect(summary).toEqual({
      accounts: 4,
      tokens: 1,
      nft_classes: 1,
      nft_instances: 2,
      attestations: 1,
      present: 0,
    })
  })

  test('balances, keys, statuses and NFTs are those of the other ledger', async () => {
    for (const { accountId } of [stock.house, stock.alice, stock.bob, stock.carol]) {
      const there = await source.client.read(`/v1/accounts/${accountId}`)
      const here = await target.client.read(`/v1/accounts/${accountId}`)
      for (const member of ['status', 'incoming', 'key_id', 'public_key']) expect(here[member]).toEqual(there[member])
      for (const token of ['BASE', GOLD]) {
        expect(await holdingOf(target.client, accountId, token)).toEqual(
          await holdingOf(source.client, accountId, token),
        )
      }
    }
    expect(await ownedBy(target.client, stock.alice)).toEqual(['ruby'])
    for (const nft of [stock.ruby, stock.burned]) {
      const { minted_at: mintedAt, ...here } = await instanceOf(target.client, nft)
      expect(await instanceOf(source.client, nft)).toMatchObject({ ...here, minted_at: mintedAt })
      expect(await historyOf(target.client, nft)).toEqual(await historyOf(source.client, nft))
    }
  })

  test('tokens, classes and attestations are those of the other ledger', async () => {
    const ofToken = ({ client }: Side) => client.read(`/v1/fungible-tokens/${GOLD}`)
    expect(await ofToken(target)).toMatchObject({
      symbol: GOLD,
      decimals: 2,
      issuer: 'mint-house',
      total_supply: '1000',
    })
    const { created_at: _here, ...nftClass } = await target.client.read(`/v1/nft-classes/${stock.ruby.class_id}`)
    expect(await source.client.read(`/v1/nft-classes/${stock.ruby.class_id}`)).toMatchObject(nftClass)
    const attestation = await target.client.read(`/v1/attestations/${stock.attestationId}`)
    expect(attestation).toMatchObject({ statement: 'it is red', attester: 'mint-house', status: 'active' })
  })

  test('totals agree, and proofs verify at both ledgers', async () => {
    expect(await totalsOf(target)).toEqual(await totalsOf(source))
    for (const { client } of [source, target]) {
      await until('a pass that found nothing', DEADLINE_MS, async () => {
        const reply = await client.post('/v1/assertions/proof-of-compliance', REQUEST)
        return reply.status === 200 && (membersOf(reply)['result'] as Members)['compliant'] === true
      })
      const subject = { ...REQUEST, token_class: 'nft', class_id: stock.ruby.class_id, instance_id: 'ruby' }
      const provenance = membersOf(await client.post('/v1/assertions/proof-of-provenance', subject))
      expect(provenance['result']).toMatchObject({ provenance_valid: true })
    }
  })

  test('an order that the other ledger applied is refused, and a new order is applied', async () => {
    const [spent, failed] = stock.spent
    // Signed after the export, with a key that is valid at both ledgers.
    const again = { type: 'debit', amount: '0.25', idempotency_key: 'later' }
    await moved(source.client, stock.carol, again)
    for (const submission of [spent, failed]) {
      expect(outcomeOf(await target.client.post('/v1/transactions', submission ?? {}))).toBe('400 ERR_WRONG_LEDGER')
    }
    expect(outcomeOf(await target.client.submit(stock.carol, again))).toBe('400 ERR_WRONG_LEDGER')
    expect(
      await moved(
        target.client,
        stock.alice,
        forTarget({ type: 'transfer', amount: '1', to_account_id: 'carol@house' }),
      ),
    ).toMatchObject({ status: 'completed' })
    expect(await moved(target.client, stock.carol, forTarget({ type: 'debit', amount: '2' }))).toMatchObject({
      status: 'completed',
    })
    await moved(
      target.client,
      stock.alice,
      forTarget({ type: 'transfer', ...stock.ruby, to_account_id: 'carol@house' }),
    )
    expect(await ownedBy(target.client, stock.carol)).toEqual(['ruby'])
  })
})

test('an import whose processes are killed completes once', async () => {
  const crowd = await Promise.all(
    Array.from({ length: 150 }, async (_, index) => {
      const holder = await source.client.register(`crowd-${index}`)
      await moved(source.client, holder, { type: 'credit', amount: String(index + 1) })
      return holder
    }),
  )
  const file = linesOf(await exported(source, target, { account_ids: crowd.map(({ accountId }) => accountId) }))
  const importId = randomUUID() as string
  const asking = imported(target, file, { importId, size: 1_000 }).catch(() => undefined)
  await until('the import is under way', DEADLINE_MS, async () => {
    const reply = await target.admin.get(`/v1/imports/${importId}`)
    return reply.status === 200 && membersOf(reply)['status'] !== 'staging'
  })
  for (const kind of ['edge', 'node'] as const)
    for (const { pid } of target.cluster.heads(kind)) process.kill(pid, 'SIGKILL')
  await asking
  await until('the ledger is ready again', DEADLINE_MS, () => target.cluster.isReady())
  let reply: HttpReply | undefined
  await until('the import ends', DEADLINE_MS, async () => {
    reply = await imported(target, file, { importId, size: 1_000 }).catch(() => undefined)
    return reply?.status === 200
  })
  expect(reply === undefined ? undefined : membersOf(reply)['summary']).toMatchObject({ accounts: 150 })
  for (const [index, { accountId }] of crowd.entries()) {
    expect(await holdingOf(target.client, accountId)).toEqual(free(String(index + 1)))
  }
})
