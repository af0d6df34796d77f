/**
 * The statements of the README files are true: the signing vector holds for this code and for an independent
 * implementation.
 */
import { p256 } from '@noble/curves/nist.js'
import { spawnSync } from 'node:child_process'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { FAILURE_CODES } from '../../actors/account/transaction.ts'
import { canonicalJson, type JsonObject } from '../../actors/canonical-json.ts'
import { INVARIANTS } from '../support/invariant-names.ts'
import { VARIABLE_NAMES } from '../../infra/config/variables.ts'
import { readPublicKey } from '../../infra/keys/public-key.ts'
import { hasPython } from '../support/processes/python.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const guide = readFileSync(join(ROOT, 'api', 'README.md'), 'utf8')
const documents = ['.', 'actors', 'runtime', 'api', 'infra', 'test'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: top !== '.', encoding: 'utf8' })
    .filter((file) => /(^|\/)(README|CHANGELOG)\.md$/.test(file))
    .map((file) => join(top, file)),
)

interface Vector {
  readonly payload: JsonObject
  readonly canonical: string
  readonly digest: string
  readonly public_key: { readonly kty: string; readonly crv: string; readonly x: string; readonly y: string }
  readonly key_id: string
  readonly private_key_hex: string
  readonly signature_p1363: string
  readonly signature_der: string
}

describe('the README', () => {
  const vector = JSON.parse(/```json\n(\{\n {2}"payload"[\s\S]*?)```/.exec(guide)?.[1] ?? '') as Vector
  const message = Buffer.from(vector.canonical, 'utf8')
  const pairs = JSON.parse(/```json\n(\[\n[\s\S]*?)```/.exec(guide)?.[1] ?? '[]') as readonly [string, string][]

  test('its vector: canonical bytes, digest and key ID are ours', () => {
    expect(canonicalJson(vector.payload)).toBe(vector.canonical)
    expect(createHash('sha256').update(message).digest('hex')).toBe(vector.digest)
    expect(readPublicKey(vector.public_key)?.keyId).toBe(vector.key_id)
  })

  test('its vector: both encodings verify, here and elsewhere, and the key is that of the private key', () => {
    const key = createPublicKey({ key: { ...vector.public_key }, format: 'jwk' })
    const raw = Buffer.from(vector.signature_p1363, 'base64url')
    expect(verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, raw)).toBe(true)
    expect(verify('sha256', message, { key, dsaEncoding: 'der' }, Buffer.from(vector.signature_der, 'base64'))).toBe(
      true,
    )
    const point = p256.getPublicKey(Buffer.from(vector.private_key_hex, 'hex'), false)
    expect(p256.verify(raw, message, point, { lowS: false })).toBe(true)
    expect(Buffer.from(point.subarray(1, 33)).toString('base64url')).toBe(vector.public_key.x)
  })

  test('its pairs of JSON and canonical form match our code and its JavaScript', () => {
    expect(pairs.length).toBeGreaterThan(5)
    const recipe = /```js\n([\s\S]*?)\nconst signature/.exec(guide)?.[1] ?? ''
    const canonical = runInNewContext(`${recipe}\ncanonical`) as (value: unknown) => string
    for (const [text, expected] of pairs) {
      expect(canonicalJson(JSON.parse(text) as JsonObject)).toBe(expected)
      expect(canonical(JSON.parse(text))).toBe(expected)
    }
  })

  test.runIf(hasPython)('its statements on json.dumps are true', () => {
    const dumped = (text: string): string => {
      const dumps = 'json.dumps(json.load(sys.stdin), sort_keys=True, separators=(",", ":"), ensure_ascii=False)'
      const script = `import json, sys; sys.stdout.reconfigure(encoding="utf-8"); print(${dumps}, end="")`
      return spawnSync('python3', ['-X', 'utf8', '-c', script], { input: text, encoding: 'utf8' }).stdout
    }
    expect(dumped(JSON.stringify(vector.payload))).toBe(vector.canonical)
    const plain = '{"decimals":2,"b":[true,null,9007199254740991],"a":{"text":"😀 é \ue000"}}'
    expect(dumped(plain)).toBe(canonicalJson(JSON.parse(plain) as JsonObject))
    expect(pairs.filter(([text, expected]) => dumped(text) !== expected).length).toBeGreaterThan(2)
  })

  test('that of operators names every variable that the configuration reads', () => {
    const operators = readFileSync(join(ROOT, 'infra', 'README.md'), 'utf8')
    expect(VARIABLE_NAMES.filter((name) => !operators.includes(`\`${name}\``))).toEqual([])
  })

  test('it is short: at most 250 lines and 12 KB', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(250)
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(12_288)
  })

  test('the links of all documents lead to something', () => {
    const anchorsOf = (document: string): readonly string[] =>
      [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, head = '']) =>
        head
          .toLowerCase()
          .replaceAll(/[^a-z0-9 -]/g, '')
          .replaceAll(' ', '-'),
      )
    const broken = documents.flatMap((document) => {
      const links = [
        ...readFileSync(join(ROOT, document), 'utf8').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g),
      ]
      return links
        .filter(([, path = '', anchor]) => {
          const target = path === '' ? document : join(dirname(document), path)
          if (!existsSync(join(ROOT, target))) return true
          return (
            anchor !== undefined &&
            !anchorsOf(target.endsWith('.md') ? target : join(target, 'README.md')).includes(anchor)
          )
        })
        .map(([link]) => `${document}: ${link}`)
    })
    expect(documents.length).toBeGreaterThan(10)
    expect(broken).toEqual([])
  })

  test('that of integrators lists every failure code, and no other', () => {
    const guide = readFileSync(join(ROOT, 'api', 'README.md'), 'utf8')
    const [, section = ''] = /\n### Failure codes\n([\s\S]*?)\n## /.exec(guide) ?? []
    const listed = [...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code = '']) => code)
    expect(listed.toSorted()).toEqual(FAILURE_CODES.toSorted())
  })

  test('that of the engine names every invariant', () => {
    const engine = readFileSync(new URL('../../runtime/README.md', import.meta.url), 'utf8')
    expect(INVARIANTS.filter((name) => !engine.includes(`| ${name} |`))).toEqual([])
  })
})
