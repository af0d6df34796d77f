interface FigureProps {
  readonly title: string
  readonly value: string
  readonly note: string
  readonly href?: string
}

/** One number that matters. */
export function Figure({ title, value, note, href }: FigureProps) {
  return (
    <div class="figure">
      <p class="figure-title">{href === undefined ? title : <a href={href}>{title}</a>}</p>
      <p class="figure-value">{value}</p>
      <p class="quiet">{note}</p>
    </div>
  )
}
