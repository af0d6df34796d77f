import * as v from 'valibot'
import type { Result } from '../../actors/result.ts'

/** A schema that reads a text. The error of `read` describes the allowed values. */
export function readBy<T>(read: (text: string) => Result<T, string>) {
  return v.pipe(
    v.string(),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      const result = read(dataset.value)
      if (result.ok) return result.value
      addIssue({ message: result.error })
      return NEVER
    }),
  )
}
