import type { Answer } from '../../actors/account/outcome.ts'

/** An owner answered another question than was asked: whatever it did, it is not known here. */
export function unexpectedAnswer(answer: Answer): never {
  throw new Error(`an owner gave an answer of the kind ${answer.kind} to another question`)
}
