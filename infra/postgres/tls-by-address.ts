/**
 * TLS to a PostgreSQL that is reached by its IP address. The driver tells TLS whom it wants to talk to only where that is a
 * name; for an address TLS would be content with a certificate for `localhost`, which any server may have, whoever answers.
 *   T1. Where the URL asks for a verified server and names it by address, its certificate must be for that address.
 */
import { isIP } from 'node:net'

/** What the driver takes for TLS that verifies nobody, or for none. */
const UNVERIFIED: readonly string[] = ['', 'disable', 'false', 'allow', 'prefer', 'require']

/** Options of the driver, beside the URL. Whoever connects to a URL that an operator gave uses them. */
export function tlsByAddress(url: string): { readonly ssl?: { readonly host: string } } {
  const { hostname, searchParams } = new URL(url)
  // Brackets are how a URL writes an address of version 6.
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const mode = searchParams.getAll('sslmode').at(-1) ?? searchParams.getAll('ssl').at(-1) ?? ''
  return isIP(host) === 0 || UNVERIFIED.includes(mode) ? {} : { ssl: { host } }
}
