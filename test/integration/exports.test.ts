/** D20: an export is a consistent snapshot of the ledger, and only its receiver can read balances and used keys. */
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { accountScopeOf } from '../../actors/account-scope.ts'
import { isoTimestamp } from '../../actors/timestamp.ts'
import { attestationMembers } from '../../api/views/attestation-views.ts'
import { jwkOf } from '../../infra/keys/public-key.ts'
import { UnreadableRow } from '../../infra/vault/unreadable-row.ts'
import { ExportsUnavailable } from '../../runtime/ports/ledger-exports.ts'
import type { KeyUse } from '../../actors/account/commands.ts'
import { usedKeyHash } from '../support/reference-encoding.ts'
import { numberedKeys } from '../support/audited-ledger.ts'
import { attest, contentOf, ORDER, OTHER_LEDGER, outcomeOf, Received, withExportsLedger } from './exports-ledger.ts'

describe('an export', () => {
  const ledger = withExportsLedger(async (opened) => {
    await attest(opened, opened.told.travelled, opened.told.bob.accountId)
    await attest(opened, opened.told.kept, 'a-stranger')
  })
  const received = async (order: Parameters<typeof contentOf>[1] = {}): Promise<Received> =>
    Received.of(ledger(), await contentOf(ledger().exports, order))

  test('of all equals the reads of the API, and its receiver can decrypt balances and salt', async () => {
    const { reads, attestations, ledgerId } = ledger()
    const all = await received()
    expect(all.all('ledger')).toMatchObject([
      { ledger_id: ledgerId, audience: ORDER.audience, mode: 'copy', partial: false, format: 1 },
    ])
    const { tokens } = await reads.tokens(null, 100)
    expect(
      all.all('token').map(({ symbol, total_supply: supply, issuer, decimals }) => [symbol, supply, issuer, decimals]),
    ).toEqual(tokens.map(({ tokenId, totalSupply, issuer, decimals }) => [tokenId, totalSupply, issuer, decimals]))
    expect(tokens.length).toBe(2)
    const { classes } = await reads.nftClasses(null, 100)
    expect(
      all.all('nft_class').map(({ class_id: id, metadata_schema: schema, issuer }) => [id, schema, issuer]),
    ).toEqual(classes.map(({ classId, metadataSchema, issuer }) => [classId, metadataSchema, issuer]))
    await expectInstances(all)
    const { attestations: stated } = await attestations.attestations({
      subjectClass: null,
      subjectInstance: null,
      assetClass: null,
      attester: null,
      status: null,
      limit: 100,
      after: null,
    })
    expect(all.all('attestation').map(({ attestation }) => attestation)).toEqual(
      stated.toReversed().map((one) => attestationMembers(one)),
    )
    expect(stated.length).toBeGreaterThan(1)
    await expectAccounts(all)
    expect(all.keySalt()).toMatch(/^[0-9a-f]{32}$/)
  })

  async function expectInstances(all: Received): Promise<void> {
    const { reads, told } = ledger()
    const page = await reads.instances(told.classId, null, 100)
    const instances = page?.instances ?? []
    expect(instances.length).toBe(3)
    const found = new Map(all.all('nft_instance').map((record) => [record.instance_id, record]))
    expect([...found.keys()].sort()).toEqual(instances.map(({ instanceId }) => instanceId).sort())
    for (const { classId, instanceId, owner, status, metadata, mintedAtMs } of instances) {
      const history = (await reads.nftHistory(classId, instanceId, -1, 100))?.events ?? []
      const record = found.get(instanceId)
      expect(record).toMatchObject({ class_id: classId, owner, status, metadata, minted_at: isoTimestamp(mintedAtMs) })
      expect(
        record?.history.map(({ type, from, to, payload, txn_id: txnId }) => [type, from, to, payload, txnId]),
      ).toEqual(history.map(({ type, from, to, payload, txnId }) => [type, from, to, payload, txnId]))
    }
  }

  async function expectAccounts(all: Received): Promise<void> {
    const { reads } = ledger()
    const { accounts, count } = await reads.accounts(null, 100)
    expect(count).toEqual({ total: all.all('account').length, exact: true })
    for (const { accountId, auditHash, createdAtMs, key, status, updatedAtMs } of accounts) {
      const record = all.account(accountId)
      const { total: entries } = (await reads.auditChain(accountId, -1, 1)) ?? { total: 0 }
      expect(record).toMatchObject({
        status,
        public_key: key === null ? null : jwkOf(key.publicKey),
        audit_hash: `sha256:${auditHash}`,
        created_at: isoTimestamp(createdAtMs),
        updated_at: isoTimestamp(updatedAtMs),
      })
      expect(record.txn_count).toBeLessThan(entries)
      const balances = (await reads.balances(accountId)) ?? []
      const held = balances.filter(({ balance }) => balance !== '0').map(({ tokenId, balance }) => [tokenId, balance])
      expect(all.balances(accountId)).toEqual(Object.fromEntries(held))
    }
  }

  test('has the used idempotency keys as salted hashes by operation', async () => {
    const { parties, told, node } = ledger()
    const carol = await parties.open('carol')
    await parties.submit(carol, { type: 'credit', amount: '5', idempotency_key: 'the first key' })
    await parties.submit(carol, { type: 'debit', amount: '500', idempotency_key: 'the key of what failed' })
    await parties.submit(told.alice, { type: 'transfer', amount: '1', to_account_id: 'carol' })
    await parties.rotate(carol)
    const classId = await parties.registerClass('Carol’s', carol)
    await parties.mint(carol, classId, 'one')
    await parties.atRest()
    const all = await received()
    const salt = all.keySalt()
    const hashes = all.usedKeys('carol')
    const isUsed = (operation: KeyUse['operation'], idempotencyKey: string): boolean =>
      hashes.has(usedKeyHash(salt, 'carol', { operation, idempotencyKey }))
    expect(isUsed('transaction', 'the first key')).toBe(true)
    expect(isUsed('transaction', 'the key of what failed')).toBe(true)
    const numbered = numberedKeys()
    expect(numbered.filter((key) => isUsed('key_rotation', key))).toHaveLength(1)
    expect(numbered.filter((key) => isUsed('mint', key))).toHaveLength(1)
    // A transfer to Carol and her registration use no key of hers.
    expect(hashes.size).toBe(4)
    expect(node.ledgerId).not.toBe(ORDER.audience)
    expect((await received()).keySalt()).toBe(salt)
    expect((await received({ audience: OTHER_LEDGER })).keySalt()).not.toBe(salt)
    for (const secret of ['the first key', 'the key of what failed', salt]) expect(all.text).not.toContain(secret)
  })

  test('has no balance in plain text', async () => {
    const { parties } = ledger()
    const dora = await parties.open('dora')
    await parties.submit(dora, { type: 'credit', amount: '98765432109.8765' })
    await parties.atRest()
    const all = await received({ accountIds: ['dora'] })
    expect(all.balances('dora')).toEqual({ BASE: '98765432109.8765' })
    expect(all.text).not.toContain('98765432109')
    expect(new Set(all.account('dora').balances.map((one) => Object.keys(one).sort().join()))).toEqual(
      new Set(['encrypted_balance,token_id']),
    )
  })

  test('of some accounts has these accounts, their tokens, and their NFTs with classes and attestations', async () => {
    const { told, parties } = ledger()
    await parties.issue('BRONZE-1', told.alice.accountId, '5')
    const some = await received({ accountIds: [told.bob.accountId] })
    expect(some.all('ledger')).toMatchObject([{ partial: true }])
    expect(some.all('account').map(({ account_id: id }) => id)).toEqual([told.bob.accountId])
    expect(some.all('token').map(({ symbol }) => symbol)).toEqual(['GOLD-told'])
    expect(some.all('nft_class').map(({ class_id: id }) => id)).toEqual([told.classId])
    expect(some.all('nft_instance').map(({ instance_id: id }) => id)).toEqual(['travelled'])
    expect(some.all('attestation').map(({ attestation }) => attestation['subject_instance'])).toEqual(['travelled'])
    expect(some.usedKeys(told.bob.accountId).size).toBeGreaterThan(5)
    expect(some.all('used_keys').every(({ account_id: id }) => id === told.bob.accountId)).toBe(true)
  })

  test('is refused if an account does not exist or is outside the scope of the client, and names the field', async () => {
    const { exports, told } = ledger()
    const accountIds = [told.alice.accountId, 'nobody']
    expect(outcomeOf(await exports.begin({ ...ORDER, accountIds }))).toBe(
      'not_found account_ids[1]: There is no such account.',
    )
    const scope = accountScopeOf(['nobody', 'bob-*'])
    expect(outcomeOf(await exports.begin({ ...ORDER, scope, accountIds }))).toBe(
      'not_found account_ids[0]: There is no such account.',
    )
  })

  test('of all has, for a client with an account scope, only the accounts of the scope', async () => {
    for (const entries of [['bob-*'], ['bob-told', 'nobody-at-all']]) {
      const scoped = await received({ scope: accountScopeOf(entries) })
      expect(scoped.all('account').map(({ account_id: id }) => id)).toEqual(['bob-told'])
      expect(scoped.all('ledger')).toMatchObject([{ partial: true }])
      expect(scoped.all('nft_instance').map(({ instance_id: id }) => id)).toEqual(['travelled'])
    }
    const none = await received({ scope: accountScopeOf(['nobody-*']) })
    expect(
      ['account', 'token', 'nft_class', 'nft_instance', 'attestation'].flatMap((kind) => none.all(kind as 'account')),
    ).toEqual([])
  })

  test('is a snapshot despite later commits, and reads rows only as fast as its reader', async () => {
    const { parties, told, vault, exportsWith } = ledger()
    // The attestations precede the accounts and exceed the buffer of a reader.
    for (let count = 0; count < 300; count += 1) await attest(ledger(), told.kept, 'a-stranger', 'x'.repeat(4_000))
    let opened = 0
    const counting = {
      ...vault,
      open: (...args: Parameters<typeof vault.open>) => ((opened += 1), vault.open(...args)),
    }
    const before = await received({ accountIds: [told.alice.accountId, told.bob.accountId] })
    const begun = await exportsWith({ vault: counting }).begin(ORDER)
    if (begun.kind !== 'begun') throw new Error(begun.kind)
    const reader = begun.content.getReader()
    const first = await reader.read()
    await parties.submit(told.alice, { type: 'transfer', amount: '3', to_account_id: told.bob.accountId })
    await parties.submit(told.alice, { type: 'mint', amount: '2', token_id: 'GOLD-told' })
    await parties.atRest()
    expect(opened).toBeLessThan(250)
    reader.releaseLock()
    const rest = await text(begun.content)
    expect(opened).toBeGreaterThan(300)
    const read = await Received.of(ledger(), Buffer.from(first.value ?? []).toString('utf8') + rest)
    for (const { accountId } of [told.alice, told.bob]) {
      expect(read.balances(accountId)).toEqual(before.balances(accountId))
      expect(read.account(accountId).audit_hash).toBe(before.account(accountId).audit_hash)
    }
    const after = await received()
    expect(after.balances(told.alice.accountId)).not.toEqual(before.balances(told.alice.accountId))
    const supply = (of: Received): string | undefined =>
      of.all('token').find(({ symbol }) => symbol === 'GOLD-told')?.total_supply
    expect(supply(read)).toBe(supply(before))
    expect(supply(after)).not.toBe(supply(before))
  })

  test('runs one at a time, and ends when its reader cancels or its deadline passes', async () => {
    const { exportsWith, logged } = ledger()
    const patient = exportsWith({})
    const abandoned = await patient.begin(ORDER)
    if (abandoned.kind !== 'begun') throw new Error(abandoned.kind)
    expect(await patient.begin(ORDER)).toEqual({ kind: 'busy' })
    await abandoned.content.cancel()
    const next = await patient.begin(ORDER)
    if (next.kind !== 'begun') throw new Error(next.kind)
    await next.content.cancel()
    const brief = exportsWith({ longestMs: 2_000 })
    const slow = await brief.begin(ORDER)
    if (slow.kind !== 'begun') throw new Error(slow.kind)
    const reader = slow.content.getReader()
    await expect(reader.closed).rejects.toThrow('reached its deadline')
    await expect(brief.begin(ORDER).then((begun) => begun.kind)).resolves.toBe('begun')
    expect(logged.filter(({ event }) => event === 'export_aborted').map(({ fields }) => fields['failure'])).toEqual(
      expect.arrayContaining(['ExportCancelled', 'ExportsUnavailable']),
    )
  })

  test.for([
    ['a balance is gone', `DELETE FROM balances WHERE account_id = $1 AND token_id = 'BASE'`],
    [
      'a balance is that of another token',
      `UPDATE balances SET token_id = 'OTHER' WHERE account_id = $1 AND token_id = 'BASE'`,
    ],
    [
      'the origin of a transaction is changed to `ledger`',
      `UPDATE transactions SET origin = 'ledger' WHERE account_id = $1`,
    ],
    ['a transaction is gone', `DELETE FROM transactions WHERE account_id = $1 AND status = 'failed'`],
    ['an account’s row is changed', `UPDATE accounts SET tip = decode(repeat('00', 32), 'hex') WHERE account_id = $1`],
    ['an account’s row is gone', `DELETE FROM accounts WHERE account_id = $1`],
    ['history is gone', `DELETE FROM nft_events WHERE to_account_id = $1 AND number = 1`],
  ] as const)('aborts if %s', async ([, damage]) => {
    const { sql, told, exports, vault, logged } = ledger()
    const ref = vault.accountRef(told.bob.accountId)
    const tables = ['balances', 'transactions', 'accounts', 'nft_events']
    for (const table of tables) await sql.unsafe(`CREATE TABLE kept_${table} AS TABLE ${table}`)
    try {
      await sql.unsafe(damage, [ref])
      const content = contentOf(exports).then(({ length }) => `complete, ${length} characters`)
      await expect(content).rejects.toSatisfy(
        (error) => error instanceof UnreadableRow || error instanceof ExportsUnavailable,
      )
      const last = logged.at(-1)
      expect(['export_aborted', 'export_failed']).toContain(last?.event)
      expect(JSON.stringify(last)).not.toContain(told.bob.accountId)
    } finally {
      for (const table of tables) {
        await sql.unsafe(`DELETE FROM ${table}`)
        await sql.unsafe(`INSERT INTO ${table} SELECT * FROM kept_${table}`)
        await sql.unsafe(`DROP TABLE kept_${table}`)
      }
    }
    expect((await received()).all('proof')).toHaveLength(1)
  })
})
