import { MAX_PATH_LENGTH } from './limits.ts'

/** Cuts a text after `maxLength` code points and appends an ellipsis. */
export function shortened(text: string, maxLength = MAX_PATH_LENGTH): string {
  if (text.length <= maxLength) return text
  // That many code points have at most twice as many code units. The slice may split a pair, which the next slice drops.
  const points = Array.from(text.slice(0, 2 * maxLength + 2))
  return points.length <= maxLength ? text : `${points.slice(0, maxLength).join('')}…`
}
