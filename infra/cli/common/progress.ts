/** A line on a terminal's standard error while a command waits, removed at its end. Without a terminal nothing is printed. */
import type { CommandIo } from './command.ts'
import { shownText } from './shown-text.ts'

const FIRST_MS = 1_000
const EACH_MS = 500
const CLEAR_LINE = '\r\u001B[2K'

/** `text`: read each time the line is shown. */
export async function withProgress<T>(text: () => string, io: CommandIo, work: () => Promise<T>): Promise<T> {
  if (!io.terminal.error) return work()
  const beganMs = performance.now()
  let isShown = false
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - beganMs
    if (elapsedMs < FIRST_MS) return
    io.err(`${CLEAR_LINE}${shownText(text())} (${Math.floor(elapsedMs / 1_000)} s)`)
    isShown = true
  }, EACH_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (isShown) io.err(CLEAR_LINE)
  }
}
