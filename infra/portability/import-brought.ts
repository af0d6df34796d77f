/**
 * How much of each token an import brings to accounts that were not here, and that it is not more than there is: with what
 * the imports of the same ledger have brought before. Within one file the survey sees to that; but who was copied may pay
 * somebody who is copied or moved later, and what was paid would arrive twice.
 */
import { BASE_UNIT, formatQuantity, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import type { ImportRefusal } from '../../runtime/ports/ledger-imports.ts'
import type { Homecoming } from './import-commands.ts'
import type { ImportHead } from './import-documents.ts'

/** Quantities are decimal strings. */
export interface BroughtToken {
  readonly tokenId: string
  readonly quantity: string
  /** What there was of it, as the file says. */
  readonly supply: string
}

interface TokenInFile {
  readonly line: number
  readonly supply: Quantity
  quantity: Quantity
}

export class BroughtSums {
  private readonly tokens = new Map<string, TokenInFile>()

  /** Tokens come before accounts. `isHere`: it was here already, and brings nothing. */
  see({ line, arrival }: Pick<Homecoming, 'line' | 'arrival'>, isHere: boolean): void {
    if (arrival.kind === 'token') {
      const { tokenId, totalSupply } = arrival.token
      this.tokens.set(tokenId, { line, supply: parseQuantity(totalSupply), quantity: ZERO })
    }
    if (arrival.kind !== 'account' || isHere) return
    for (const [tokenId, quantity] of Object.entries(arrival.account?.balances ?? {})) {
      const token = this.tokens.get(tokenId)
      if (token === undefined && tokenId !== BASE_UNIT) throw new Error('a balance of no token was to be taken in')
      if (token !== undefined) token.quantity += parseQuantity(quantity)
    }
  }

  brought(): readonly BroughtToken[] {
    return [...this.tokens].map(([tokenId, { quantity, supply }]) => ({
      tokenId,
      quantity: formatQuantity(quantity),
      supply: formatQuantity(supply),
    }))
  }

  /** Why it cannot be taken after what the ledger's imports have brought that were decided before; undefined: it can. */
  refusal(earlier: readonly Pick<ImportHead, 'brought'>[]): ImportRefusal | undefined {
    for (const [tokenId, { line, quantity, supply }] of this.tokens) {
      const before = earlier.flatMap(({ brought }) => brought?.filter((token) => token.tokenId === tokenId) ?? [])
      const sum = before.reduce((so, token) => so + parseQuantity(token.quantity), quantity)
      const most = before.reduce((so, token) => larger(so, parseQuantity(token.supply)), supply)
      if (quantity === 0n || sum <= most) continue
      const detail =
        `line ${line}: with what came of ${tokenId} before, ${formatQuantity(sum)} would have come, and there are ` +
        `${formatQuantity(most)}: accounts of this file were paid by ones that were copied here before.`
      return { kind: 'exists', field: `lines[${line}].total_supply`, detail }
    }
    return undefined
  }
}

function larger(one: Quantity, other: Quantity): Quantity {
  return one > other ? one : other
}
