import { isIPv6 } from 'node:net'

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const GROUPS = 8
/** A single customer has at least a /64. */
const NETWORK_GROUPS = 4

/** The network of an address: the IPv4 address itself, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const mapped = MAPPED_IPV4.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [unscoped = ''] = address.split('%')
  if (!isIPv6(unscoped)) return address
  const [head = '', tail] = unscoped.toLowerCase().split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  // An IPv4 address at the end takes the place of two groups.
  const given = first.length + last.length + (unscoped.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array<string>(GROUPS - given).fill('0')
  return [...first, ...zeros, ...last]
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
