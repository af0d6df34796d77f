/**
 * Goal: arbitrary input gives a documented 2xx or 4xx, never a 5xx: decimal strings, account IDs, canonical JSON, page
 * tokens and query parameters, each through every door that it may come in by.
 */
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, membersOf } from '../support/client.ts'
import { type Members, signed, type Value } from '../support/client-keys.ts'
import type { GetRunning } from './running.ts'

const DOCUMENTED: ReadonlySet<number> = new Set([200, 201, 202, 400, 403, 404, 409, 413])
const RUNS = { numRuns: 120 }

/** Texts that look like what is meant, and texts that look like nothing. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 200 }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '%',
    '%00',
    '\0',
    '-1',
    '1e3',
    'NaN',
    '\u202e',
    '😀',
    "' OR 1=1 --",
    '${x}',
    '__proto__',
  ),
)
const decimal = fc.oneof(
  text,
  fc.stringMatching(/^[0-9]{1,25}(\.[0-9]{1,25})?$/),
  fc.stringMatching(/^(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/),
  fc.constantFrom('0', '0.0', '00', '1.', '.5', '+1', '-0', '1,5', '٣', '999999999999999999.999999999999999999'),
)
const accountId = fc.oneof(text, fc.stringMatching(/^[A-Za-z0-9_.:@-]{1,130}$/))
const json = fc.jsonValue({ maxDepth: 6 })

function expectDocumented(reply: HttpReply, what: unknown): void {
  if (!DOCUMENTED.has(reply.status)) throw new Error(`${reply.status} ${reply.body} to ${JSON.stringify(what)}`)
  if (reply.status < 400) return
  const { error_codes: codes, status, errors } = membersOf(reply)
  const said = Array.isArray(codes) && codes.length > 0 && codes.every((code) => /^ERR_[A-Z_]+$/.test(String(code)))
  if (!said || status !== reply.status || (status === 400 && !Array.isArray(errors))) {
    throw new Error(`no documented problem: ${reply.body} to ${JSON.stringify(what)}`)
  }
}

export function arbitrarySuite(running: GetRunning): void {
  describe('arbitrary input', () => {
    let holder: Holder
    const path = (value: string): string => encodeURIComponent(value)

    beforeAll(async () => {
      holder = await running().client.register('target@arbitrary')
    })

    async function expectPost(where: string, body: Members | string): Promise<void> {
      expectDocumented(await running().client.post(where, body), { where, body })
    }

    async function expectGet(where: string): Promise<void> {
      expectDocumented(await running().client.get(where), where)
    }

    test('a decimal string, as an amount, a supply and a filter', async () => {
      await fc.assert(
        fc.asyncProperty(decimal, async (amount) => {
          const fields = { account_id: holder.accountId, type: 'credit', amount, idempotency_key: randomUUID() }
          await expectPost('/v1/transactions', signed(fields, holder.keys.privateKey))
          const token = { symbol: `A${randomUUID()}`, decimals: 18, issuer: 'issuer@arbitrary', total_supply: amount }
          await expectPost('/v1/fungible-tokens', token)
          await expectGet(`/v1/transactions?amount_min=${path(amount)}&amount_max=${path(amount)}`)
        }),
        RUNS,
      )
    })

    test('an account ID, in paths, bodies and filters', async () => {
      await fc.assert(
        fc.asyncProperty(accountId, async (id) => {
          for (const rest of [
            '',
            '/state',
            '/balances',
            '/balances/BASE',
            '/nfts',
            '/audit-chain',
            '/liability-proof',
          ]) {
            await expectGet(`/v1/accounts/${path(id)}${rest}`)
          }
          await expectGet(`/v1/transactions?account_id=${path(id)}`)
          await expectPost('/v1/accounts', { account_id: id, public_key: 'no key' })
          const fields = { account_id: id, type: 'credit', amount: '1', idempotency_key: 'k', signature: 'AAAA' }
          await expectPost('/v1/transactions', fields)
          const moved = { account_id: holder.accountId, type: 'transfer', to_account_id: id, amount: '1' }
          await expectPost(
            '/v1/transactions',
            signed({ ...moved, idempotency_key: randomUUID() }, holder.keys.privateKey),
          )
          await expectPost('/v1/nft-classes', { name: id, description: id, issuer: id, metadata_schema: {} })
          await expectGet(`/v1/nft-classes/${path(id)}/instances/${path(id)}/provenance?max_depth=${path(id)}`)
          await expectGet(`/v1/attestations?source=${path(id)}&asset_class=${path(id)}&subject_instance=${path(id)}`)
        }),
        RUNS,
      )
    })

    test('JSON of any shape, in every body', async () => {
      const doors = [
        '/v1/accounts',
        '/v1/accounts/target@arbitrary/keys',
        '/v1/transactions',
        '/v1/fungible-tokens',
        '/v1/nft-classes',
        `/v1/nft-classes/cls_${'0'.repeat(26)}/instances`,
        '/v1/settlement-groups',
        `/v1/settlement-groups/${randomUUID()}/revert`,
        '/v1/attestations',
        '/v1/assertions/verify',
      ]
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...doors), json, json, text, async (door, value, member, name) => {
          await expectPost(door, JSON.stringify(value))
          const fields: Members = { [name]: member as Value, metadata: value as Value, receive: value as Value }
          const order = { account_id: holder.accountId, type: 'transfer', amount: '1', idempotency_key: randomUUID() }
          await expectPost(door, { ...order, legs: value as Value, metadata_schema: member as Value, ...fields })
          await expectPost('/v1/transactions', signed({ ...order, metadata: value as Value }, holder.keys.privateKey))
        }),
        RUNS,
      )
    })

    test('page tokens and query parameters, in every list', async () => {
      const { client } = running()
      const { next_page_token: good } = await client.read('/v1/transactions?page_size=1&order=asc')
      const lists = [
        '/v1/transactions',
        '/v1/transactions/group/0f8fad5b-d9cb-469f-a165-70867728950e',
        '/v1/fungible-tokens',
        '/v1/nft-classes',
        '/v1/attestations',
        '/v1/shards',
        '/v1/accounts/target@arbitrary/balances',
        '/v1/accounts/target@arbitrary/audit-chain',
      ]
      const names = fc.constantFrom(
        'account_id',
        'amount_max',
        'date_from',
        'date_to',
        'group_id',
        'idempotency_key',
        'order',
        'page_size',
        'page_token',
        'status',
        'token_class',
        'token_id',
        'type',
      )
      const damaged = fc
        .nat(String(good).length)
        .map((at) => `${String(good).slice(0, at)}A${String(good).slice(at + 1)}`)
      const value = fc.oneof(
        text,
        decimal,
        damaged,
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      )
      const query = fc.array(fc.tuple(fc.oneof(names, names, text), value), { maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...lists), query, async (list, parameters) => {
          const search = parameters.map(([name, of]) => `${path(name)}=${path(of)}`).join('&')
          await expectGet(`${list}?${search}`)
        }),
        { numRuns: 300 },
      )
    })

    test('and the ledger goes on', async () => {
      const { client } = running()
      const fields = { type: 'credit', amount: '1', idempotency_key: randomUUID() }
      expect((await client.submit(holder, fields)).status).toBe(202)
    })
  })
}
