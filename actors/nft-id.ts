/**
 * NFTs as assets. An asset has one ID: `BASE`, a token's symbol, or `class/instance` for an NFT. Symbols have no slash,
 * so the ID shows the kind of asset.
 */
const CLASS_ID = /^cls_[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** The amount of a transaction that moves an NFT. */
export const NFT_AMOUNT = '1'

export interface NftName {
  readonly classId: string
  readonly instanceId: string
}

export function isClassId(text: string): boolean {
  return CLASS_ID.test(text)
}

export function nftId({ classId, instanceId }: NftName): string {
  return `${classId}/${instanceId}`
}

export function isNft(assetId: string): boolean {
  return assetId.includes('/')
}

/** undefined for a fungible asset. */
export function nftNameOf(assetId: string): NftName | undefined {
  const slash = assetId.indexOf('/')
  return slash < 0 ? undefined : { classId: assetId.slice(0, slash), instanceId: assetId.slice(slash + 1) }
}

/** An asset in the API, in entries and in receipts: an NFT has no token ID. */
export function assetMembers(
  assetId: string,
): { readonly token_id: string } | { readonly class_id: string; readonly instance_id: string } {
  const name = nftNameOf(assetId)
  return name === undefined ? { token_id: assetId } : { class_id: name.classId, instance_id: name.instanceId }
}
