/** Addresses as a look-up gives them to PostgreSQL: an array a column. */
import type { AccountAddress } from '../../../runtime/ports/ledger-store.ts'
import type { RowVault } from '../../vault/row-vault.ts'
import { arrayLiteral, column } from '../connection/array-literal.ts'

export function shardIds(addresses: readonly { readonly shardId: number }[]): string {
  return column('integer', addresses, (address) => address.shardId)
}

export function accountRefs(addresses: readonly AccountAddress[], vault: RowVault): string {
  return column('text', addresses, (address) => vault.accountRef(address.accountId))
}

export function texts(values: readonly string[]): string {
  return arrayLiteral('text', values)
}
