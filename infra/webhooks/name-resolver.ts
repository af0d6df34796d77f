/**
 * Resolves the names of receivers by the machine's DNS servers.
 *   N1. A look-up waits for no other one. The resolver of the system has two threads for the whole process: receivers with
 *       dead DNS servers would hold up the look-ups of all others, and of PostgreSQL and NATS.
 *   N2. A look-up ends by itself; its attempt may end before.
 *   N3. Neither a hosts file nor search domains apply. `localhost` is the loopback address (RFC 6761).
 */
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { callbackify } from 'node:util'

export type Resolve = (
  hostname: string,
  options: { readonly all: true; readonly family: 0 | 4 | 6 },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const TIMEOUT_MS = 2_000
const TRIES = 2
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** `servers`: those of the machine by default. */
export function createNameResolver(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)

  async function addressesOf(hostname: string, family: 0 | 4 | 6): Promise<LookupAddress[]> {
    const found = /(^|\.)localhost\.?$/i.test(hostname) ? LOOPBACK : await resolved(resolver, hostname)
    const addresses = found.filter((one) => family === 0 || one.family === family)
    if (addresses.length === 0) throw Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' })
    return addresses
  }

  const lookUp = callbackify(addressesOf)
  return (hostname, { family }, done) => lookUp(hostname, family, done)
}

async function resolved(resolver: Resolver, hostname: string): Promise<readonly LookupAddress[]> {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return [
    ...(ipv4.status === 'rejected' ? [] : ipv4.value.map((address) => ({ address, family: 4 }))),
    ...(ipv6.status === 'rejected' ? [] : ipv6.value.map((address) => ({ address, family: 6 }))),
  ]
}
