/**
 * Whom the certificate of a NATS server must be for. The client tells TLS whom it wants to talk to only where that is a
 * name; for an address TLS would be content with a certificate for `localhost`, which any server may have.
 *   T2. A server that is reached by its address shows a certificate for one of the addresses that were given.
 */
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

export type IdentityCheck = (name: string, certificate: PeerCertificate) => Error | undefined

/** For `tls.connect`. `hosts`: of all servers, as a URL has them, without ports. */
export function identityCheckFor(hosts: readonly string[]): IdentityCheck {
  // Brackets are how a URL writes an address of version 6.
  const addresses = hosts.map((host) => host.replace(/^\[(.*)\]$/, '$1')).filter((host) => isIP(host) !== 0)
  return (name, certificate) => {
    if (addresses.length === 0 || hosts.includes(name)) return checkServerIdentity(name, certificate)
    const faults = addresses.map((address) => checkServerIdentity(address, certificate))
    return faults.includes(undefined) ? undefined : faults[0]
  }
}
