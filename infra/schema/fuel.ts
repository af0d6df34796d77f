/**
 * What a validation may still do, in steps that are counted and not timed: the same question runs out at the same place
 * on every machine. The clock is only there for what no count sees.
 *   Schemas applied, members and items compared, and characters given to a pattern or a format are all steps.
 */
export class FuelSpent extends Error {
  constructor() {
    super('the steps are used up')
  }
}

export class Fuel {
  private left = 0

  fill(steps: number): void {
    this.left = steps
  }

  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new FuelSpent()
  }
}
