/**
 * The simulated ledger's value per asset and place, in whole units of 10^-18 (I4): updated with every changed row,
 * checked after every commit, and recounted from the rows at the end.
 */
export const VALUE_PARTS = ['balances', 'held', 'carried', 'supply', 'credited', 'debited'] as const

/**
 * `held`: taken out of balances by holds; `carried`: in messages that are not yet accepted; `supply`: of registered
 * tokens; `credited`, `debited`: across the boundary.
 */
export type ValuePart = (typeof VALUE_PARTS)[number]
export type AssetValue = { readonly [Part in ValuePart]: bigint }

/** Records that a part of an asset's value grew by so much; negative if it shrank. */
export type ValueSink = (part: ValuePart, tokenId: string, units: bigint) => void

const SCALE = 18
const NOTHING: AssetValue = { balances: 0n, held: 0n, carried: 0n, supply: 0n, credited: 0n, debited: 0n }

/** Whole units of 10^-18 of a decimal string, which may be negative. */
export function signedUnits(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.padEnd(SCALE, '0'))
}

/** Minimal form. */
export function decimalOf(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(SCALE + 1, '0')
  const fraction = digits.slice(-SCALE).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${digits.slice(0, -SCALE)}${fraction === '' ? '' : '.'}${fraction}`
}

/** 0 if value is conserved. */
export function surplusOf({ balances, held, carried, supply, credited, debited }: AssetValue): bigint {
  return balances + held + carried - supply - credited + debited
}

export class ValueCount {
  private readonly byAsset = new Map<string, AssetValue>()
  private readonly off = new Set<string>()

  readonly add: ValueSink = (part, tokenId, units) => {
    if (units === 0n) return
    const before = this.of(tokenId)
    const after = { ...before, [part]: before[part] + units }
    this.byAsset.set(tokenId, after)
    if (surplusOf(after) === 0n) this.off.delete(tokenId)
    else this.off.add(tokenId)
  }

  of(tokenId: string): AssetValue {
    return this.byAsset.get(tokenId) ?? NOTHING
  }

  assets(): ReadonlyMap<string, AssetValue> {
    return this.byAsset
  }

  /** Assets whose value is not conserved. Free of cost while there are none. */
  unbalanced(): ReadonlySet<string> {
    return this.off
  }
}
