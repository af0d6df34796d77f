/** Goal: what is stated of an NFT is stored once, signed, read at every edge, and taken back for good (D13). */
import { createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Holder, type HttpReply, type LedgerClient, membersOf, send, textOf } from '../support/client.ts'
import { canonical, type Members } from '../support/client-keys.ts'
import { newKey, outcomeOf } from '../support/client-moves.ts'
import { classOf, mintedTo, type Nft } from '../support/client-nfts.ts'
import type { GetScene } from './scene.ts'

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const PATH = '/v1/attestations'

export function attestationsSuite(scene: GetScene): void {
  describe('attestations', () => {
    repeats(scene)
    revocations(scene)
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
