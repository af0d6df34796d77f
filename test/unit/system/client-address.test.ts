/** A client cannot choose its address for throttling and the log, and clients behind a proxy are distinguished. */
import { expect, test } from 'vitest'
import { readConfiguration } from '../../../infra/config/configuration.ts'
import { type ClientAddress, createClientAddress } from '../../../infra/system/client-address.ts'

function addressBehind(ranges: string): ClientAddress {
  const read = readConfiguration({ LEDGER_TRUSTED_PROXIES: ranges }, '/')
  if (!read.ok) throw new Error(read.error.join('\n'))
  return createClientAddress(read.value.configuration.trustedProxies)
}

test.for([
  ['no range is trusted by default', '', '10.0.0.1', '192.0.2.7', '10.0.0.1'],
  ['the peer is no trusted proxy', '10.0.0.0/8', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['a trusted proxy names the client', '10.0.0.0/8', '10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['the client forged the entries left of it', '10.0.0.0/8', '10.0.0.1', '203.0.113.9, 192.0.2.7', '192.0.2.7'],
  ['two trusted proxies', '10.0.0.0/8', '10.0.0.1', '203.0.113.9, 192.0.2.7,10.2.3.4', '192.0.2.7'],
  ['a single address is a range', '10.0.0.1', '10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['its neighbor is not in it', '10.0.0.1', '10.0.0.2', '192.0.2.7', '10.0.0.2'],
  ['only trusted proxies are named', '10.0.0.0/8', '10.0.0.1', '10.9.9.9, 10.2.3.4', '10.9.9.9'],
  ['no header', '10.0.0.0/8', '10.0.0.1', undefined, '10.0.0.1'],
  ['an entry that is not an address', '10.0.0.0/8', '10.0.0.1', '192.0.2.7, unknown', '10.0.0.1'],
  ['an empty entry', '10.0.0.0/8', '10.0.0.1', '192.0.2.7,', '10.0.0.1'],
  ['an IPv4 peer of a socket for both', '10.0.0.0/8', '::ffff:10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['IPv6', 'fd00::/8', 'fd00::1', '2001:db8::7', '2001:db8::7'],
  ['IPv6 beside IPv4', '10.0.0.0/8,fd00::/8', 'fd00::1', '2001:db8::7, 10.0.0.1', '2001:db8::7'],
  ['an entry with a port', '10.0.0.0/8', '10.0.0.1', '192.0.2.7:4711', '192.0.2.7'],
  ['an IPv6 entry with a port', '10.0.0.0/8', '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
  ['an IPv6 entry in brackets', '10.0.0.0/8', '10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
] as const)('P1: %s', ([, ranges, peer, header, expected]) => {
  expect(addressBehind(ranges)(peer, header)).toBe(expected)
})

test('P2: only the last few entries of a header full of proxies are read', () => {
  const header = `192.0.2.7, ${Array.from({ length: 1000 }, (_, hop) => `10.0.${hop % 250}.1`).join(', ')}`
  expect(addressBehind('10.0.0.0/8')('10.0.0.1', header)).toMatch(/^10\./)
})

test.for([
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0',
  '10.0.0.0/8/8',
  'proxy.example',
  'fd00::/129',
  '10.0.0.0/8,',
  '/8',
  '10.0.0.0/-1',
  '10.0.0.0/08',
  'fe80::1%eth0',
])('%s is refused at the start', (ranges) => {
  const read = readConfiguration({ LEDGER_TRUSTED_PROXIES: ranges }, '/')
  expect(read).toMatchObject({ ok: false, error: [expect.stringMatching(/^LEDGER_TRUSTED_PROXIES is .*CIDR ranges/)] })
})
