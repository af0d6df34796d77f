/** D20: a move empties accounts before it exports them. Repeated requests for the move return the same content. */
import { beforeEach, describe, expect, test } from 'vitest'
import { WHOLE_SCOPE, accountScopeOf } from '../../actors/account-scope.ts'
import { accountAddress } from '../../actors/address.ts'
import type { GatewayRequest, LedgerGateway } from '../../runtime/edge/ledger-gateway.ts'
import type { BegunExport, ExportOrder } from '../../runtime/ports/ledger-exports.ts'
import type { Party } from '../support/audited-ledger.ts'
import { AUDIENCE } from '../unit/portability/export-scene.ts'
import { attest, contentOf, ORDER, OTHER_LEDGER, outcomeOf, Received, withExportsLedger } from './exports-ledger.ts'

describe('moved accounts', () => {
  const ledger = withExportsLedger()
  let rich: Party
  let poor: Party
  let serial = 0
  const begin = (order: Partial<ExportOrder>): Promise<BegunExport> =>
    ledger().exports.begin({ ...ORDER, mode: 'move', ...order })
  const received = async (order: Partial<ExportOrder>): Promise<Received> =>
    Received.of(ledger(), await contentOf(ledger().exports, { mode: 'move', ...order }))
  /** Checks copies for an unrestricted client and for clients with both account scopes. */
  const expectLeftOut = async (left: string, kept: string): Promise<void> => {
    const scopes = [WHOLE_SCOPE, accountScopeOf([left, kept]), accountScopeOf([`${left.slice(0, -1)}*`, kept])]
    for (const scope of scopes) {
      const copy = await received({ mode: 'copy', accountIds: null, scope })
      const ids = copy.all('account').map(({ account_id: id }) => id)
      expect([ids.includes(left), ids.includes(kept)]).toEqual([false, true])
      expect(copy.usedKeys(left).size).toBe(0)
    }
  }
  const balancesOf = async (accountId: string): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      ((await ledger().reads.balances(accountId)) ?? [])
        .filter(({ balance }) => balance !== '0')
        .map(({ tokenId, balance }) => [tokenId, balance]),
    )

  beforeEach(async () => {
    const { parties, told } = ledger()
    serial += 1
    rich = await parties.open(`rich-${serial}`)
    poor = await parties.open(`poor-${serial}`)
    await parties.submit(rich, { type: 'credit', amount: '12.5' })
    await parties.submit(told.alice, {
      type: 'transfer',
      amount: '3',
      token_id: 'GOLD-told',
      to_account_id: rich.accountId,
    })
    await parties.atRest()
    for (const party of [rich, poor]) await parties.changeStatus(party, 'frozen')
  })

  test('are emptied and closed here, exported with their former content, and exported alike again', async () => {
    const accountIds = [rich.accountId, poor.accountId]
    const first = await received({ accountIds })
    expect(first.all('ledger')).toMatchObject([{ mode: 'move', partial: true }])
    expect(first.balances(rich.accountId)).toEqual({ BASE: '12.5', 'GOLD-told': '3' })
    expect(first.balances(poor.accountId)).toEqual({})
    for (const accountId of accountIds) {
      expect(first.account(accountId).status).toBe('frozen')
      expect(await ledger().reads.account(accountId)).toMatchObject({ status: 'closed' })
      expect(await balancesOf(accountId)).toEqual({})
    }
    expect(first.all('token').map(({ symbol }) => symbol)).toEqual(['GOLD-told'])
    const again = await received({ accountIds })
    for (const accountId of accountIds) {
      const { line: _line, previous_hash: _hash, balances: _balances, ...record } = again.account(accountId)
      expect(first.account(accountId)).toMatchObject(record)
      expect(again.balances(accountId)).toEqual(first.balances(accountId))
      expect(again.usedKeys(accountId)).toEqual(first.usedKeys(accountId))
    }
  })

  test('cannot be moved to another ledger or copied afterwards', async () => {
    const accountIds = [rich.accountId]
    await received({ accountIds })
    expect(outcomeOf(await begin({ accountIds, audience: OTHER_LEDGER }))).toBe(
      `conflict account_ids[0]: Account ${rich.accountId} cannot be moved: it has moved, or is moving, to another ledger.`,
    )
    const copied = outcomeOf(await begin({ accountIds: [poor.accountId, ...accountIds], mode: 'copy' }))
    expect(copied).toBe(
      `conflict account_ids[1]: Account ${rich.accountId} has moved, or is moving, to another ledger. Export it to that ledger, in the mode \`move\`.`,
    )
    await expectLeftOut(rich.accountId, poor.accountId)
  })

  test('are left out of copies from the first step of the move', async () => {
    const { node } = ledger()
    const { accountId } = rich
    const depart = { kind: 'depart', audience: AUDIENCE, tokenId: 'BASE' } as const
    await node.ask(accountAddress(accountId), depart)
    expect(await ledger().reads.account(accountId)).toMatchObject({ status: 'frozen' })
    expect(outcomeOf(await begin({ accountIds: [accountId], mode: 'copy' }))).toContain('conflict account_ids[0]')
    await expectLeftOut(accountId, poor.accountId)
    expect((await received({ accountIds: [accountId] })).balances(accountId)).toEqual({
      BASE: '12.5',
      'GOLD-told': '3',
    })
  })

  test('are all unchanged if one of them cannot be moved', async () => {
    const { parties, told } = ledger()
    const active = await parties.open(`active-${serial}`)
    const cannot = async (other: string, why: string): Promise<void> => {
      const refused = outcomeOf(await begin({ accountIds: [rich.accountId, other] }))
      expect(refused).toBe(`conflict account_ids[1]: Account ${other} cannot be moved: ${why}`)
    }
    await cannot(active.accountId, 'it is active, and must be frozen.')
    const owner = await parties.open(`owner-${serial}`)
    await parties.mint(told.alice, told.classId, `of-${serial}`, owner.accountId)
    await parties.atRest()
    await parties.changeStatus(owner, 'frozen')
    await cannot(owner.accountId, 'it owns NFTs or is about to receive some.')
    const busy = await parties.open(`busy-${serial}`)
    await parties.submit(busy, { type: 'credit', amount: '1' })
    await parties.atRest()
    const leg = { account_id: busy.accountId, type: 'debit', amount: '1', token_id: 'BASE' }
    const back = { account_id: told.alice.accountId, type: 'credit', amount: '1', token_id: 'BASE' }
    const agreed = await parties.agree([leg, back])
    const { account_id: _accountId, ...fields } = leg
    await parties.submit(busy, { ...fields, ...agreed })
    await parties.delivered()
    await parties.changeStatus(busy, 'frozen')
    await cannot(busy.accountId, 'it has pending transactions or holds.')
    expect(await balancesOf(rich.accountId)).toEqual({ BASE: '12.5', 'GOLD-told': '3' })
    expect(await ledger().reads.account(rich.accountId)).toMatchObject({ status: 'frozen' })
    await parties.revert(String(agreed['group_id']))
  })

  test('are exported with a transfer that arrived during the move', async () => {
    const { parties, told, node } = ledger()
    let once = true
    const gateway: LedgerGateway = {
      ask: async (request: GatewayRequest) => {
        const { operation } = request
        if (operation.kind === 'depart' && operation.tokenId === null && once) {
          once = false
          const { accountId: to } = rich
          await parties.submit(told.alice, { type: 'transfer', amount: '1', to_account_id: to })
          await parties.atRest()
        }
        return node.gateway.ask(request)
      },
    }
    const exports = ledger().exportsWith({ gateway })
    const text = await contentOf(exports, { mode: 'move', accountIds: [rich.accountId] })
    const moved = await Received.of(ledger(), text)
    expect(moved.balances(rich.accountId)).toEqual({ BASE: '13.5', 'GOLD-told': '3' })
    expect(await balancesOf(rich.accountId)).toEqual({})
  })

  test('complete the move on a repeated request after a shard did not reply', async () => {
    const { node } = ledger()
    let asked = 0
    const gateway: LedgerGateway = {
      ask: (request) => {
        asked += 1
        if (asked < 3) return node.gateway.ask(request)
        return Promise.resolve({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'not_applied' })
      },
    }
    const accountIds = [rich.accountId, poor.accountId]
    const begun = await ledger()
      .exportsWith({ gateway })
      .begin({ ...ORDER, mode: 'move', accountIds })
    expect(begun).toEqual({ kind: 'unavailable', reason: 'shard_unavailable', outcome: 'unknown' })
    const moved = await received({ accountIds })
    expect(moved.balances(rich.accountId)).toEqual({ BASE: '12.5', 'GOLD-told': '3' })
    expect(moved.account(poor.accountId).status).toBe('frozen')
  })

  test('V2: a refusal during the move says that some accounts may have left; a repeat completes the move', async () => {
    const { node, parties } = ledger()
    const gateway: LedgerGateway = {
      ask: async (request) => {
        if (request.actor.id === poor.accountId) await parties.changeStatus(poor, 'active')
        return node.gateway.ask(request)
      },
    }
    const accountIds = [rich.accountId, poor.accountId]
    const begun = await ledger()
      .exportsWith({ gateway })
      .begin({ ...ORDER, mode: 'move', accountIds })
    expect(outcomeOf(begun)).toMatch(
      /^conflict account_ids\[1\]: Account poor-\d+ cannot be moved: .* Some accounts may have left already\. Repeat the request to continue the move\.$/,
    )
    await parties.changeStatus(poor, 'frozen')
    const moved = await received({ accountIds })
    expect(moved.balances(rich.accountId)).toEqual({ BASE: '12.5', 'GOLD-told': '3' })
  })
})

describe('erased accounts', () => {
  const ledger = withExportsLedger()
  const erase = async (accountId: string): Promise<void> => {
    const { node } = ledger()
    const actor = accountAddress(accountId)
    await node.ask(actor, { kind: 'change_status', status: 'closed', incoming: null, reason: 'a test' })
    await node.ask(actor, { kind: 'erase', reason: 'a test' })
  }

  test('are left out of an export of all, with their attestations, and cannot be exported by ID', async () => {
    const { parties, told, exports } = ledger()
    const gone = await parties.open('gone')
    const stated = await attest(ledger(), told.kept, gone.accountId)
    await parties.issue('RUST', gone.accountId, '0')
    await erase('gone')
    const all = await Received.of(ledger(), await contentOf(exports))
    expect(all.all('account').map(({ account_id: id }) => id)).not.toContain('gone')
    expect(all.all('attestation').map(({ attestation }) => attestation['attestation_id'])).not.toContain(stated)
    expect(all.text).not.toContain('"gone"')
    expect(all.all('token').find(({ symbol }) => symbol === 'RUST')?.issuer).toMatch(/^erased:[0-9a-f]{12}$/)
    expect(await exports.begin({ ...ORDER, accountIds: [told.bob.accountId, 'gone'] })).toEqual({
      kind: 'refused',
      code: 'conflict',
      detail: 'The account was erased and cannot be exported.',
      field: 'account_ids[1]',
    })
  })

  test('V1: block the move of an account that holds their token, and leave it unchanged', async () => {
    const { parties, told, exports, reads } = ledger()
    const [founder, holder] = [await parties.open('founder'), await parties.open('holder')]
    await parties.issue('SCRIP', founder.accountId, '5')
    const change = { type: 'transfer', amount: '5', token_id: 'SCRIP', to_account_id: holder.accountId }
    await parties.submit(founder, change)
    await parties.atRest()
    await parties.changeStatus(holder, 'frozen')
    await erase('founder')
    const order = { ...ORDER, mode: 'move', accountIds: [holder.accountId] } as const
    expect(outcomeOf(await exports.begin(order))).toBe(
      'conflict account_ids[0]: Account holder cannot be moved: it holds a token whose issuer was erased.',
    )
    expect(await reads.account(holder.accountId)).toMatchObject({ status: 'frozen' })
    expect((await reads.balances(holder.accountId))?.map(({ balance }) => balance)).toContain('5')
    const copy = await Received.of(ledger(), await contentOf(exports, { accountIds: [told.bob.accountId] }))
    expect(copy.all('account').map(({ account_id: id }) => id)).toEqual([told.bob.accountId])
  })

  test('block the export of an NFT whose history names them; the refusal names the NFT', async () => {
    const { parties, told, exports } = ledger()
    const passing = await parties.open('passing')
    const nft = await parties.mint(told.alice, told.classId, 'handed-on', passing.accountId)
    await parties.atRest()
    await parties.submit(passing, {
      type: 'transfer',
      class_id: told.classId,
      instance_id: 'handed-on',
      amount: '1',
      to_account_id: told.bob.accountId,
    })
    await parties.atRest()
    await erase('passing')
    const refused = `conflict -: The history of NFT ${nft} names an erased account.`
    expect(outcomeOf(await exports.begin(ORDER))).toBe(refused)
    expect(outcomeOf(await exports.begin({ ...ORDER, accountIds: [told.bob.accountId] }))).toBe(refused)
    const alice = await Received.of(ledger(), await contentOf(exports, { accountIds: [told.alice.accountId] }))
    expect(alice.all('nft_instance').map(({ instance_id: id }) => id)).toEqual(['kept'])
  })
})
