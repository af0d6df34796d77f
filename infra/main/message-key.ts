import type { NodeSecrets } from './ledger-secrets.ts'

/**
 * What messages between edges and nodes are sealed with, the same for all of them; null: the ledger does not encrypt, or not
 * all of it yet, and parts run that were started before.
 */
export function messageKeyOf({ vault, messageSecret }: Pick<NodeSecrets, 'vault' | 'messageSecret'>): Buffer | null {
  return vault.encrypts && !vault.mixes ? messageSecret : null
}
