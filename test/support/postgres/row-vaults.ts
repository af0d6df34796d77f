/** Vaults without a database behind them. */
import { randomBytes } from 'node:crypto'
import { readMasterKey } from '../../../infra/keys/master-key.ts'
import { createDataKeys, type DataKeys } from '../../../infra/vault/data-keys.ts'
import type { KeyName } from '../../../infra/vault/key-name.ts'
import { createKeyWrapping, type KeyWrapping } from '../../../infra/vault/key-wrapping.ts'
import { createRowVault, type RowVault } from '../../../infra/vault/row-vault.ts'

export function testWrapping(): KeyWrapping {
  return createKeyWrapping({ current: readMasterKey(randomBytes(32).toString('base64url')), previous: [] })
}

/** Of a ledger whose keys with these names are in memory. */
export function sealingVault(names: readonly KeyName[], keys: DataKeys = createDataKeys(testWrapping())): RowVault {
  for (const name of names) keys.adopt(keys.make(name))
  return createRowVault(keys, randomBytes(32), { amountIndex: 'account' })
}
