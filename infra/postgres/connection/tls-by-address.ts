/**
 * TLS to PostgreSQL, as the driver makes it of the URL and as it does not.
 *   T1. Where the URL asks for a verified server and names it by address, its certificate must be for that address. The
 *       driver tells TLS whom it wants to talk to only where that is a name; for an address TLS would be content with a
 *       certificate for `localhost`, which any server may have.
 *   T2. The TLS socket can be destroyed. The driver keeps it to itself; destroying only the socket under
 *       it lets the driver write its farewell to one that is gone, which fails the whole process.
 *   T3. No mode verifies less than the driver would.
 */
import { isIP } from 'node:net'

/** No TLS; and `prefer`, of which the driver needs the word itself to do without: T2 does not hold for it. */
const LEFT_TO_DRIVER: readonly string[] = ['', 'disable', 'false', 'prefer']
/** Modes in which the driver uses TLS without verification; all other modes verify. */
const UNVERIFIED: readonly string[] = ['allow', 'require']

/** Whether connections to this URL use TLS for certain. */
export function usesTls(url: string): boolean {
  return !LEFT_TO_DRIVER.includes(modeOf(new URL(url).searchParams))
}

export interface TlsOptions {
  /** The driver hands them to `tls.connect`. */
  readonly ssl?: { readonly signal: AbortSignal; readonly host?: string; readonly rejectUnauthorized?: false }
}

/** Options of the driver, beside a URL that an operator gave. `signal` destroys what TLS makes of the socket (T2). */
export function tlsOptions(url: string, signal: AbortSignal): TlsOptions {
  const { hostname, searchParams } = new URL(url)
  const mode = modeOf(searchParams)
  if (LEFT_TO_DRIVER.includes(mode)) return {}
  if (UNVERIFIED.includes(mode)) return { ssl: { rejectUnauthorized: false, signal } }
  // Brackets are how a URL writes an address of version 6.
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return { ssl: isIP(host) === 0 ? { signal } : { host, signal } }
}

/** As the driver reads it: the last of each name; the system's authorities mean a verified server, whatever the mode. */
function modeOf(parameters: URLSearchParams): string {
  const last = (name: string): string => parameters.getAll(name).at(-1) ?? ''
  return last('sslrootcert') === 'system' ? 'verify-full' : last('sslmode') || last('ssl')
}
