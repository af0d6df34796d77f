import { ToldError } from '../../runtime/common/reason.ts'
import { nameOfPlace } from './place.ts'

/**
 * A row holds what this program cannot read or does not believe: it was damaged or tampered with, its key is gone, or a newer
 * program wrote it. The message names the row by what stands in the table; nothing of its content.
 */
export class UnreadableRow extends ToldError {
  override readonly name = 'UnreadableRow'

  constructor(place: string, problem: string, options?: ErrorOptions) {
    super(`${nameOfPlace(place)}: ${problem}`, options)
  }
}
