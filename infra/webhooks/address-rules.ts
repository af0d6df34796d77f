/**
 * The addresses that webhooks may be sent to: public ones, so that no client can make the ledger send requests into the
 * operator's network.
 *   A1. IPv4: every range that IANA lists as not globally reachable is refused, and addresses of cloud metadata services.
 *   A2. IPv6: only global unicast is permitted, without the ranges in it that embed IPv4 addresses or lead nowhere. This
 *       excludes loopback, link-local, unique local, multicast, IPv4-mapped and NAT64 addresses.
 *   A3. A range that the operator allows is permitted in any case.
 * https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry
 */
import { BlockList, isIP } from 'node:net'
import type { Configuration } from '../config/configuration.ts'
import type { AddressRange } from '../system/address-ranges.ts'

/** Whether a message may be sent to the address. A text that is no address is refused. */
export type AddressRule = (address: string) => boolean

const REFUSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's platform, reachable from each of its machines
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const GLOBAL_IPV6 = ['2000::/3']
const REFUSED_IPV6 = [
  '2001::/23', // also Teredo, benchmarks, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4
  '2620:4f:8000::/48',
  '3fff::/20',
]

/** `allowed`: ranges of the operator's network. */
export function createAddressRule(allowed: readonly AddressRange[]): AddressRule {
  const permitted = new BlockList()
  for (const { address, prefixLength, family } of allowed) permitted.addSubnet(address, prefixLength, family)
  const refused = listOf([...REFUSED_IPV4, ...REFUSED_IPV6])
  const global = listOf(GLOBAL_IPV6)
  return (address) => {
    const version = isIP(address)
    if (version === 0 || address.includes('%')) return false
    const family = version === 4 ? 'ipv4' : 'ipv6'
    if (permitted.check(address, family)) return true
    return !refused.check(address, family) && (version === 4 || global.check(address, family))
  }
}

export const ANY_ADDRESS: AddressRule = () => true

export function addressRuleOf({
  environment,
  webhookAllow,
}: Pick<Configuration, 'environment' | 'webhookAllow'>): AddressRule {
  return environment === 'production' ? createAddressRule(webhookAllow) : ANY_ADDRESS
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', length] = range.split('/')
    list.addSubnet(address, Number(length), isIP(address) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}
