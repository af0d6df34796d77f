import { MAX_PATH_LENGTH } from './limits.ts'

/** At most so many code points, and a mark where something is missing. */
export function shortened(text: string, maxLength = MAX_PATH_LENGTH): string {
  if (text.length <= maxLength) return text
  // Twice as many code units hold that many code points, and a pair cut in two at their end is not kept.
  const points = Array.from(text.slice(0, 2 * maxLength + 2))
  return points.length <= maxLength ? text : `${points.slice(0, maxLength).join('')}…`
}
