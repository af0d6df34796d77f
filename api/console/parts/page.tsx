import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface Crumb {
  readonly label: string
  readonly href: string
}

interface PageProps {
  readonly title: string
  /** Of the heading, where it is more than the title. */
  readonly heading?: ComponentChildren
  readonly intro?: ComponentChildren
  readonly crumbs?: readonly Crumb[]
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** A page with its heading, which gets the focus: a screen reader then reads where it is. */
export function Page({ title, heading, intro, crumbs = [], actions, children }: PageProps) {
  const head = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} - Ledger console`
    head.current?.focus()
    scrollTo(0, 0)
  }, [title])
  return (
    <>
      <header class="page-head">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumb">
            <ol class="crumbs">
              {crumbs.map(({ label, href }) => (
                <li key={href}>
                  <a href={href}>{label}</a>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div class="page-title">
          <h1 ref={head} tabIndex={-1}>
            {heading ?? title}
          </h1>
          {actions !== undefined && <div class="actions">{actions}</div>}
        </div>
        {intro !== undefined && <p class="intro">{intro}</p>}
      </header>
      {children}
    </>
  )
}

interface SectionProps {
  readonly title: string
  readonly intro?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

export function Section({ title, intro, actions, children }: SectionProps) {
  return (
    <section class="panel" aria-label={title}>
      <div class="panel-head">
        <h2>{title}</h2>
        {actions !== undefined && <div class="actions">{actions}</div>}
      </div>
      {intro !== undefined && <p class="quiet">{intro}</p>}
      {children}
    </section>
  )
}

/** Named values. Rows without a value are left out. */
export function Fields({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="fields">
      {rows
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}
