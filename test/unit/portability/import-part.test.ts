/** Tests P1 to P3 of import-part.ts. */
import { describe, expect, test } from 'vitest'
import { canonicalJson, type JsonObject } from '../../../actors/canonical-json.ts'
import { lineHash } from '../../../api/schemas/requests/export-records.ts'
import { checkPart, type Before, type PartContext, type PartVerdict } from '../../../infra/portability/import-part.ts'
import type { RecordBody } from '../../../infra/portability/export-lines.ts'
import type { FakeServiceKeys } from '../api/fakes/fake-service-keys.ts'
import { anAccount, AUDIENCE, ledgerBody, SOURCE, TOKEN_BODY } from './export-scene.ts'
import {
  aClass,
  anAttestation,
  anInstance,
  contextOf,
  fileOf,
  given,
  trustedOf,
  usedKeys,
  wholeFile,
} from './import-scene.ts'

/** Code and field of all faults, or the refusal. */
function told(verdict: PartVerdict): readonly string[] {
  if (verdict.ok) return []
  if (verdict.refusal === 'ill_formed') return ['ill_formed']
  const { refusal } = verdict
  return refusal.kind === 'invalid'
    ? refusal.faults.map(({ code, field }) => `${code} ${field}`)
    : [`${refusal.kind} ${refusal.field}`]
}

async function judge(
  bodies: (keys: FakeServiceKeys) => readonly RecordBody[],
  change: (records: JsonObject[], keys: FakeServiceKeys) => readonly JsonObject[] = (records) => records,
  changeContext: (context: PartContext, keys: FakeServiceKeys) => PartContext = (context) => context,
): Promise<PartVerdict> {
  const { keys, records } = await fileOf(bodies)
  const changed = change(structuredClone([...records]), keys)
  const last = changed.at(-1)?.['record'] === 'proof'
  return checkPart(given(changed), last, undefined, changeContext(contextOf(keys), keys))
}

function withLine(records: readonly JsonObject[], line: number, changes: JsonObject): JsonObject[] {
  return records.map((record) => (record['line'] === line ? { ...record, ...changes } : record))
}

describe('the check of a part', () => {
  test('a whole file is accepted, and its balances are decrypted', async () => {
    const verdict = await judge(wholeFile)
    expect(told(verdict)).toEqual([])
    if (!verdict.ok) throw new Error('refused')
    const { staged, source, end } = verdict.part
    expect(source).toEqual({ ledgerId: SOURCE, partial: true, keySalt: '0123456789abcdef0123456789abcdef' })
    expect([...staged.balances.values()].map((opened) => Object.fromEntries(opened))).toEqual([
      { BASE: '1.5', GOLD: '5' },
      { GOLD: '0.25' },
    ])
    expect(staged.text.split('\n')).toHaveLength(12)
    expect(end.lines).toBe(11)
  })

  test('a file in parts ends like one in a single part', async () => {
    const { keys, records } = await fileOf()
    const whole = await checkPart(given(records), true, undefined, contextOf(keys))
    let before: Before | undefined
    let text = ''
    for (const [index, record] of records.entries()) {
      const verdict = await checkPart(given([record]), index === records.length - 1, before, contextOf(keys))
      expect(told(verdict)).toEqual([])
      if (!verdict.ok) return
      before = verdict.part
      text += verdict.part.staged.text
    }
    expect(whole.ok && [whole.part.end, whole.part.staged.text]).toEqual([before?.end, text])
  })

  test.for<[string, (records: JsonObject[]) => readonly JsonObject[], readonly string[]]>([
    ['one that is missing', (all) => all.toSpliced(2, 1), ['field records[2].line']],
    [
      'two that changed places',
      (all) => [...all.slice(0, 6), all[9] ?? {}, ...all.slice(7, 9), all[6] ?? {}, ...all.slice(10)],
      ['field records[6].line'],
    ],
    ['one that stands twice', (all) => [...all.slice(0, 2), all[1] ?? {}, ...all.slice(2)], ['field records[2].line']],
    ['one that was changed', (all) => withLine(all, 1, { decimals: 3 }), ['field records[2].previous_hash']],
    ['a beginning that is missing', (all) => all.slice(1), ['field records[0].line', 'field records[0].record']],
  ])('P1: of lines that do not follow each other the first is named: %s', async ([, change, expected]) => {
    const found = told(await judge(wholeFile, change))
    expect(found.slice(0, expected.length)).toEqual(expected)
  })

  test('P1: the message names the line of the file', async () => {
    const verdict = await judge(wholeFile, (all) => all.toSpliced(4, 1))
    const refusal = verdict.ok || verdict.refusal === 'ill_formed' ? undefined : verdict.refusal
    expect(refusal?.kind === 'invalid' && refusal.faults[0]?.message).toContain('line 4 is missing')
  })

  test.for<[string, (keys: FakeServiceKeys) => readonly RecordBody[], readonly string[]]>([
    ['a token behind an account', () => [ledgerBody(), anAccount('bob'), TOKEN_BODY], ['field records[2].record']],
    ['two ledgers', () => [ledgerBody(), ledgerBody()], ['field records[1].record']],
    ['used keys without their account', () => [ledgerBody(), usedKeys('bob', 0)], ['field records[1].record']],
    ['used keys of another', () => [ledgerBody(), anAccount('bob'), usedKeys('eve', 0)], ['field records[2].record']],
    [
      'used keys with a gap',
      () => [ledgerBody(), anAccount('bob'), usedKeys('bob', 0), usedKeys('bob', 2)],
      ['field records[3].record'],
    ],
  ])('records come in the order of their kinds: %s', async ([, bodies, expected]) => {
    expect(told(await judge(bodies))).toEqual(expected)
  })

  test('the proof must end the last part', async () => {
    const { keys, records } = await fileOf()
    expect(told(await checkPart(given(records), false, undefined, contextOf(keys)))).toEqual([
      'field records[10].record',
    ])
    expect(told(await checkPart(given(records.slice(0, 10)), true, undefined, contextOf(keys)))).toEqual([
      'proof_hash last',
    ])
  })

  test('P2: a balance encrypted for another account or token, or not at all, is refused', async () => {
    const [alice, bob] = [anAccount('alice', { GOLD: '1', BASE: '2' }), anAccount('bob', { GOLD: '1' })]
    if (alice.record !== 'account' || bob.record !== 'account') throw new Error('no accounts')
    const [gold, base] = alice.balances
    const stolen = { ...bob, balances: [{ token_id: 'GOLD', encrypted_balance: gold?.encrypted_balance ?? '' }] }
    const swapped = { ...alice, balances: [{ token_id: 'GOLD', encrypted_balance: base?.encrypted_balance ?? '' }] }
    const made = { ...alice, account_id: 'carol', balances: [{ token_id: 'GOLD', encrypted_balance: 'e30..a.b.c' }] }
    expect(told(await judge(() => [ledgerBody(), TOKEN_BODY, swapped, stolen, made]))).toEqual([
      'balance records[2].balances[0].encrypted_balance',
      'balance records[3].balances[0].encrypted_balance',
      'balance records[4].balances[0].encrypted_balance',
    ])
  })

  test('P1: a malformed proof has no further faults', async () => {
    const { keys, records } = await fileOf()
    const proof = { record: { ...records.at(-1), requester: '' }, wellFormed: false }
    const parts = [...given(records.slice(0, -1)), proof]
    expect(await checkPart(parts, true, undefined, contextOf(keys))).toEqual({ ok: false, refusal: 'ill_formed' })
  })

  test('P2: an account has one balance of a token', async () => {
    const alice = anAccount('alice', { GOLD: '1' })
    if (alice.record !== 'account') throw new Error('no account')
    const twice = { ...alice, balances: [...alice.balances, ...alice.balances] }
    expect(told(await judge(() => [ledgerBody(), TOKEN_BODY, twice]))).toEqual([
      'balance records[2].balances[1].token_id',
    ])
  })

  test('P1: other faults of a malformed record are reported, too', async () => {
    const { keys, records } = await fileOf(() => [ledgerBody(), anAccount('alice')])
    const damaged = { ...records[1], balances: [{ token_id: 'GOLD', encrypted_balance: 'e30..a.b.c' }] }
    const verdict = await checkPart(
      [...given(records.slice(0, 1)), { record: damaged, wellFormed: false }],
      false,
      undefined,
      contextOf(keys),
    )
    expect(told(verdict)).toEqual(['balance records[1].balances[0].encrypted_balance'])
    const alone = [...given(records.slice(0, 1)), { record: records[1] ?? {}, wellFormed: false }]
    expect(told(await checkPart(alone, false, undefined, contextOf(keys)))).toEqual(['ill_formed'])
  })

  test('an export to another ledger, or one that cannot be decrypted, is refused', async () => {
    const elsewhere = { ...ledgerBody(), audience: SOURCE } as RecordBody
    expect(told(await judge(() => [elsewhere, anAccount('bob')]))).toContain('wrong_ledger records[0].audience')
    const unread = { ...ledgerBody(), encrypted_key_salt: 'e30..a.b.c' } as RecordBody
    expect(told(await judge(() => [unread, anAccount('bob')]))).toEqual(['field records[0].encrypted_key_salt'])
  })

  test.for<[string, (body: RecordBody) => RecordBody, string]>([
    ['another hash', (body) => changedEvent(body, 1, { event_hash: `sha256:${'0'.repeat(64)}` }), 'history[1]'],
    ['another giver', (body) => changedEvent(body, 1, { from: 'mallory' }), 'history[1]'],
    [
      'no mint',
      (body) => (body.record === 'nft_instance' ? { ...body, history: body.history.slice(1) } : body),
      'history[0]',
    ],
    ['another owner', (body) => ({ ...body, owner: 'mallory' }) as RecordBody, 'owner'],
    ['another status', (body) => ({ ...body, status: 'burned' }) as RecordBody, 'status'],
  ])('a history that does not hold is refused, with its entry: %s', async ([, change, field]) => {
    const damaged = change(anInstance('milkmaid', ['alice', 'bob']))
    expect(told(await judge(() => [ledgerBody(), aClass(), damaged]))).toEqual([`field records[2].${field}`])
  })

  test('an attestation that the exporting ledger did not sign is refused', async () => {
    const changed = (keys: FakeServiceKeys): RecordBody => {
      const body = anAttestation(keys)
      return body.record === 'attestation'
        ? { ...body, attestation: { ...body.attestation, statement: 'Broken.' } }
        : body
    }
    expect(told(await judge((keys) => [ledgerBody(), changed(keys)]))).toEqual([
      'signature records[1].attestation.signature',
    ])
    const foreign = (keys: FakeServiceKeys): RecordBody => anAttestation(keys, { key_id: keys.current('assertion') })
    expect(told(await judge((keys) => [ledgerBody(), foreign(keys)]))).toEqual([
      'signature records[1].attestation.signature',
    ])
    const early = (keys: FakeServiceKeys): RecordBody => anAttestation(keys, { created_at: '2001-01-01T00:00:00.000Z' })
    expect(told(await judge((keys) => [ledgerBody(), early(keys)]))).toEqual([
      'signature records[1].attestation.signature',
    ])
  })

  test('the key of an imported attestation must have been in use at its import, not its creation', async () => {
    const OLD = '2001-01-01T00:00:00.000Z'
    const AT = '2025-10-09T08:53:20.000Z'
    const of = (changes: JsonObject) => judge((keys) => [ledgerBody(), anAttestation(keys, changes)])
    const submitted_by = `import ${SOURCE}`
    const revoked = { status: 'revoked', revoked_at: OLD, revoked_by: 'backend' }
    expect(told(await of({ created_at: OLD, imported_at: AT, submitted_by }))).toEqual([])
    expect(told(await of({ ...revoked, created_at: OLD, imported_at: AT, submitted_by }))).toEqual([])
    expect(told(await of({ ...revoked, created_at: OLD, imported_at: OLD, revoked_at: AT, submitted_by }))).toEqual([])
    const refused = ['signature records[1].attestation.signature']
    expect(told(await of({ created_at: OLD, imported_at: OLD, submitted_by }))).toEqual(refused)
    expect(told(await of({ created_at: OLD, imported_at: 'once', submitted_by }))).toEqual(refused)
  })

  test('P3: an export of an untrusted ledger is refused, once there are no other faults', async () => {
    const untrusting = (context: PartContext): PartContext => ({ ...context, trusted: new Map() })
    expect(told(await judge(wholeFile, undefined, untrusting))).toEqual(['untrusted records[0].ledger_id'])
    const missing = await judge(wholeFile, (all) => all.toSpliced(2, 1), untrusting)
    expect(told(missing)[0]).toBe('field records[2].line')
  })

  test.for<[string, (keys: FakeServiceKeys) => PartContext['trusted']]>([
    ['is not pinned', (keys) => trustedOf(keys, { keyId: 'another' })],
    ['is not for assertions', (keys) => trustedOf(keys, { purpose: 'attestation' })],
    ['was revoked', (keys) => trustedOf(keys, { revokedAtMs: 1 })],
    ['had retired', (keys) => trustedOf(keys, { activeFromMs: 0, retiredAtMs: 1_759_999_999_999 })],
    ['was not in use yet', (keys) => trustedOf(keys, { activeFromMs: 1_760_000_000_001 })],
  ])('P3: a proof by a key that %s is refused', async ([, trusted]) => {
    const bodies = () => [ledgerBody(), anAccount('bob')]
    const verdict = await judge(bodies, undefined, (context, keys) => ({ ...context, trusted: trusted(keys) }))
    expect(told(verdict)).toEqual(['untrusted records[2].key_id'])
  })

  test('P3: a changed proof is refused as a signature mismatch', async () => {
    const bodies = () => [ledgerBody(), anAccount('bob')]
    const verdict = await judge(bodies, (all) => withLine(all, 2, { requester: 'Another Requester' }))
    expect(told(verdict)).toEqual(['mismatch records[2].signature'])
  })

  test('a proof with another ledger or audience is refused', async () => {
    const bodies = () => [ledgerBody(), anAccount('bob')]
    const changes = { ledger_id: AUDIENCE, audience: SOURCE }
    expect(told(await judge(bodies, (all) => withLine(all, 2, changes)))).toEqual([
      'field records[2].ledger_id',
      'wrong_ledger records[2].audience',
    ])
  })

  test('the signature reveals a change of a record and all hashes after it', async () => {
    const { keys, records } = await fileOf(() => [ledgerBody(), TOKEN_BODY, anAccount('bob')])
    const forged: JsonObject[] = records.map((record) => ({ ...record }))
    forged[1] = { ...forged[1], total_supply: '1000' }
    for (const [index, record] of forged.entries()) {
      const before = forged[index - 1]
      if (before !== undefined) forged[index] = { ...record, previous_hash: lineHash(canonicalJson(before)) }
    }
    expect(told(await checkPart(given(forged), true, undefined, contextOf(keys)))).toEqual([
      'mismatch records[3].signature',
    ])
  })
})

function changedEvent(body: RecordBody, number: number, changes: JsonObject): RecordBody {
  if (body.record !== 'nft_instance') return body
  return { ...body, history: body.history.map((event, index) => (index === number ? { ...event, ...changes } : event)) }
}
