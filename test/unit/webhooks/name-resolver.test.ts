/** Names of receivers, resolved by a DNS server of the test: N1 to N3. */
import { createSocket, type Socket } from 'node:dgram'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { afterEach, expect, test } from 'vitest'
import { createNameResolver, type Resolve } from '../../../infra/webhooks/name-resolver.ts'

const TYPE_A = 1
const closing: Socket[] = []
afterEach(() => {
  for (const socket of closing.splice(0)) socket.close()
})

/** Replies to queries for an IPv4 address with `address`; null: replies to nothing. Returns the server's own address. */
async function dnsServer(address: readonly number[] | null): Promise<string> {
  const socket = createSocket('udp4')
  closing.push(socket)
  socket.on('message', (query, { port }) => {
    if (address === null) return
    const nameEnd = query.indexOf(0, 12)
    const question = query.subarray(12, nameEnd + 5)
    const isKnown =
      query.readUInt16BE(nameEnd + 1) === TYPE_A && query.toString('latin1', 12, nameEnd).includes('known')
    // Flags, one question, the answers; then a pointer to the name, the type, the class, 60 s, 4 bytes.
    const header = Buffer.from([0x81, isKnown ? 0x80 : 0x83, 0, 1, 0, isKnown ? 1 : 0, 0, 0, 0, 0])
    const answer = Buffer.from(isKnown ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address] : [])
    socket.send(Buffer.concat([query.subarray(0, 2), header, question, answer]), port)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return `127.0.0.1:${socket.address().port}`
}

function resolved(
  resolve: Resolve,
  name: string,
  family: 0 | 4 | 6 = 0,
): Promise<LookupAddress[] | string | undefined> {
  return new Promise((done) => {
    resolve(name, { all: true, family }, (error, addresses) => done(error === null ? addresses : error.code))
  })
}

test('a name has the addresses that the DNS server gives, in the family that is wanted', async () => {
  const resolve = createNameResolver([await dnsServer([10, 1, 2, 3])])
  expect(await resolved(resolve, 'known.example')).toEqual([{ address: '10.1.2.3', family: 4 }])
  expect(await resolved(resolve, 'known.example', 6)).toBe('ENOTFOUND')
  expect(await resolved(resolve, 'other.example')).toBe('ENOTFOUND')
})

test('N3: localhost is the loopback address', async () => {
  const resolve = createNameResolver([await dnsServer([10, 1, 2, 3])])
  expect(await resolved(resolve, 'LOCALHOST.')).toMatchObject([{ address: '127.0.0.1' }, { address: '::1' }])
  expect(await resolved(resolve, 'known.localhost', 6)).toEqual([{ address: '::1', family: 6 }])
})

test('N1, N2: look-ups of a dead DNS server hold up no other one, and end', { timeout: 60_000 }, async () => {
  const [dead, live] = [
    createNameResolver([await dnsServer(null)]),
    createNameResolver([await dnsServer([10, 1, 2, 3])]),
  ]
  let ended = 0
  const lookups = Array.from({ length: 32 }, async (_, index) => {
    const found = await resolved(dead, `known-${index}.example`)
    ended += 1
    return found
  })
  await lookup('localhost')
  expect(await resolved(live, 'known.example')).toHaveLength(1)
  expect(ended).toBe(0)
  expect(new Set(await Promise.all(lookups))).toEqual(new Set(['ENOTFOUND']))
})
