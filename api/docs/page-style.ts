/** How the documentation page looks. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --text: #1b1b1b; --back: #fff; --soft: #f3f4f6; --line: #d9dce1; --link: #0b57d0; --quiet: #5b616b }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e6e6; --back: #16181c; --soft: #22252b; --line: #3a3f47; --link: #8ab4f8; --quiet: #a0a6b0 }
}
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back) }
a { color: var(--link); text-decoration: none }
a:hover, a:focus { text-decoration: underline }
code, pre { font-family: ui-monospace, monospace; font-size: .875em; background: var(--soft); border-radius: .25em }
code { padding: .1em .3em; overflow-wrap: break-word }
pre { padding: .75rem; overflow-x: auto }
.layout { display: grid; grid-template-columns: minmax(14rem, 20rem) minmax(0, 56rem); gap: 2.5rem; max-width: 84rem; margin: 0 auto; padding: 0 1.25rem }
nav { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1.5rem 0; font-size: .875rem; overflow-wrap: anywhere }
nav ul { list-style: none; margin: .25rem 0 1rem; padding: 0 }
nav li { padding: .1rem 0 }
nav strong { display: block; margin-top: .75rem }
main { padding: 1.5rem 0 6rem; overflow-wrap: anywhere }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line) }
h3 { margin: 2.5rem 0 .25rem; font-size: 1.1rem }
h4 { margin: 1.25rem 0 .25rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: .5rem 0 }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word }
td:first-child { min-width: 7rem }
td:nth-child(2) { min-width: 9rem }
small, .quiet { color: var(--quiet) }
.pattern { font-size: .75em }
.method { display: inline-block; min-width: 3.2em; font: 600 .8rem ui-monospace, monospace; color: var(--quiet) }
details { margin: .5rem 0; border: 1px solid var(--line); border-radius: .25rem; padding: .5rem .75rem }
summary { cursor: pointer }
@media (max-width: 60rem) {
  .layout { display: block }
  nav { position: static; max-height: none }
  main table { display: block; overflow-x: auto }
}
`
