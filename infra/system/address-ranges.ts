/** Reads a list of addresses or CIDR ranges from an environment variable. */
import { isIP } from 'node:net'
import * as v from 'valibot'

export interface AddressRange {
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
}

const EXAMPLE = 'CIDR ranges such as 10.0.0.0/8 or fd00::/8, or addresses, separated by commas'

export const addressRanges = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((one) => rangeOf(one.trim()))),
  v.array(
    v.custom<AddressRange>((range) => range !== undefined, EXAMPLE),
    EXAMPLE,
  ),
)

function rangeOf(text: string): AddressRange | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const version = isIP(address)
  // A zone (%) names an interface of this machine, and is not part of a range.
  if (version === 0 || rest.length > 0 || address.includes('%')) return undefined
  const longest = version === 4 ? 32 : 128
  if (length !== undefined && (!/^(0|[1-9][0-9]{0,2})$/.test(length) || Number(length) > longest)) return undefined
  return {
    address,
    prefixLength: length === undefined ? longest : Number(length),
    family: version === 4 ? 'ipv4' : 'ipv6',
  }
}
