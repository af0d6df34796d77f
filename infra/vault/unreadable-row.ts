import { ToldError } from '../../runtime/reason.ts'

/**
 * A row holds what this program cannot read or does not believe: it was damaged or tampered with, its key is gone, or a newer
 * program wrote it. The message names the row by what stands in the table; nothing of its content.
 */
export class UnreadableRow extends ToldError {
  override readonly name = 'UnreadableRow'

  private readonly nameless: string

  constructor(place: string, problem: string, options?: ErrorOptions) {
    const named = place.replaceAll('\u001f', ' ')
    super(`${named}: ${problem}`, options)
    const [table = ''] = named.split(' ', 1)
    this.nameless = `${table}: ${problem}`
  }

  /** For logs: tables of a ledger without encryption name accounts by their IDs. */
  told({ encrypts }: { readonly encrypts: boolean }): string {
    return encrypts ? this.message : this.nameless
  }
}
