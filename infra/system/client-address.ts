/**
 * The sender of a request: the peer of the connection, or the client for which a trusted proxy forwards.
 *   P1. Only entries that trusted proxies wrote count: from the right, the first address outside the trusted ranges is the
 *       client's. Entries left of it may be forged by the client.
 *   P2. At most MAX_HOPS entries are read: the cost does not grow with the header.
 */
import { BlockList, isIP } from 'node:net'
import type { AddressRange } from './address-ranges.ts'

/** `forwardedFor`: the header X-Forwarded-For, lines joined by commas. */
export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string

const MAX_HOPS = 16

export function createClientAddress(trustedProxies: readonly AddressRange[]): ClientAddress {
  if (trustedProxies.length === 0) return (peer) => peer
  const trusted = new BlockList()
  for (const { address, prefixLength, family } of trustedProxies) trusted.addSubnet(address, prefixLength, family)
  const isTrusted = (address: string): boolean => {
    const [unscoped = ''] = address.split('%')
    const version = isIP(unscoped)
    return version !== 0 && trusted.check(unscoped, version === 4 ? 'ipv4' : 'ipv6')
  }
  return (peer, forwardedFor) => {
    let address = peer
    let rest = forwardedFor ?? ''
    for (let hop = 0; hop < MAX_HOPS && rest !== '' && isTrusted(address); hop += 1) {
      const comma = rest.lastIndexOf(',')
      const named = addressIn(rest.slice(comma + 1).trim())
      // An entry that is not an address is unusable: count its clients under the proxy that wrote it.
      if (named === undefined) break
      address = named
      rest = comma < 0 ? '' : rest.slice(0, comma)
    }
    return address
  }
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function addressIn(entry: string): string | undefined {
  if (isIP(entry) !== 0) return entry
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([^:]*):\d{1,5})$/.exec(entry) ?? []
  const address = bracketed ?? plain ?? ''
  return isIP(address) === 0 ? undefined : address
}
