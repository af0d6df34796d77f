/** Waiting for a condition in real time, with a deadline instead of a sleep. */
const POLL_MS = 5
const DEADLINE_MS = 180_000

export async function until(condition: () => boolean, deadlineMs = DEADLINE_MS): Promise<void> {
  const endMs = performance.now() + deadlineMs
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`did not come true within ${deadlineMs} ms: ${condition.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
