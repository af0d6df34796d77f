/** Goal: P1 to P3 of client-secrets.ts. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  ClientSecretsBusy,
  createClientSecrets,
  generateClientSecret,
  LONGEST_SECRET,
} from '../../../infra/keys/client-secrets.ts'
import { readMasterKey } from '../../../infra/keys/master-key.ts'

const masterKey = readMasterKey(randomBytes(32).toString('base64url'))
const secrets = createClientSecrets({ masterKey })

test('a generated secret has 256 bits, is stored as a keyed hash and is recognised', async () => {
  const secret = generateClientSecret()
  expect(secret).toMatch(/^lsk_[A-Za-z0-9_-]{43}$/)
  const secretHash = await secrets.hash(secret)
  expect(secretHash).toMatch(/^hmac-sha256:[0-9a-f]{64}$/)
  expect(await secrets.verify({ secretHash }, secret)).toBe(true)
  expect(await secrets.verify({ secretHash }, generateClientSecret())).toBe(false)
  expect(await secrets.verify({ secretHash }, 'chosen')).toBe(false)
})

test('a chosen secret is stretched with a salt of its own and is recognised', async () => {
  const [first, second] = await Promise.all([secrets.hash('correct horse'), secrets.hash('correct horse')])
  expect(first).toMatch(/^scrypt:32768-8-1:[0-9a-f]{32}:[0-9a-f]{64}$/)
  expect(first).not.toBe(second)
  expect(await secrets.verify({ secretHash: first }, 'correct horse')).toBe(true)
  expect(await secrets.verify({ secretHash: first }, 'correct horse ')).toBe(false)
  expect(await secrets.verify({ secretHash: first }, '')).toBe(false)
  expect(await secrets.verify({ secretHash: first }, generateClientSecret())).toBe(false)
})

test('an unknown client and an unreadable record have no secret', async () => {
  for (const secret of [generateClientSecret(), 'chosen', '']) {
    expect(await secrets.verify(undefined, secret)).toBe(false)
    expect(await secrets.verify({ secretHash: '' }, secret)).toBe(false)
    expect(await secrets.verify({ secretHash: 'scrypt:1-1-1:00:00' }, secret)).toBe(false)
    expect(await secrets.verify({ secretHash: `hmac-sha256:${'0'.repeat(64)}` }, secret)).toBe(false)
  }
})

test('P2: under another master key nothing is recognised', async () => {
  const others = createClientSecrets({ masterKey: readMasterKey(randomBytes(32).toString('base64url')) })
  for (const secret of [generateClientSecret(), 'chosen']) {
    expect(await others.verify({ secretHash: await secrets.hash(secret) }, secret)).toBe(false)
  }
})

test('P1: a chosen secret takes a slot of scrypt, whether the client exists, and how its secret is stored or not', async () => {
  const generated = { secretHash: await secrets.hash(generateClientSecret()) }
  const chosen = { secretHash: await secrets.hash('chosen') }
  for (const record of [undefined, generated, chosen, { secretHash: 'garbage' }]) {
    const full = createClientSecrets({ masterKey, concurrency: 0, maxWaiting: 0 })
    await expect(full.verify(record, 'wrong')).rejects.toThrow(ClientSecretsBusy)
    expect(await full.verify(record, generateClientSecret())).toBe(false)
  }
})

test('P3: beyond the bound a check is refused, those within it are answered', async () => {
  const bounded = createClientSecrets({ masterKey, concurrency: 1, maxWaiting: 1 })
  const results = await Promise.allSettled([1, 2, 3].map(() => bounded.verify(undefined, 'chosen')))
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(await bounded.verify(undefined, 'chosen')).toBe(false)
})

test('a secret longer than any is refused before any work', async () => {
  const full = createClientSecrets({ masterKey, concurrency: 0, maxWaiting: 0 })
  expect(await full.verify(undefined, 'x'.repeat(LONGEST_SECRET + 1))).toBe(false)
})
