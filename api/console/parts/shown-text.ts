/** Texts of clients, made safe to look at: characters that change the order or the look of others become visible. */
export interface TextPart {
  readonly text: string
  /** The text stands for an invisible character. */
  readonly isEscape: boolean
}

export interface ShownText {
  readonly parts: readonly TextPart[]
  /** How many characters at the end are left out. */
  readonly left: number
}

/** Controls, directional marks, zero-width characters, tags, and halves of pairs. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]/u
/** More marks on one character than any language has. */
const STACKED = /(\p{M}{4})\p{M}+/gu

export function shownText(value: string, limit: number): ShownText {
  const characters = Array.from(value.slice(0, 2 * limit))
  const shown = characters.slice(0, limit)
  const parts: TextPart[] = []
  let plain = ''
  const flush = (): void => {
    if (plain !== '') parts.push({ text: plain.replaceAll(STACKED, '$1'), isEscape: false })
    plain = ''
  }
  for (const character of shown) {
    if (!INVISIBLE.test(character)) {
      plain += character
      continue
    }
    flush()
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    parts.push({ text: character === '\n' ? '↵' : `U+${code}`, isEscape: true })
  }
  flush()
  return { parts, left: Math.max(value.length - shown.join('').length, 0) }
}
