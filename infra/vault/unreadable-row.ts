import { LoggableError } from '../../runtime/common/reason.ts'
import { nameOfPlace } from './place.ts'

/**
 * A row is unreadable or inconsistent: it was damaged or tampered with, its key is gone, or a newer release wrote it. The
 * message names the row by its table and key, and reveals nothing of its content.
 */
export class UnreadableRow extends LoggableError {
  override readonly name = 'UnreadableRow'

  constructor(place: string, problem: string, options?: ErrorOptions) {
    super(`${nameOfPlace(place)}: ${problem}`, options)
  }
}
