/** How the pages under `/docs` look. The reference brings a style of its own, whose colors these are. */
export const SITE_STYLE = `
:root {
  color-scheme: light dark;
  --header: 3.25rem; --text: #1b1b1b; --quiet: #6b6b6b; --back: #fff; --soft: #f6f6f6; --line: #dfdfdf; --link: #0b5fb0;
  --scalar-custom-header-height: var(--header);
}
@media (prefers-color-scheme: dark) {
  :root { --text: #e7e7e7; --quiet: #a4a4a4; --back: #0f0f0f; --soft: #1a1a1a; --line: #2d2d2d; --link: #7cc4ff }
}
* { box-sizing: border-box }
html { scroll-padding-top: calc(var(--header) + 1rem) }
body { margin: 0; font: 1rem/1.6 system-ui, sans-serif; color: var(--text); background: var(--back) }
header.site { position: sticky; top: 0; z-index: 20; display: flex; align-items: center; gap: 1.5rem; height: var(--header); padding: 0 1.25rem; border-bottom: 1px solid var(--line); background: var(--back); font-size: .875rem; white-space: nowrap }
header.site nav { display: flex; gap: 1.25rem; overflow-x: auto; scrollbar-width: none }
header.site a { color: var(--quiet); text-decoration: none; padding: .25rem 0 }
header.site a:hover, header.site a:focus-visible { color: var(--text) }
header.site a.name { color: var(--text); font-weight: 600 }
header.site a[aria-current] { color: var(--text); box-shadow: 0 2px 0 var(--link) }
.guide { display: grid; grid-template-columns: 18rem minmax(0, 1fr) }
.guide > nav { position: sticky; top: var(--header); height: calc(100vh - var(--header)); overflow-y: auto; padding: 1rem 1.25rem; border-right: 1px solid var(--line); font-size: .875rem }
.guide > nav ul { list-style: none; margin: 0; padding: 0 }
.guide > nav a { display: block; padding: .3rem 0; color: var(--quiet); text-decoration: none }
.guide > nav a:hover, .guide > nav a[aria-current] { color: var(--text) }
.guide > nav a[aria-current] { font-weight: 600 }
.guide > nav ul ul { margin: 0 0 .5rem; padding-left: .85rem; border-left: 1px solid var(--line) }
.guide main { max-width: 56rem; padding: 1.5rem 3rem 6rem; overflow-wrap: anywhere }
.guide main a { color: var(--link) }
.guide main h1 { margin: .5rem 0 1rem; font-size: 1.75rem; line-height: 1.25 }
.guide main h2 { margin: 2.5rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: 1.3rem }
.guide main h3 { margin: 1.75rem 0 .5rem; font-size: 1.05rem }
.guide main code, .guide main pre { font-family: ui-monospace, monospace; font-size: .85em; background: var(--soft); border-radius: .3rem }
.guide main code { padding: .1em .3em }
.guide main pre { padding: .85rem 1rem; overflow-x: auto; border: 1px solid var(--line); line-height: 1.5; overflow-wrap: normal }
.guide main pre code { padding: 0; font-size: 1em; background: none }
.guide .table { overflow-x: auto; margin: .75rem 0 }
.guide .table table { border-collapse: collapse; width: 100%; font-size: .9rem; overflow-wrap: break-word }
.guide .table th, .guide .table td { text-align: left; vertical-align: top; padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); min-width: 6rem }
.guide .table th { color: var(--quiet); font-weight: 500 }
.quiet { color: var(--quiet) }
#reference .darklight-reference { padding-top: .75rem; border-top: 1px solid var(--line) }
noscript p { padding: 2rem 1.25rem }
@media (max-width: 60rem) {
  .guide { display: block }
  .guide > nav { position: static; height: auto; padding: .25rem 1.25rem; border-right: 0; border-bottom: 1px solid var(--line) }
  .guide > nav > ul { display: flex; gap: 1.25rem; overflow-x: auto; white-space: nowrap }
  .guide > nav ul ul { display: none }
  .guide main { padding: 1rem 1.25rem 4rem }
  header.site { gap: 1rem; padding: 0 1rem }
}
`
