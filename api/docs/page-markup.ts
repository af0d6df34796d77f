/**
 * HTML that is safe by construction: what is put into a template is escaped unless it is markup itself.
 * Of CommonMark the texts of the document use paragraphs, lists, code and bold, and no more is known here.
 */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Markup | string | number | readonly Markup[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.map((text, index) => text + shown(parts[index] ?? '')).join(''))
}

export const NOTHING = new Markup('')

/** Several of them with something between. */
export function joinMarkup(parts: readonly Markup[], between: string): Markup {
  return new Markup(parts.map(({ text }) => text).join(escape(between)))
}

/** A text in CommonMark as paragraphs and lists. */
export function prose(text: string): Markup {
  const blocks = text.split('\n\n').map((block) => {
    if (!block.startsWith('- ')) return html`<p>${inline(block)}</p>`
    const items = block.split('\n').map((line) => html`<li>${inline(line.slice(2))}</li>`)
    return html`<ul>
      ${items}
    </ul>`
  })
  return html`${blocks}`
}

/** Code and bold within a paragraph. */
export function inline(text: string): Markup {
  const escaped = escape(text.trim())
  return new Markup(
    escaped.replaceAll(/`([^`]*)`/g, '<code>$1</code>').replaceAll(/\*\*([^*]*)\*\*/g, '<strong>$1</strong>'),
  )
}

function shown(part: Part): string {
  if (part instanceof Markup) return part.text
  return typeof part === 'string' || typeof part === 'number'
    ? escape(String(part))
    : part.map(({ text }) => text).join('')
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
