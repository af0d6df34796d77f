/** What several tests look at and the first of them makes. */
import type { Stage } from './stage.ts'

export function once<T>(make: (stage: Stage) => Promise<T>): (stage: Stage) => Promise<T> {
  let made: Promise<T> | undefined
  return (stage) => {
    made ??= make(stage)
    return made
  }
}
