import { isIPv4 } from 'node:net'

/** `hostname`: of a URL, which writes each spelling of an IPv4 address in the same way. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'))
}
