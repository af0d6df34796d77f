/**
 * Where the value of the simulated ledger is, per asset, in whole units of 10^-18 (I4): kept up with every row that
 * changes, so that it can be looked at after every commit, and counted once more from the rows alone at the end.
 */
export const VALUE_PARTS = ['balances', 'held', 'carried', 'supply', 'credited', 'debited'] as const

/**
 * `held`: what holds have taken out of balances; `carried`: what messages bring that are not yet taken in; `supply`: of
 * tokens that are registered; `credited`, `debited`: what crossed the boundary.
 */
export type ValuePart = (typeof VALUE_PARTS)[number]
export type AssetValue = { readonly [Part in ValuePart]: bigint }

/** Takes note that a part of an asset's value grew by so much; negative when it shrank. */
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

/** 0 when value is conserved. */
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

  /** Assets of which there is more or less than there should be. Costs nothing while there are none. */
  unbalanced(): ReadonlySet<string> {
    return this.off
  }
}
