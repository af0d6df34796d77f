/**
 * Guides in Markdown as HTML. Markup in a guide is shown as text, and images by their description. Headings have the
 * anchors that GitHub gives them.
 */
import { Marked, type Tokens } from 'marked'
import { html, Markup } from './page-markup.ts'

export interface Heading {
  /** 1 to 6. */
  readonly depth: number
  /** The anchor, unique in the page. */
  readonly id: string
  readonly text: string
}

export interface RenderedMarkdown {
  readonly markup: Markup
  readonly headings: readonly Heading[]
}

/** `linkOf`: where a link leads; undefined: its text is shown without the link. */
export function renderMarkdown(text: string, linkOf: (target: string) => string | undefined): RenderedMarkdown {
  const headings: Heading[] = []
  const marked = new Marked({
    renderer: {
      heading({ depth, tokens }: Tokens.Heading) {
        const plain = this.parser.parseInline(tokens, this.parser.textRenderer)
        const heading = { depth, id: anchorOf(plain, headings), text: plain }
        headings.push(heading)
        const content = new Markup(this.parser.parseInline(tokens))
        const tag = new Markup(`h${depth}`)
        return html`<${tag} id="${heading.id}">${content}</${tag}> `.text
      },
      link({ href, tokens }: Tokens.Link) {
        const content = new Markup(this.parser.parseInline(tokens))
        const target = linkOf(href)
        return target === undefined ? content.text : html`<a href="${target}">${content}</a>`.text
      },
      table({ header, rows }: Tokens.Table) {
        const row = (tag: Markup, cells: readonly Tokens.TableCell[]): Markup =>
          html`<tr>
            ${cells.map((cell) => html`<${tag}>${new Markup(this.parser.parseInline(cell.tokens))}</${tag}>`)}
          </tr>`
        const head = row(new Markup('th'), header)
        const body = rows.map((cells) => row(new Markup('td'), cells))
        // Wide tables scroll by themselves: people can reach them with the keyboard.
        return html`<div class="table" tabindex="0">
          <table>
            <thead>
              ${head}
            </thead>
            <tbody>
              ${body}
            </tbody>
          </table>
        </div> `.text
      },
      // Diagrams would need a script.
      code: ({ text: source, lang }: Tokens.Code) =>
        lang === 'mermaid' ? '' : html`<pre><code>${source}</code></pre> `.text,
      html: ({ text: shown }: Tokens.HTML | Tokens.Tag) => html`${shown}`.text,
      image: ({ text: shown }: Tokens.Image) => html`${shown}`.text,
    },
  })
  const rendered = marked.parse(text, { async: false })
  return { headings, markup: new Markup(rendered) }
}

function anchorOf(text: string, earlier: readonly Heading[]): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
  const taken = earlier.filter(({ id }) => id === slug || new RegExp(`^${slug}-\\d+$`).test(id)).length
  return taken === 0 ? slug : `${slug}-${taken}`
}
