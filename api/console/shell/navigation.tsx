import { useEffect, useState } from 'preact/hooks'
import { Id } from '../parts/text.tsx'
import { hrefOf, type Place } from '../session/place.ts'
import { useSession } from '../session/session.ts'
import { ThemeSwitch } from './theme.tsx'

const GROUPS: readonly { readonly title: string; readonly links: readonly (readonly [string, string])[] }[] = [
  {
    title: 'Ledger',
    links: [
      ['', 'Overview'],
      ['accounts', 'Accounts'],
      ['transactions', 'Transactions'],
      ['groups', 'Settlement groups'],
      ['tokens', 'Tokens'],
      ['nfts', 'NFTs'],
    ],
  },
  {
    title: 'Operation',
    links: [
      ['shards', 'Shards and nodes'],
      ['webhooks', 'Webhooks'],
      ['keys', 'Public keys'],
    ],
  },
  { title: 'Account holder', links: [['holder', 'Your accounts']] },
]

export function Navigation({ place, onSignOut }: { readonly place: Place; readonly onSignOut: () => void }) {
  const { clientId, role, environment, ledgerId } = useSession()
  const [isOpen, setOpen] = useState(false)
  const current = place.path[0] ?? ''
  useEffect(() => setOpen(false), [place.path.join('/')])
  return (
    <header class="side" data-open={isOpen}>
      <div class="brand">
        <a href={hrefOf([])}>Ledger console</a>
        <button
          type="button"
          class="menu"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
      </div>
      <div id="navigation" class="side-body">
        <nav aria-label="Pages">
          {GROUPS.map(({ title, links }) => (
            <div key={title}>
              <p class="nav-title">{title}</p>
              <ul>
                {links.map(([name, label]) => (
                  <li key={name}>
                    <a href={hrefOf(name === '' ? [] : [name])} aria-current={name === current ? 'page' : undefined}>
                      {label}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <div class="side-foot">
          <p>
            <Id value={clientId} />
            {role === undefined || role === clientId ? '' : ` (${role})`}
          </p>
          <p class="quiet">
            {environment} ledger <Id value={ledgerId} />
          </p>
          <ThemeSwitch />
          <button type="button" onClick={onSignOut}>
            Sign out
          </button>
        </div>
      </div>
    </header>
  )
}
