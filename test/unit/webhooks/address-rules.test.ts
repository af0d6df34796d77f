/** Addresses that webhooks may be sent to: A1 to A3, over hostile forms of each kind of address. */
import { describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { addressRanges } from '../../../infra/system/address-ranges.ts'
import { createAddressRule } from '../../../infra/webhooks/address-rules.ts'

const none = createAddressRule([])

describe('address rules', () => {
  test.each([
    ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['private', ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255']],
    ['carrier NAT', ['100.64.0.1', '100.127.255.255', '100.100.100.200']],
    ['link-local', ['169.254.0.1', 'fe80::1', 'febf::1']],
    ['metadata of clouds', ['169.254.169.254', 'fd00:ec2::254', '168.63.129.16', 'fe80::a9fe:a9fe']],
    ['unique local', ['fc00::1', 'fdff:ffff::1']],
    ['site-local, deprecated', ['fec0::1']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1']],
    ['reserved and broadcast', ['240.0.0.1', '255.255.255.255']],
    ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe', '::ffff:8.8.8.8']],
    ['IPv4-compatible and translated', ['::127.0.0.1', '::7f00:1', '::ffff:0:127.0.0.1']],
    ['NAT64', ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::a00:1']],
    ['6to4 and Teredo', ['2002:7f00:1::1', '2002:a00:1::', '2001:0:7f00:1::', '2001::1']],
    ['benchmarks and documentation', ['198.18.0.1', '198.19.255.255', '192.0.2.1', '198.51.100.7', '203.0.113.9']],
    ['the same in IPv6', ['2001:2::1', '2001:db8::1', '3fff::1', '100::1', '5f00::1']],
    ['protocol assignments', ['192.0.0.1', '192.0.0.170', '192.88.99.1', '2001:20::1']],
    ['with a zone', ['fe80::1%eth0', '2606:4700::1111%1']],
    ['no addresses', ['', 'localhost', '127.1', '2130706433', '0x7f000001', '127.0.0.1.', '[::1]', '1.2.3.4:80']],
  ])('A1, A2: %s addresses are refused', (_, addresses) => {
    expect(addresses.filter(none)).toEqual([])
  })

  test('public addresses are permitted, also those next to refused ranges', () => {
    const addresses = [
      '1.1.1.1',
      '8.8.8.8',
      '9.255.255.255',
      '11.0.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '126.255.255.255',
      '128.0.0.0',
      '169.253.255.255',
      '169.255.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '192.167.255.255',
      '192.169.0.0',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
      '168.63.129.17',
      '2606:4700::1111',
      '2a00:1450::8a',
      '2001:200::1',
      '2001:db7::1',
      '2003::1',
      '2400::1',
    ]
    expect(addresses.filter((one) => !none(one))).toEqual([])
  })

  test('A3: ranges of the operator are permitted, and nothing beside them', () => {
    const allowed = v.parse(addressRanges, '10.1.0.0/16, 127.0.0.1, fd00:1::/32')
    const rule = createAddressRule(allowed)
    expect(['10.1.0.1', '10.1.255.255', '127.0.0.1', 'fd00:1::5', '8.8.8.8'].filter((one) => !rule(one))).toEqual([])
    expect(['10.0.255.255', '10.2.0.0', '127.0.0.2', 'fd00:2::5', '::1', 'localhost'].filter(rule)).toEqual([])
  })
})
