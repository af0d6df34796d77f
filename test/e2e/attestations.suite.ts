/** Goal: what is stated of an NFT is stored once, signed, found by every filter, and taken back for good (D11, D13). */
import { createPublicKey, verify } from 'node:crypto'
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, type LedgerClient, membersOf, send, textOf } from '../support/client.ts'
import { canonical, type Members, signed } from '../support/client-keys.ts'
import { fieldsOf, moved, newKey, outcomeOf } from '../support/client-moves.ts'
import { classOf, mintedTo, type Nft } from '../support/client-nfts.ts'
import type { GetScene } from './scene.ts'

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const PATH = '/v1/attestations'

export function attestationsSuite(scene: GetScene): void {
  describe('attestations', () => {
    submissions(scene)
    repeats(scene)
    revocations(scene)
    lists(scene)
    provenances(scene)
  })
}

/** A class of its own with one instance. */
async function anNft(client: LedgerClient, name: string): Promise<{ readonly issuer: Holder; readonly nft: Nft }> {
  const issuer = await client.register(`${name}@attested`)
  const classId = await classOf(client, `Attested ${name}`, issuer)
  return { issuer, nft: await mintedTo(client, issuer, { class_id: classId, instance_id: 'item' }) }
}

function statementOn(nft: Nft, changes: Members = {}): Members {
  return {
    attester: 'assay-office@london',
    subject_class: nft.class_id,
    subject_instance: nft.instance_id,
    attestation_type: 'assay',
    statement: 'Fine gold, 999.9 — weighed "by hand" \u{1f947}',
    ...changes,
  }
}

/** States what must be taken. */
async function stated(client: LedgerClient, nft: Nft, changes: Members = {}): Promise<Members> {
  const reply = await client.post(PATH, statementOn(nft, changes))
  if (reply.status !== 201) throw new Error(`attestation: ${reply.status} ${reply.body}`)
  return membersOf(reply)
}

function pathOf(attestation: Members): string {
  return `${PATH}/${textOf(attestation, 'attestation_id')}`
}

function revoke(client: LedgerClient, attestation: Members, body: Members = {}): Promise<HttpReply> {
  return client.post(`${pathOf(attestation)}/revoke`, body)
}

/** With nothing but the published keys: whether the service signed all of it but the signature. */
async function isSealed(client: LedgerClient, attestation: Members): Promise<boolean> {
  const { signature: _, ...rest } = attestation
  const jwks = membersOf(await send(client.origin, { method: 'GET', path: '/.well-known/jwks.json' }))
  const key = (jwks['keys'] as readonly Members[]).find(({ kid }) => kid === attestation['key_id'])
  if (key?.['purpose'] !== 'attestation') return false
  const publicKey = createPublicKey({ key: { ...key } as never, format: 'jwk' })
  const signature = Buffer.from(textOf(attestation, 'signature'), 'base64')
  return verify('sha256', Buffer.from(canonical(rest)), { key: publicKey, dsaEncoding: 'der' }, signature)
}

function submissions(scene: GetScene): void {
  test('D13: an attestation is 201 once it is stored: read at every edge right after, and signed by the service', async () => {
    const { client, elsewhere } = scene()
    const { nft } = await anNft(client, 'first')
    const body = statementOn(nft, {
      evidence_url: 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi',
    })
    const reply = await client.post(PATH, body)
    expect(reply.status).toBe(201)
    const made = membersOf(reply)
    expect(made).toEqual({
      ...body,
      attestation_id: expect.stringMatching(/^att_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      created_at: expect.stringMatching(TIMESTAMP),
      status: 'active',
      submitted_by: scene().cluster.clients.transactor.clientId,
      attester_verified: false,
      key_id: expect.any(String),
      signature: expect.any(String),
    })
    expect(reply.headers.location).toBe(pathOf(made))
    for (const edge of [elsewhere, client]) expect(await edge.read(pathOf(made))).toEqual(made)
    expect(await isSealed(client, made)).toBe(true)
    expect(await isSealed(client, { ...made, statement: 'Lead.' })).toBe(false)
  })

  test('D13: signed by the account that is named, it says so; signed by another key, it is refused', async () => {
    const { client } = scene()
    const { nft, issuer } = await anNft(client, 'signed')
    const attester = await client.register('attester@signed')
    const body = statementOn(nft, { attester: attester.accountId })
    const own = await client.post(PATH, signed(body, attester.keys.privateKey))
    expect([own.status, membersOf(own)['attester_verified']]).toEqual([201, true])
    expect(await isSealed(client, membersOf(own))).toBe(true)
    for (const forged of [
      signed(body, issuer.keys.privateKey),
      { ...signed(body, attester.keys.privateKey), statement: 'another' },
      signed(statementOn(nft, { attester: 'nobody@signed' }), attester.keys.privateKey),
    ]) {
      expect(outcomeOf(await client.post(PATH, forged))).toBe('403 ERR_SIGNATURE_MISMATCH')
    }
    expect(await client.readAll(`${PATH}?source=${attester.accountId}`, 'attestations')).toHaveLength(1)
  })

  test('a subject that is not there is 404 with its field, and what is ill-formed is told at once', async () => {
    const { client } = scene()
    const { nft } = await anNft(client, 'subject')
    for (const [change, field] of [
      [{ subject_class: `cls_${'0'.repeat(26)}` }, 'subject_class'],
      [{ subject_instance: 'another' }, 'subject_instance'],
    ] as const) {
      const reply = await client.post(PATH, statementOn(nft, change))
      expect([outcomeOf(reply), fieldsOf(reply)]).toEqual(['404 ERR_NOT_FOUND', [field]])
    }
    const reply = await client.post(PATH, { attester: 'a b', statement: '', evidence_url: 'javascript://x/' })
    expect(outcomeOf(reply)).toBe('400 ERR_INVALID_CLASS_ID ERR_INVALID_FIELD')
    expect(fieldsOf(reply)).toHaveLength(5)
    expect(outcomeOf(await client.get(`${PATH}/att_${'0'.repeat(26)}`))).toBe('404 ERR_NOT_FOUND')
  })

  test('D19: an attestation whose row was changed in the database is not told any more, and others are', async () => {
    const { client, elsewhere, cluster } = scene()
    const { nft } = await anNft(client, 'tampered')
    const [made, other] = [await stated(client, nft), await stated(client, nft)]
    const sql = postgres(cluster.databaseUrl(), { max: 1 })
    const ofIt = sql`attestation_id = ${textOf(made, 'attestation_id')}`
    const { count } = await sql`UPDATE attestations SET submitted_by = 'another' WHERE ${ofIt}`
    expect(count).toBe(1)
    const changed = await elsewhere.get(pathOf(made))
    await sql`UPDATE attestations SET submitted_by = ${textOf(made, 'submitted_by')} WHERE ${ofIt}`
    await sql.end()
    expect(outcomeOf(changed)).toBe('503 ERR_DOWNSTREAM_FAILURE')
    for (const one of [made, other]) expect(await elsewhere.read(pathOf(one))).toEqual(one)
  })
}

function repeats(scene: GetScene): void {
  test('D7: of forty submissions under one key, at both edges at once, one is made, and all get its bytes', async () => {
    const { client, elsewhere, stranger } = scene()
    const { nft } = await anNft(client, 'repeated')
    const headers = { 'idempotency-key': newKey() }
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, number) =>
        (number % 2 === 0 ? client : elsewhere).post(PATH, statementOn(nft, { statement: `${number % 4}` }), headers),
      ),
    )
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    const [first] = replies
    if (first === undefined) throw new Error('forty were sent')
    const made = membersOf(first)
    expect(first.status).toBe(201)
    expect(replies.filter((reply) => reply.headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    for (const [number, reply] of replies.entries()) {
      const differs = made['statement'] !== `${number % 4}`
      expect(reply.headers['idempotency-payload-mismatch']).toBe(differs ? 'true' : undefined)
    }
    expect((await revoke(client, made)).status).toBe(200)
    const late = await elsewhere.post(PATH, statementOn(nft, { statement: String(made['statement']) }), headers)
    expect([late.status, late.body, late.headers['idempotency-replayed']]).toEqual([201, first.body, 'true'])
    expect(await client.readAll(`${PATH}?subject_class=${nft.class_id}`, 'attestations')).toHaveLength(1)
    const others = await stranger.post(PATH, statementOn(nft), headers)
    expect([others.status, others.headers['idempotency-replayed']]).toEqual([201, undefined])
  })
}

function revocations(scene: GetScene): void {
  test('D13: who submitted it, or an administrator, takes it back; the first revocation stays, signed', async () => {
    const { client, elsewhere, admin, stranger } = scene()
    const { nft } = await anNft(client, 'revoked')
    const made = await stated(client, nft)
    expect(outcomeOf(await revoke(stranger, made))).toBe('403 ERR_FORBIDDEN')
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, number) =>
        revoke([client, elsewhere, admin][number % 3] ?? client, made, { reason: `reason ${number}` }),
      ),
    )
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`)).size).toBe(1)
    const revoked = await elsewhere.read(pathOf(made))
    expect(replies.map(membersOf)).toContainEqual(revoked)
    expect(revoked).toEqual({
      ...made,
      status: 'revoked',
      revoked_at: expect.stringMatching(TIMESTAMP),
      revoked_by: expect.any(String),
      revocation_reason: expect.stringMatching(/^reason \d+$/),
      key_id: expect.any(String),
      signature: expect.any(String),
    })
    expect([await isSealed(client, made), await isSealed(client, revoked)]).toEqual([true, true])
    expect(await isSealed(client, { ...revoked, status: 'active' })).toBe(false)
    expect(outcomeOf(await revoke(stranger, made))).toBe('403 ERR_FORBIDDEN')
    expect(outcomeOf(await client.post(`${PATH}/att_x/revoke`, {}))).toBe('404 ERR_NOT_FOUND')
  })
}

function lists(scene: GetScene): void {
  test('D13, D16: newest first by every filter, page by page, each once', async () => {
    const { client, elsewhere } = scene()
    const { nft, issuer } = await anNft(client, 'listed')
    const other = await mintedTo(client, issuer, { class_id: nft.class_id, instance_id: 'other' })
    const made: Members[] = []
    for (let number = 0; number < 9; number += 1) {
      const subject = number % 3 === 0 ? other : nft
      made.push(
        await stated(number % 2 === 0 ? client : elsewhere, subject, { attester: `office-${number % 2}@listed` }),
      )
    }
    const [first = {}] = made
    await revoke(client, first)
    // IDs begin with the time: two of one millisecond are in no order of ours.
    const newest = made.toSorted((left, right) =>
      textOf(left, 'attestation_id') < textOf(right, 'attestation_id') ? 1 : -1,
    )
    const idOf = ({ attestation_id: id }: Members) => id
    const ofClass = `subject_class=${nft.class_id}`
    const ofOther = ({ subject_instance: id }: Members): boolean => id === 'other'
    const cases: readonly (readonly [string, (one: Members) => boolean])[] = [
      [ofClass, () => true],
      [`asset_class=${nft.class_id}`, () => true],
      ['asset_class=ATTESTED%20LISTED', () => true],
      [`${ofClass}&subject_instance=other`, ofOther],
      ['source=office-1@listed', ({ attester }) => attester === 'office-1@listed'],
      [`${ofClass}&status=revoked`, (one) => one === first],
      [`${ofClass}&status=active`, (one) => one !== first],
      [
        `${ofClass}&status=active&subject_instance=other&source=office-0@listed`,
        (one) => ofOther(one) && one !== first && one['attester'] === 'office-0@listed',
      ],
      ['asset_class=nothing', () => false],
    ]
    for (const [query, matches] of cases) {
      const items = await elsewhere.readAll(`${PATH}?${query}`, 'attestations')
      expect([query, items.map(idOf)]).toEqual([query, newest.filter(matches).map(idOf)])
    }
    const paged: unknown[] = []
    let token = ''
    do {
      const page = await client.read(`${PATH}?${ofClass}&page_size=2&page_token=${token}`)
      paged.push(...(page['attestations'] as readonly Members[]).map(idOf))
      token = textOf(page, 'next_page_token')
    } while (token !== '')
    expect(paged).toEqual(newest.map(idOf))
    const [listed = {}] = await client.readAll(`${PATH}?${ofClass}&status=active`, 'attestations')
    const { key_id: _, signature: __, ...shown } = newest[0] ?? {}
    expect(listed).toEqual(shown)
  })
}

function provenances(scene: GetScene): void {
  test('D11: provenance begins with the mint and tells what became of it and what was stated, in order', async () => {
    const { client, elsewhere, admin } = scene()
    const issuer = await client.register('issuer@provenance')
    const [alice, bob] = [await client.register('alice@provenance'), await client.register('bob@provenance')]
    const classId = await classOf(client, 'Provenance', issuer)
    const nft = await mintedTo(client, issuer, { class_id: classId, instance_id: 'gem' }, alice)
    const attested = await stated(elsewhere, nft)
    const sent = await moved(client, alice, { type: 'transfer', to_account_id: bob.accountId, ...nft })
    await revoke(admin, attested, { reason: 'weighed again' })
    const burned = await moved(client, bob, { type: 'burn', ...nft })
    const path = `/v1/nft-classes/${classId}/instances/gem/provenance`
    const { provenance, ...rest } = await elsewhere.read(path)
    expect(rest).toEqual({ class_id: classId, instance_id: 'gem', next_page_token: '' })
    const about = { actor: attested['attester'], attestation_id: attested['attestation_id'] }
    const at = { timestamp: expect.stringMatching(TIMESTAMP) }
    const whole = [
      { depth: 0, event: 'mint', actor: issuer.accountId, txn_id: expect.any(String), ...at },
      { depth: 0, event: 'attestation', ...about, timestamp: attested['created_at'], details: attested['statement'] },
      { depth: 1, event: 'transfer', actor: alice.accountId, txn_id: sent['txn_id'], ...at },
      { depth: 1, event: 'revocation', ...about, ...at, revoked_by: expect.any(String), details: 'weighed again' },
      { depth: 1, event: 'burn', actor: bob.accountId, txn_id: burned['txn_id'], ...at },
    ]
    expect(provenance).toEqual(whole)
    const [mint = {}] = provenance as readonly Members[]
    const minting = await client.read(`/v1/transactions/${textOf(mint, 'txn_id')}`)
    expect(minting).toMatchObject({ type: 'mint', account_id: issuer.accountId })
    const shallow = await client.read(`${path}?max_depth=0`)
    expect(shallow).toMatchObject({ provenance: whole.slice(0, 2), next_page_token: '' })
    expect(await client.readAll(`${path}?max_depth=1`, 'provenance')).toEqual(whole)
    const first = await client.read(`${path}?max_depth=1&page_size=3`)
    const next = await client.read(`${path}?max_depth=1&page_token=${textOf(first, 'next_page_token')}`)
    expect(next['provenance']).toEqual(whole.slice(3))
    expect(outcomeOf(await client.get(`${path}?max_depth=1001`))).toBe('400 ERR_INVALID_QUERY')
    expect(outcomeOf(await client.get(path.replace('gem', 'stone')))).toBe('404 ERR_NOT_FOUND')
  })
}
