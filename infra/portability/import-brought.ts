/**
 * Sums the quantity of each token that an import brings to new accounts. Together with earlier imports of the same ledger it
 * must not exceed the token's supply. The survey checks a single file. Across files, value could arrive twice: a copied
 * account may later pay an account that is copied or moved in a second file.
 */
import { BASE_UNIT, formatQuantity, parseQuantity, type Quantity, ZERO } from '../../actors/money.ts'
import type { ImportRefusal } from '../../runtime/ports/ledger-imports.ts'
import type { Homecoming } from './import-commands.ts'
import type { ImportHead } from './import-documents.ts'

/** Quantities are decimal strings. */
export interface BroughtToken {
  readonly tokenId: string
  readonly quantity: string
  /** Total supply according to the file. */
  readonly supply: string
}

interface TokenInFile {
  readonly line: number
  readonly supply: Quantity
  quantity: Quantity
}

export class BroughtSums {
  private readonly tokens = new Map<string, TokenInFile>()

  /** Tokens come before accounts. `isHere`: the record existed here before, and brings nothing. */
  see({ line, arrival }: Pick<Homecoming, 'line' | 'arrival'>, isHere: boolean): void {
    if (arrival.kind === 'token') {
      const { tokenId, totalSupply } = arrival.token
      this.tokens.set(tokenId, { line, supply: parseQuantity(totalSupply), quantity: ZERO })
    }
    if (arrival.kind !== 'account' || isHere) return
    for (const [tokenId, quantity] of Object.entries(arrival.account?.balances ?? {})) {
      const token = this.tokens.get(tokenId)
      if (token === undefined && tokenId !== BASE_UNIT) throw new Error('an imported balance has no token')
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

  /** Why the import must be refused after `earlier` imports of the same ledger; undefined: it is accepted. */
  refusal(earlier: readonly Pick<ImportHead, 'brought'>[]): ImportRefusal | undefined {
    for (const [tokenId, { line, quantity, supply }] of this.tokens) {
      const before = earlier.flatMap(({ brought }) => brought?.filter((token) => token.tokenId === tokenId) ?? [])
      const sum = before.reduce((so, token) => so + parseQuantity(token.quantity), quantity)
      const most = before.reduce((so, token) => larger(so, parseQuantity(token.supply)), supply)
      if (quantity === 0n || sum <= most) continue
      const detail =
        `line ${line}: all imports together would bring ${formatQuantity(sum)} ${tokenId}, but its supply is ` +
        `${formatQuantity(most)}. Accounts of this file were paid by accounts that were copied here before.`
      return { kind: 'exists', field: `lines[${line}].total_supply`, detail }
    }
    return undefined
  }
}

function larger(one: Quantity, other: Quantity): Quantity {
  return one > other ? one : other
}
