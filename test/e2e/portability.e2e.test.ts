/**
 * Goal: accounts move from one ledger to another completely or not at all, once, with everything that belongs to them.
 * No client can multiply them on the way (D20).
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HttpReply, type LedgerClient, membersOf, textOf } from '../support/client.ts'
import type { Members } from '../support/client-keys.ts'
import { changeStatus, fieldsOf, free, funded, holdingOf, issued, moved, outcomeOf } from '../support/client-moves.ts'
import { historyOf, instanceOf, ownedBy } from '../support/client-nfts.ts'
import { until } from '../support/cluster-process.ts'
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

/** Of an account that came from another ledger. */
function forTarget(fields: Members): Members {
  return { ledger_id: target.ledgerId, ...fields }
}

function detailOf(reply: HttpReply): string {
  const { detail = '', errors = [] } = membersOf(reply)
  const messages = (errors as readonly Members[]).map(({ message }) => String(message))
  return [String(detail), ...messages].join(' ')
}

async function totalsOf({ client }: Side): Promise<Readonly<Record<string, string>>> {
  const assertion = membersOf(await client.post('/v1/assertions/proof-of-liabilities', REQUEST))
  const byToken = (assertion['result'] as Members)['by_token'] as readonly Members[]
  return Object.fromEntries(byToken.map((one) => [textOf(one, 'token_id'), textOf(one, 'total')]))
}

/** Nothing of the file is there. */
async function untouched({ client, admin }: Side): Promise<void> {
  expect((await client.get(`/v1/accounts/${stock.alice.accountId}/balances`)).status).toBe(404)
  expect(await admin.readAll('/v1/fungible-tokens', 'tokens')).toEqual([])
  expect(await admin.readAll('/v1/nft-classes', 'classes')).toEqual([])
}

describe('a file that is not as it was written is refused with its line, and nothing of it is taken', () => {
  const cases: readonly (readonly [string, (all: readonly string[]) => readonly string[], RegExp, string])[] = [
    ['truncated', (all) => all.slice(0, -1), /proof/, '400 ERR_INVALID_PROOF_HASH'],
    ['without a line', (all) => all.toSpliced(4, 1), /line 4/, '400 ERR_INVALID_FIELD'],
    ['in another order', (all) => all.toSpliced(3, 2, all[4] ?? '', all[3] ?? ''), /line 3/, '400 ERR_INVALID_FIELD'],
    ['with a changed member', (all) => all.map((line) => line.replace('"alice@house"', '"mallory"')), /line/, '400'],
  ]
  test.for(cases)('%s', async ([, damage, line, outcome]) => {
    const reply = await imported(target, damage(lines))
    expect(outcomeOf(reply)).toContain(outcome)
    expect(detailOf(reply)).toMatch(line)
    await untouched(target)
  })

  test('for another ledger, or of one that is not trusted', async () => {
    const foreign = linesOf(await exported(source, { ...target, ledgerId: randomUUID() }))
    expect(outcomeOf(await imported(target, foreign))).toBe('400 ERR_WRONG_LEDGER')
    const untrusted = linesOf(await exported(target, source))
    expect(outcomeOf(await imported(source, untrusted))).toBe('403 ERR_FORBIDDEN')
    await untouched(target)
  })

  test('by who is no administrator', async () => {
    expect(outcomeOf(await imported({ ...target, admin: target.client }, lines))).toBe('403 ERR_FORBIDDEN')
  })
})

describe('after the import', () => {
  let summary: Members
  const importId = randomUUID() as string

  beforeAll(async () => {
    const reply = await imported(target, lines, { importId })
    if (reply.status !== 200) throw new Error(`import: ${reply.status} ${reply.body}`)
    summary = membersOf(reply)['summary'] as Members
  })

  test('the summary counts what came', () => {
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

  test('tokens, classes and attestations are, too', async () => {
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

  test('totals agree, and proofs verify on both sides', async () => {
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

  test('the same file again changes nothing, under its own import ID or another', async () => {
    const chainOf = (client: LedgerClient) =>
      client.readAll(`/v1/accounts/${stock.alice.accountId}/audit-chain`, 'entries')
    const before = await chainOf(target.client)
    const same = await imported(target, lines, { importId })
    expect(membersOf(same)).toEqual({ import_id: importId, status: 'done', summary })
    const again = membersOf(await imported(target, lines, { size: 50 }))
    expect(again['summary']).toMatchObject({ accounts: 4, present: 9 })
    expect(await chainOf(target.client)).toEqual(before)
    expect(await totalsOf(target)).toEqual(await totalsOf(source))
  })

  test('a newer export of what has changed is refused, whole', async () => {
    await moved(source.client, stock.alice, { type: 'debit', amount: '0.5' })
    const eve = await funded(source.client, 'eve@house', '4')
    await issued(source.client, 'SILVER', eve, '9')
    const totals = await totalsOf(target)
    const reply = await imported(target, linesOf(await exported(source, target)))
    expect(outcomeOf(reply)).toBe('409 ERR_CONFLICT')
    expect(detailOf(reply)).toContain('line')
    expect(await holdingOf(target.client, stock.alice.accountId)).toEqual(free('10.5'))
    // The other records of the refused file are missing: at most a name without a key exists.
    expect(await holdingOf(target.client, eve.accountId)).toEqual(free('0'))
    expect((await target.client.get('/v1/fungible-tokens/SILVER')).status).toBe(404)
    expect(await totalsOf(target)).toEqual(totals)
    const named = await target.client.get(`/v1/accounts/${eve.accountId}`)
    expect(named.status === 200 ? membersOf(named)['public_key'] : null).toBeNull()
  })

  test('what was signed for the other ledger is not applied again, and what is new is', async () => {
    const [spent, failed] = stock.spent
    // Signed after the copy was made, by a key that is good at both.
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

describe('an account that moves', () => {
  test('is closed there with a last debit, and is here with what it had, once', async () => {
    const third = await source.client.register('dora@house')
    await moved(source.client, third, { type: 'credit', amount: '5' })
    const order = { account_ids: [third.accountId], mode: 'move' }
    expect(outcomeOf(await exported(source, target, order))).toBe('409 ERR_CONFLICT')
    await changeStatus(source.admin, third, { status: 'frozen' })
    const first = linesOf(await exported(source, target, order))
    const again = linesOf(await exported(source, target, order))
    expect(await source.client.read(`/v1/accounts/${third.accountId}`)).toMatchObject({ status: 'closed' })
    expect(await holdingOf(source.client, third.accountId)).toEqual(free('0'))
    const [last] = await source.client.readAll(`/v1/transactions?account_id=${third.accountId}`, 'transactions')
    expect(last).toMatchObject({ type: 'debit', amount: '5', status: 'completed' })
    expect(outcomeOf(await exported(source, { ...target, ledgerId: randomUUID() }, order))).toBe('409 ERR_CONFLICT')
    expect(membersOf(await imported(target, first))['summary']).toMatchObject({ accounts: 1, present: 0 })
    expect(membersOf(await imported(target, again))['summary']).toMatchObject({ accounts: 1, present: 1 })
    expect(await target.client.read(`/v1/accounts/${third.accountId}`)).toMatchObject({ status: 'frozen' })
    expect(await holdingOf(target.client, third.accountId)).toEqual(free('5'))
    await changeStatus(target.admin, third, { status: 'active' })
    await moved(target.client, third, forTarget({ type: 'debit', amount: '5' }))
  })

  test('does not go while it has an NFT', async () => {
    const order = { account_ids: [stock.alice.accountId], mode: 'move' }
    await changeStatus(source.admin, stock.alice, { status: 'frozen' })
    const reply = await exported(source, target, order)
    expect(outcomeOf(reply)).toBe('409 ERR_CONFLICT')
    expect(fieldsOf(reply)).toEqual(['account_ids[0]'])
    expect(await source.client.read(`/v1/accounts/${stock.alice.accountId}`)).toMatchObject({ status: 'frozen' })
  })
})

test('an import whose processes are killed is finished, once', async () => {
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
