/** P1 to P6 of client-secrets.ts. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  ClientSecretsBusy,
  createClientSecrets,
  generateClientSecret,
  LONGEST_SECRET,
} from '../../../infra/keys/client-secrets.ts'

const pepper = randomBytes(32)
const secrets = createClientSecrets({ pepper })
const HERE = '192.0.2.1'
const ann = (secretHash: string) => ({ clientId: 'ann', secretHash })

test('a generated secret has 256 bits, is stored as a keyed hash and is recognized', async () => {
  const { secret, secretHash } = await secrets.create('ann')
  expect(secret).toMatch(/^lsk_[A-Za-z0-9_-]{43}$/)
  expect(await secrets.hash('ann', secret)).toBe(secretHash)
  expect(secretHash).toMatch(/^hmac-sha256:[0-9a-f]{64}$/)
  expect(await secrets.verify(ann(secretHash), secret, HERE)).toBe(true)
  expect(await secrets.verify(ann(secretHash), generateClientSecret(), HERE)).toBe(false)
  expect(await secrets.verify(ann(secretHash), 'chosen', HERE)).toBe(false)
})

test('a chosen secret is stretched with its own salt and is recognized', async () => {
  const [first, second] = await Promise.all([
    secrets.hash('ann', 'correct horse'),
    secrets.hash('ann', 'correct horse'),
  ])
  expect(first).toMatch(/^scrypt:32768-8-1:[0-9a-f]{32}:[0-9a-f]{64}$/)
  expect(first).not.toBe(second)
  expect(await secrets.verify(ann(first), 'correct horse', HERE)).toBe(true)
  expect(await secrets.verify(ann(first), 'correct horse ', HERE)).toBe(false)
  expect(await secrets.verify(ann(first), '', HERE)).toBe(false)
  expect(await secrets.verify(ann(first), generateClientSecret(), HERE)).toBe(false)
})

test('an unknown client and an unreadable record have no secret', async () => {
  const hashes = ['', 'scrypt:1-1-1:00:00', `hmac-sha256:${'0'.repeat(64)}`]
  for (const secret of [generateClientSecret(), 'chosen', '']) {
    expect(await secrets.verify(undefined, secret, HERE)).toBe(false)
    for (const secretHash of hashes) expect(await secrets.verify(ann(secretHash), secret, HERE)).toBe(false)
  }
})

test('P2: under another pepper nothing is recognized', async () => {
  const others = createClientSecrets({ pepper: randomBytes(32) })
  for (const secret of [generateClientSecret(), 'chosen']) {
    expect(await others.verify(ann(await secrets.hash('ann', secret)), secret, HERE)).toBe(false)
  }
})

test('P1: a chosen secret takes a scrypt slot for known and unknown clients and both stored forms', async () => {
  const generated = ann(await secrets.hash('ann', generateClientSecret()))
  const chosen = ann(await secrets.hash('ann', 'chosen'))
  for (const record of [undefined, generated, chosen, ann('garbage')]) {
    const full = createClientSecrets({ pepper, concurrency: 0, maxWaiting: 0 })
    await expect(full.verify(record, 'wrong', HERE)).rejects.toThrow(ClientSecretsBusy)
    expect(await full.verify(record, generateClientSecret(), HERE)).toBe(false)
  }
})

test('P3: a check beyond the bound is refused, and the others complete', async () => {
  const bounded = createClientSecrets({ pepper, concurrency: 1, maxWaiting: 1 })
  const results = await Promise.allSettled([1, 2, 3].map(() => bounded.verify(undefined, 'chosen', HERE)))
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(await bounded.verify(undefined, 'chosen', HERE)).toBe(false)
})

test('a secret that is too long is refused without a check', async () => {
  const full = createClientSecrets({ pepper, concurrency: 0, maxWaiting: 0 })
  expect(await full.verify(undefined, 'x'.repeat(LONGEST_SECRET + 1), HERE)).toBe(false)
})

test('P4: one address gets only its share, and a correct secret from another network is checked', async () => {
  const shared = createClientSecrets({ pepper, concurrency: 1, maxWaiting: 3, maxPerNetwork: 2 })
  const record = ann(await shared.hash('ann', 'chosen'))
  const flood = [1, 2, 3, 4, 5, 6].map(() => shared.verify(undefined, 'guess', HERE))
  const right = shared.verify(record, 'chosen', '198.51.100.9')
  const settled = await Promise.allSettled(flood)
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  expect(await right).toBe(true)
  expect(await shared.verify(undefined, 'guess', HERE)).toBe(false)
})

test.for([
  ['2001:db8:0:7::1', '2001:db8::7:9:9:9:9', true],
  ['2001:DB8:0:7:ffff::', '2001:db8:0:7::1%eth0', true],
  ['::ffff:192.0.2.1', '192.0.2.1', true],
  ['2001:db8:0:7::1', '2001:db8:0:8::1', false],
  ['::1', '192.0.2.1', false],
  ['192.0.2.1', '192.0.2.2', false],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
] as const)('P4: %s and %s share: %s', async ([first, second, same]) => {
  const shared = createClientSecrets({ pepper, concurrency: 2, maxWaiting: 0, maxPerNetwork: 1 })
  const results = await Promise.allSettled([first, second].map((address) => shared.verify(undefined, 'x', address)))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', same ? 'rejected' : 'fulfilled'])
})

test('P5: a correct secret is later recognized without scrypt, but no other secret or record is', async () => {
  const once = createClientSecrets({ pepper, concurrency: 1, maxWaiting: 0 })
  const [record, other] = [ann(await once.hash('ann', 'chosen')), ann(await once.hash('ann', 'chosen'))]
  expect(await once.verify(record, 'chosen', HERE)).toBe(true)
  const occupied = once.verify(undefined, 'guess', HERE)
  expect(await once.verify(record, 'chosen', HERE)).toBe(true)
  await expect(once.verify(record, 'wrong', HERE)).rejects.toThrow(ClientSecretsBusy)
  await expect(once.verify(other, 'chosen', HERE)).rejects.toThrow(ClientSecretsBusy)
  await expect(once.verify(undefined, 'chosen', HERE)).rejects.toThrow(ClientSecretsBusy)
  expect(await occupied).toBe(false)
  expect(await once.verify(record, 'wrong', HERE)).toBe(false)
})

test('P6: the stored hash of one client authenticates no other client, also from the cache', async () => {
  for (const secret of [generateClientSecret(), 'chosen']) {
    const secretHash = await secrets.hash('ann', secret)
    expect(await secrets.verify(ann(secretHash), secret, HERE)).toBe(true)
    expect(await secrets.verify({ clientId: 'bob', secretHash }, secret, HERE)).toBe(false)
    expect(await secrets.verify(ann(secretHash.replace(/^[^:]+/, '$&/2')), secret, HERE)).toBe(false)
  }
})
