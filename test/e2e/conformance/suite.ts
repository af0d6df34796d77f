/**
 * Where the chapters put their checks, and what says afterwards whether they are all there.
 *   C1. Each row of the specification is claimed by at least one test, which asserts something.
 *   C2. The chapters come in the order of the specification.
 */
import { expect, test } from 'vitest'
import { type Chapter, type RowOf, SPECIFICATION } from './specification.ts'
import type { Stage } from './stage.ts'

export type RowOfChapter<C extends Chapter> = (
  row: RowOf<C>,
  property: string,
  check: (stage: Stage) => Promise<void> | void,
) => void

export class Suite {
  private readonly claims = new Map<Chapter, Set<string>>()
  private readonly references: { readonly row: string; readonly chapter: Chapter; readonly to: string }[] = []
  private readonly getStage: () => Stage

  /** `getStage`: called inside tests; before, there is none. */
  constructor(getStage: () => Stage) {
    this.getStage = getStage
  }

  chapter<C extends Chapter>(chapter: C): RowOfChapter<C> {
    return (row, property, check) => {
      const rows = this.claims.get(chapter) ?? new Set()
      this.claims.set(chapter, rows.add(row))
      test(`${chapter} · ${row}: ${property}`, async () => {
        expect.hasAssertions()
        await check(this.getStage())
      })
    }
  }

  /** What one row says is what another says, which has the test. */
  same<C extends Chapter, D extends Chapter>(
    [chapter, row]: readonly [C, RowOf<C>],
    [other, to]: readonly [D, RowOf<D>],
  ): void {
    this.references.push({ row: `${chapter} · ${row}`, chapter: other, to })
  }

  /** `chapter · row` of what no test is there for (C1). */
  unclaimed(): readonly string[] {
    const elsewhere = this.references
      .filter(({ chapter, to }) => this.claims.get(chapter)?.has(to) === true)
      .map(({ row }) => row)
    return this.chapters().flatMap((chapter) =>
      SPECIFICATION[chapter]
        .filter((row) => this.claims.get(chapter)?.has(row) !== true)
        .map((row) => `${chapter} · ${row}`)
        .filter((row) => !elsewhere.includes(row)),
    )
  }

  /** Each where its first test stands (C2). */
  claimedChapters(): readonly Chapter[] {
    return [...this.claims.keys()]
  }

  chapters(): readonly Chapter[] {
    return Object.keys(SPECIFICATION) as Chapter[]
  }
}
