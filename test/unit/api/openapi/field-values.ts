/** Values at and beyond the bounds of fields, by the kind of field. */
import type { Json, JsonObject } from '../../../../actors/canonical-json.ts'
import { GROUP_ID } from '../fakes/edge-fixture.ts'
import { JWK, KEY, TERMS_HASH } from '../routes/written-requests.ts'

export interface FieldRule {
  readonly right: readonly Json[]
  /** The first is wrong alone and together with faults of all other fields. */
  readonly wrong: readonly Json[]
  /** The document says in words what JSON Schema cannot. */
  readonly inWords?: true
}

/** Characters of one and of two UTF-16 units, since lengths count code points. */
export const text = (most: number, least: 0 | 1 = 1): FieldRule => ({
  right: ['x'.repeat(least), ' ', 'x'.repeat(most), '\u{1f48e}'.repeat(most)],
  wrong: [7, [], ...(least === 0 ? [] : ['']), 'x'.repeat(most + 1), '\u{1f48e}'.repeat(most + 1)],
})
export const oneOf = (...values: readonly string[]): FieldRule => ({
  right: values,
  wrong: ['other', '', values[0]?.toUpperCase() ?? '', 7, [values[0] ?? '']],
})
export const whole = (least: number, most: number): FieldRule => ({
  right: [least, most],
  wrong: [least - 1, most + 1, 1.5, String(least), 1e300],
})
/** A field whose value another place of the request repeats. */
export const same = (...wrong: readonly Json[]): FieldRule => ({ right: [], wrong, inWords: true })

export const ACCOUNT_ID: FieldRule = {
  right: ['a', '...', 'a_.:@-1', 'x'.repeat(128)],
  wrong: ['a b', '', '.', '..', 'a/b', 'é', 'x'.repeat(129), 7],
}
export const TOKEN_ID: FieldRule = {
  right: ['1', 'BASE.1', 'a._-', 'x'.repeat(64)],
  wrong: ['EU R', '', '.EUR', '-', 'é', 'x'.repeat(65), 7],
}
export const AMOUNT: FieldRule = {
  right: ['0.000000000000000001', '1.0', `${'9'.repeat(18)}.${'9'.repeat(18)}`],
  wrong: ['0', '0.00', '', '-1', '1e3', '01', '1.', '.5', `0.${'0'.repeat(18)}1`, '9'.repeat(19), 10],
}
export const UUID: FieldRule = { right: [GROUP_ID, GROUP_ID.toUpperCase()], wrong: ['g', '', GROUP_ID.slice(1), 7] }
export const IDEMPOTENCY_KEY: FieldRule = {
  right: [' ', '~', 'x'.repeat(255)],
  wrong: ['é', '', '\n', 'x'.repeat(256), 7],
}
export const SIGNATURE: FieldRule = { right: ['?', 'A'.repeat(1_025)], wrong: ['', 7, ['x']] }
export const OBJECT: FieldRule = { right: [{}], wrong: ['x', [], [{}], true] }
export const TEXT: FieldRule = { right: ['', 'x'], wrong: [7, [], {}] }
export const ACCOUNT_KEY: FieldRule = {
  right: [KEY.pem, JWK],
  wrong: ['x', 7, { kty: 'EC' }, { ...JWK, d: 'AAAA' }],
  inWords: true,
}
export const HASH: FieldRule = {
  right: [TERMS_HASH],
  wrong: ['sha256:00', 'ab'.repeat(32), TERMS_HASH.toUpperCase(), 7],
}
export const TIMESTAMP: FieldRule = {
  right: ['2025-01-01T00:00:00+02:00', '2024-02-29T00:00:00.123456Z'],
  wrong: ['2025-02-29T00:00:00Z', '9999-12-31T23:59:59-23:59', '2025-02-28T23:59:60Z', '2025-01-01', 7],
  inWords: true,
}
export const ORDER_METADATA: FieldRule = {
  right: [{}, Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`k${n}`, 'v'])), { ['k'.repeat(64)]: '' }],
  wrong: [
    { a: 1 },
    [],
    { amount: { b: 'c' } },
    { '': 'x' },
    { a: 'x'.repeat(4_096) },
    Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v'])),
    { ['k'.repeat(65)]: 'v' },
  ],
  inWords: true,
}
/** An object of exactly so many bytes as canonical JSON. */
function sized(bytes: number, filler = 'x'): JsonObject {
  const around = Buffer.byteLength(JSON.stringify({ a: '' }))
  return { a: filler.repeat((bytes - around) / Buffer.byteLength(filler)) }
}
export const NFT_METADATA: FieldRule = {
  right: [{}, sized(65_536), sized(65_536, 'é')],
  wrong: ['x', [], sized(65_537), sized(65_538, 'é')],
  inWords: true,
}
/** `right`: what is printable. */
export const printable = (most: number, ...wrong: readonly string[]): FieldRule => ({
  right: ['..', 'Größe & Gewicht', '\u{1f947}'.repeat(most)],
  wrong: ['', 'a\nb', 'a\u202eb', 'a\u2028b', 'x'.repeat(most + 1), 7, ...wrong],
  inWords: true,
})
export const WEBHOOK_URL: FieldRule = {
  right: [
    `https://a.example/${'x'.repeat(2_030)}`,
    'HTTPS://receiver.example:8443/hook?key=1',
    'http://127.0.0.1:9000/',
    'https://[2606:4700::1111]/',
  ],
  wrong: [
    '',
    '/hook',
    '//a.example/',
    'https:a.example',
    'https:///a',
    'https://',
    'ftp://a.example/',
    'ipfs://a',
    'https://u:p@a.example/',
    'https://u@a.example/',
    'https://a.example/#part',
    'https://a.example/#',
    'https://a .example/',
    'https://a.example/\\x',
    ' https://a.example/',
    'https://a.example/\n',
    'https://10.0.0.1/',
    'https://[::1',
    'https://a.example:99999/',
    `https://a.example/${'x'.repeat(2_031)}`,
    7,
  ],
  inWords: true,
}
export const URL: FieldRule = {
  right: [
    `https://a.example/${'x'.repeat(2_030)}`,
    'HTTP://[::1]:8080/',
    'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/1.pdf',
    'ar://bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U',
    'https://prüfer.example/größe',
  ],
  wrong: [
    '',
    '/reports/1',
    '//assay.example/1',
    'https:assay.example',
    'https://',
    'ipfs:///x',
    'https://assay.example:99999/',
    'https://user:secret@assay.example/',
    'https://assay.example\\@evil.example/',
    ' https://assay.example/',
    'https://assay.example/a b',
    'ht\ntps://assay.example/',
    'https://assay.example/\u202e',
    'javascript://assay.example/%0aalert(1)',
    'file:///etc/passwd',
    'ftp://assay.example/1',
    `https://a.example/${'x'.repeat(2_031)}`,
    7,
  ],
  inWords: true,
}
