/** An edge with one NFT class and one instance, and requests for attestations of it. */
import { createSign, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { expect } from 'vitest'
import { canonicalJson, type JsonObject } from '../../../../actors/canonical-json.ts'
import type { NftEvent } from '../../../../actors/nft-instance/state.ts'
import { readPublicKey } from '../../../../infra/keys/public-key.ts'
import { accountView, bodyOf, createEdgeFixture, type EdgeFixture, TXN_ID } from '../fakes/edge-fixture.ts'
import { CLASS_ID, WRITTEN } from './written-requests.ts'

export const { path: PATH, body: BODY } = WRITTEN.createAttestation
export const INSTANCE_ID = BODY.subject_instance
const MINTED_AT_MS = 1_759_000_000_000

export const MINT: NftEvent = {
  number: 0,
  type: 'mint',
  from: null,
  to: 'owner@x',
  txnId: TXN_ID,
  atMs: MINTED_AT_MS,
  previousHash: '0'.repeat(64),
  eventHash: 'ab'.repeat(32),
  payload: '{}',
}

export function attestationEdge(): EdgeFixture {
  const edge = createEdgeFixture()
  const shared = { issuer: 'issuer@mint', name: 'Gold bars', description: '', metadataSchema: {} }
  edge.reads.classViews.set(CLASS_ID, { classId: CLASS_ID, ...shared, createdAtMs: MINTED_AT_MS })
  addInstance(edge, INSTANCE_ID, MINTED_AT_MS)
  edge.attestations.state.classes.set(CLASS_ID, 'Gold bars')
  edge.attestations.state.instances.set(`${CLASS_ID}/${INSTANCE_ID}`, { issuer: 'issuer@mint', events: [MINT] })
  return edge
}

export function addInstance(edge: EdgeFixture, instanceId: string, mintedAtMs: number): void {
  edge.reads.nftHistories.set(`${CLASS_ID}/${instanceId}`, [{ ...MINT, atMs: mintedAtMs }])
}

/** Registers an account with a new key, and returns the private key. */
export function addSigner(edge: EdgeFixture, accountId: string): KeyObject {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const key = readPublicKey(String(publicKey.export({ format: 'pem', type: 'spki' })))
  if (key === undefined) throw new Error('a fresh key was not read')
  edge.reads.accountViews.set(accountId, accountView(accountId, { key }))
  return privateKey
}

export function signedBody(body: JsonObject, key: KeyObject): JsonObject {
  return { ...body, signature: createSign('sha256').update(canonicalJson(body)).sign(key, 'base64url') }
}

/** Creates an attestation, asserts 201 and returns its members. */
export async function stated(
  edge: EdgeFixture,
  token: string,
  changes: JsonObject = {},
): Promise<Record<string, unknown>> {
  const response = await edge.post(PATH, { ...BODY, ...changes }, token)
  expect(response.status).toBe(201)
  return bodyOf(response)
}

export async function revoke(edge: EdgeFixture, id: unknown, token: string, body: JsonObject = {}): Promise<Response> {
  return edge.post(`${PATH}/${String(id)}/revoke`, body, token)
}

/** Whether `signature` verifies over all other members under the published key `key_id`. */
export function isSealed(edge: EdgeFixture, members: Record<string, unknown>): boolean {
  const { signature, ...rest } = members
  const key = edge.keys.keys.find(({ keyId }) => keyId === rest['key_id'])
  if (key?.purpose !== 'attestation' || typeof signature !== 'string') return false
  const jwk = { kty: 'EC', crv: 'P-256', x: key.x, y: key.y }
  const verify = createVerify('sha256').update(canonicalJson(rest as JsonObject))
  return verify.verify({ key: jwk, format: 'jwk' }, signature, 'base64')
}
