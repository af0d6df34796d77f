/**
 * The sealed texts of a commit, one behind the other in one parameter; columns say where theirs begin and how long they
 * are. They are most of what a commit sends: as elements of arrays each would be written in hexadecimal digits, and read
 * character by character.
 */

/** Of most commits. */
const FIRST_BYTES = 1_048_576

/** One commit is made at a time: its texts are gathered where those of the one before were. */
let room = Buffer.alloc(FIRST_BYTES)

export class CommitTexts {
  private used = 0

  /** Of each: where it begins, from 1, and its bytes; null of both where there is none. */
  add(
    texts: readonly (Uint8Array | null)[],
  ): readonly [at: readonly (number | null)[], bytes: readonly (number | null)[]] {
    const at = texts.map((text) => (text === null ? null : this.keep(text)))
    return [at, texts.map((text) => text?.length ?? null)]
  }

  private keep(text: Uint8Array): number {
    const end = this.used + text.length
    if (end > room.length) {
      const larger = Buffer.alloc(2 * end)
      room.copy(larger, 0, 0, this.used)
      room = larger
    }
    room.set(text, this.used)
    const at = this.used + 1
    this.used = end
    return at
  }

  /** Once all are in. */
  parameter(): string {
    return room.toString('base64', 0, this.used)
  }
}

/** The step of the statement that reads them. */
export function textsStep(parameter: string): string {
  return `texts AS MATERIALIZED (\nSELECT decode(${parameter}::text, 'base64') AS bytes)`
}

/** The text that columns say this of. */
export function textOf(at: string, bytes: string): string {
  return `substring((SELECT texts.bytes FROM texts) FROM ${at} FOR ${bytes})`
}
