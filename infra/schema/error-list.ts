/** The distinct errors of a value, up to a limit. */
import type { ValueError } from '../../runtime/ports/schema-validator.ts'
import { MAX_MESSAGE_LENGTH } from './limits.ts'
import { shortened } from './shortened.ts'

export class ErrorList {
  /** With a limit of 1 the list only says whether the value is valid. */
  readonly limit: number
  private readonly byText = new Map<string, ValueError>()

  constructor(limit: number) {
    this.limit = limit
  }

  get isEmpty(): boolean {
    return this.byText.size === 0
  }

  get isFull(): boolean {
    return this.byText.size >= this.limit
  }

  add(path: string, message: string): void {
    if (this.isFull) return
    const error = { path: shortened(path), message: shortened(message, MAX_MESSAGE_LENGTH) }
    this.byText.set(JSON.stringify(error), error)
  }

  get size(): number {
    return this.byText.size
  }

  addAll(errors: ErrorList): void {
    for (const [text, error] of errors.byText) {
      if (this.isFull) return
      this.byText.set(text, error)
    }
  }

  values(): readonly ValueError[] {
    return [...this.byText.values()]
  }
}

export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
