/** Access tokens as an attacker would make them. */
import { createHmac, type KeyObject, sign } from 'node:crypto'
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
