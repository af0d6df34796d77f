/** Access tokens as an attacker would make them, and as the ledger itself would if one claim were another. */
import { createHmac, type KeyObject, sign } from 'node:crypto'
import { join } from 'node:path'
import { loadMasterKey } from '../../infra/keys/master-key.ts'
import { createServiceKeySeals } from '../../infra/keys/service-key-seals.ts'
import { createServiceKeys } from '../../infra/postgres/service-keys-postgres.ts'
import { createSystemClock } from '../../infra/system/clock-system.ts'
import { p256 } from '@noble/curves/nist.js'
import type { Cluster } from './cluster-process.ts'
import type { Members, Value } from './client-keys.ts'

export interface TokenParts {
  readonly header: Members
  readonly claims: Members
  readonly signature: string
}

export function partsOf(token: string): TokenParts {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const read = (part: string): Members => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Members
  return { header: read(header), claims: read(claims), signature }
}

function base64url(value: Value): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

export function joined(header: Members, claims: Members, signature: string): string {
  return `${base64url(header)}.${base64url(claims)}.${signature}`
}

/** HMAC under something that is no secret. */
export function hmacToken(claims: Members, header: Members, secret: string): string {
  const text = `${base64url(header)}.${base64url(claims)}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

export function signedToken(header: Members, claims: Members, privateKey: KeyObject): string {
  const text = Buffer.from(`${base64url(header)}.${base64url(claims)}`)
  return `${text.toString()}.${sign('sha256', text, { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

/** The ledger's own token key, read as the ledger reads it: what it signs is wrong in nothing but what it says. */
export interface TokenForge {
  readonly sign: (header: Members, claims: Members) => Promise<string>
  /** Signed by the key for receipts: a good signature for another purpose. */
  readonly signByReceiptKey: (header: Members, claims: Members) => Promise<string>
  readonly close: () => Promise<void>
}

export async function openTokenForge(cluster: Cluster): Promise<TokenForge> {
  const masterKeys = { current: await loadMasterKey(join(cluster.dataDir, 'master.key')), previous: [] }
  const keys = await createServiceKeys({
    url: cluster.databaseUrl(),
    seals: createServiceKeySeals(masterKeys),
    clock: createSystemClock(),
  })
  const signWith = async (keyId: string, header: Members, claims: Members): Promise<string> => {
    const text = `${base64url({ ...header, kid: header['kid'] ?? keyId })}.${base64url(claims)}`
    const [der = ''] = await keys.sign(keyId, [text])
    const raw = p256.Signature.fromBytes(Buffer.from(der, 'base64'), 'der').toBytes('compact')
    return `${text}.${Buffer.from(raw).toString('base64url')}`
  }
  return {
    sign: (header, claims) => signWith(keys.current('token'), header, claims),
    signByReceiptKey: (header, claims) => signWith(keys.current('receipt'), header, claims),
    close: keys.close,
  }
}
