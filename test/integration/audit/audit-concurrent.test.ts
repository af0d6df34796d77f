/** An audit has no findings while the ledger commits transactions of every kind. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runSpotPass } from '../../../infra/audit/spot-pass.ts'
import { type AuditedLedger, createAuditedLedger, Parties, type Party } from '../../support/audited-ledger.ts'
import { findingsOf, startAuditor, untilPasses, untilSeen } from '../../support/auditing.ts'

/** The minimum duration; the load continues until every outcome has occurred. */
const LOAD_MS = 10_000
const SPOTS = 5
const TRADERS = 8

/** Counts each outcome of groups, NFT transfers and exchanges. */
const ENDS = `
SELECT count(*) FILTER (WHERE status = 'settled')::integer AS settled,
       count(*) FILTER (WHERE status = 'reverted')::integer AS reverted,
       (SELECT count(*)::integer FROM nft_events WHERE number > 0) AS moved,
       (SELECT count(*)::integer FROM transactions WHERE type = 'exchange' AND status = 'completed') AS exchanged,
       (SELECT count(*)::integer FROM transactions WHERE type = 'exchange' AND status = 'failed') AS expired
  FROM actors WHERE kind = 'group'`

let ledger: AuditedLedger
let parties: Parties

beforeAll(async () => {
  ledger = await createAuditedLedger()
  parties = new Parties(ledger)
})
afterAll(() => ledger?.close())

/** Sends orders of every kind until `stop`. Refusals are expected. */
class Trade {
  moves = 0
  private readonly traders: readonly Party[]
  private readonly nfts: readonly string[]
  private readonly tokenId: string
  private stopped = false
  private turn = 0

  constructor(traders: readonly Party[], nfts: readonly string[], tokenId: string) {
    this.traders = traders
    this.nfts = nfts
    this.tokenId = tokenId
  }

  stop(): void {
    this.stopped = true
  }

  async run(index: number): Promise<void> {
    for (let turn = index; !this.stopped; turn += 1) await this.once(index, turn).catch(() => undefined)
  }

  private trader(index: number): Party {
    const trader = this.traders[index % this.traders.length]
    if (trader === undefined) throw new Error('there are traders')
    return trader
  }

  private async once(index: number, turn: number): Promise<void> {
    const [from, to] = [this.trader(index), this.trader(index + 1 + (turn % (TRADERS - 1)))]
    const [token, nft] = [{ token_id: this.tokenId }, this.asset(turn)]
    const transfer = { type: 'transfer', to_account_id: to.accountId }
    this.moves += 1
    switch (turn % 9) {
      case 0:
        return void (await parties.submit(from, { ...transfer, amount: '1' }))
      case 1:
        return void (await parties.submit(from, { ...transfer, ...token, amount: '2' }))
      case 2:
        return void (await parties.submit(this.trader(0), { ...token, type: 'mint', amount: '3' }))
      case 3:
        return void (await parties.submit(from, { ...token, type: 'burn', amount: '1' }))
      case 4:
        return void (await parties.submit(from, { ...nft, ...transfer }))
      case 5:
        return this.exchange(from, to)
      case 6:
        return this.group(from, to, false)
      case 7:
        return this.group(from, to, true)
      default:
        return this.mint(turn)
    }
  }

  private asset(turn: number) {
    const [classId = '', instanceId = ''] = (this.nfts[turn % this.nfts.length] ?? '').split('/')
    return { class_id: classId, instance_id: instanceId, amount: '1' }
  }

  private async mint(turn: number): Promise<void> {
    const [classId = ''] = (this.nfts[0] ?? '').split('/')
    this.turn += 1
    await parties.mint(this.trader(0), classId, `later-${this.turn}`, this.trader(turn).accountId)
  }

  private async exchange(from: Party, to: Party): Promise<void> {
    const expires = new Date(Date.now() + 3_000).toISOString()
    const exchange = { type: 'exchange', group_id: randomUUID(), expires_at: expires }
    const nft = this.asset(this.turn)
    const price = { token_id: this.tokenId, amount: '2' }
    await parties.submit(from, { ...exchange, ...price, to_account_id: to.accountId, receive: nft })
    await parties.submit(to, { ...exchange, ...nft, to_account_id: from.accountId, receive: price })
  }

  /** A group with a transfer, a mint and a burn. `reverts`: no order for the burn is sent. */
  private async group(from: Party, to: Party, reverts: boolean): Promise<void> {
    const issuer = this.trader(0)
    const token = { token_id: this.tokenId }
    const legs = [
      { account_id: from.accountId, type: 'transfer', amount: '1', ...token, to_account_id: to.accountId },
      { account_id: issuer.accountId, type: 'mint', amount: '5', ...token },
      { account_id: to.accountId, type: 'burn', amount: '2', ...token },
    ]
    const agreed = await parties.agree(legs)
    const holders = [from, issuer, to]
    for (const [index, { account_id: _, ...fields }] of legs.entries()) {
      const holder = holders[index]
      if (holder !== undefined && !(reverts && index === 2)) await parties.submit(holder, { ...fields, ...agreed })
    }
    if (reverts) await parties.revert(String(agreed['group_id']))
  }
}

test('I4 to I9: passes, spot passes and the tail have no findings in a ledger under load', async () => {
  const { url, ledgerId, sql, vault } = ledger
  const traders = await Promise.all(Array.from({ length: TRADERS }, (_, index) => parties.open(`trader-${index}`)))
  const [issuer] = traders
  if (issuer === undefined) throw new Error('there are traders')
  await parties.issue('coin', issuer.accountId, '10000')
  for (const trader of traders) {
    await parties.submit(trader, { type: 'credit', amount: '1000' })
    await parties
      .submit(issuer, { type: 'transfer', amount: '500', token_id: 'coin', to_account_id: trader.accountId })
      .catch(() => undefined)
  }
  const classId = await parties.registerClass('Traded', issuer)
  const nfts = await Promise.all(
    traders.map(({ accountId }, index) => parties.mint(issuer, classId, `nft-${index}`, accountId)),
  )
  await parties.atRest()

  const audit = startAuditor(ledger)
  const trade = new Trade(traders, nfts, 'coin')
  const trading = traders.map((_, index) => trade.run(index))
  const endMs = performance.now() + LOAD_MS
  const wrong: unknown[] = []
  let spots = 0
  let ends: Record<string, number> = {}
  const passes = (): number => audit.count('audit_pass_complete')
  const isEnough = (): boolean => Math.min(...Object.values(ends)) > 0 && spots >= SPOTS && passes() > 0
  while (performance.now() < endMs || !isEnough()) {
    for (const kind of ['compliance', 'provenance'] as const) {
      const { failed } = await runSpotPass({ url, ledgerId, kind }, vault)
      spots += 1
      if (Object.values(failed).some((count) => count > 0)) wrong.push(failed)
    }
    ends = { ...(await sql.unsafe<Record<string, number>[]>(ENDS))[0] }
  }
  trade.stop()
  await Promise.all(trading)
  await parties.atRest()
  await untilPasses(audit, 2)
  await untilSeen(ledger)
  await audit.auditor.stop()
  expect(await findingsOf(ledger)).toEqual([])
  expect(wrong).toEqual([])

  process.stdout.write(
    `audit of a ledger under load: ${JSON.stringify({ moves: trade.moves, spots, passes: passes(), ...ends })}\n`,
  )
})
