/** The asset of a transaction or leg in a table: its token, or the NFT as `class/instance`. */
export function assetText({
  token_id,
  class_id,
  instance_id,
}: {
  readonly token_id?: string
  readonly class_id?: string
  readonly instance_id?: string
}): string {
  return token_id ?? `${class_id ?? ''}/${instance_id ?? ''}`
}
