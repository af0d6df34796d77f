/** Addresses of tiles under the address of a log: `<level>/<number>[.p/<width>]`. https://c2sp.org/tlog-tiles */
import type { TileAddress } from '../ports/ledger-log.ts'
import { TILE_WIDTH } from './tree.ts'

export type { TileAddress }

const PATH = /^(entries|0|[1-9][0-9]?)\/((?:x[0-9]{3}\/)*[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/
const HIGHEST_LEVEL = 63

/** Undefined for a path that no tile has. Each tile has one path. */
export function parseTilePath(path: string): TileAddress | undefined {
  const [, level, digits, width] = PATH.exec(path) ?? []
  if (level === undefined || digits === undefined) return undefined
  const number = Number(digits.replaceAll(/[x/]/g, ''))
  const address = {
    level: level === 'entries' ? level : Number(level),
    number,
    width: width === undefined ? TILE_WIDTH : Number(width),
  } as const
  const isPossible = (address.level === 'entries' || address.level <= HIGHEST_LEVEL) && address.width <= TILE_WIDTH
  return isPossible && Number.isSafeInteger(number) && tilePath(address) === path ? address : undefined
}

export function tilePath({ level, number, width }: TileAddress): string {
  const digits = String(number)
  const groups = digits.padStart(3 * Math.ceil(digits.length / 3), '0').match(/.{3}/g) ?? []
  const named = groups.map((group, index) => (index === groups.length - 1 ? group : `x${group}`))
  return `${level}/${named.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}
