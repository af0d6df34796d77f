/** The longest time that passed between two of the same kind. */
export class Gaps {
  private readonly startMs: number
  private readonly lastMs = new Map<string, number>()
  private readonly longestMs = new Map<string, number>()

  /** `startMs`: since when the first of each kind is waited for. */
  constructor(startMs: number) {
    this.startMs = startMs
  }

  note(kind: string, nowMs: number): void {
    const gapMs = nowMs - (this.lastMs.get(kind) ?? this.startMs)
    this.lastMs.set(kind, nowMs)
    if (gapMs > (this.longestMs.get(kind) ?? 0)) this.longestMs.set(kind, gapMs)
  }

  /** Of each kind, milliseconds. */
  longest(): Float64Array {
    return Float64Array.from(this.longestMs.values())
  }
}
