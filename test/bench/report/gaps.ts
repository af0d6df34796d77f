/** The longest time between two events of the same kind. */
export class Gaps {
  private readonly startMs: number
  private readonly lastMs = new Map<string, number>()
  private readonly longestMs = new Map<string, number>()

  /** `startMs`: the start of the first gap of each kind. */
  constructor(startMs: number) {
    this.startMs = startMs
  }

  note(kind: string, nowMs: number): void {
    const gapMs = nowMs - (this.lastMs.get(kind) ?? this.startMs)
    this.lastMs.set(kind, nowMs)
    if (gapMs > (this.longestMs.get(kind) ?? 0)) this.longestMs.set(kind, gapMs)
  }

  /** By kind, milliseconds. */
  longest(): Float64Array {
    return Float64Array.from(this.longestMs.values())
  }
}
