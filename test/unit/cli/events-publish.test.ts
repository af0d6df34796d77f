/** `ledger events publish` refuses keys that are not the public key of a reader, before it looks for the ledger. */
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { commandLine } from './cli-fixture.ts'

const { run, write } = commandLine()
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const publish = (file: string) => run(['events', 'publish', '--subject', 'events', '--recipient-key', file])

test.each([
  ['a private JWK', JSON.stringify(privateKey.export({ format: 'jwk' }))],
  ['a private PEM', String(privateKey.export({ format: 'pem', type: 'pkcs8' }))],
  ['another curve', String(generateKeyPairSync('x25519').publicKey.export({ format: 'pem', type: 'spki' }))],
  ['an empty file', ''],
])('%s is refused', async (_, text) => {
  const { code, err } = await publish(write('key', text))
  expect([code, err]).toEqual([
    1,
    'ledger events publish: key must be a public P-256 key as a JWK or PEM, without a private part\n',
  ])
})

test.each([
  ['a JWK', JSON.stringify(publicKey.export({ format: 'jwk' }))],
  ['a PEM', String(publicKey.export({ format: 'pem', type: 'spki' }))],
])('%s is read', async (_, text) => {
  const { code, err } = await publish(write('key', text))
  expect([code, err]).toEqual([1, expect.stringContaining('LEDGER_DATABASE_URL and LEDGER_NATS_URL must be set')])
})
