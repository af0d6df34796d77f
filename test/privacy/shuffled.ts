import type { SeededRandom } from '../simulation/kernel/sim-random.ts'

/** Fisher and Yates. */
export function shuffled<T>(values: readonly T[], random: SeededRandom): T[] {
  const mixed = [...values]
  for (let index = mixed.length - 1; index > 0; index -= 1) {
    const other = random.integer(index + 1)
    ;[mixed[index], mixed[other]] = [mixed[other] as T, mixed[index] as T]
  }
  return mixed
}
