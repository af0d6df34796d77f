/** Counts the work of a validation. A count, unlike a clock, gives every machine the same reply. */
export class StepsExhausted extends Error {
  constructor() {
    super('the validation has used all its steps')
  }
}

export class Steps {
  private left = 0

  reset(steps: number): void {
    this.left = steps
  }

  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new StepsExhausted()
  }
}
