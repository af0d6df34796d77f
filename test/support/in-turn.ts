/** For tests of a suite each of which begins where the one before it ended. */
import { beforeEach } from 'vitest'

/**
 * Called in a `describe`: once a test of it has failed, each of those after it fails at once and names that one, instead
 * of waiting for what will never be.
 */
export function eachNeedsTheOneBefore(): void {
  let failed: string | undefined
  beforeEach(({ task, onTestFailed }) => {
    if (failed !== undefined) throw new Error(`not tried: it begins where this one should have ended: ${failed}`)
    onTestFailed(() => {
      failed ??= task.name
    })
  })
}
