import { useState } from 'preact/hooks'

const STORED = 'ledger-console.theme'
const THEMES = { system: 'System', light: 'Light', dark: 'Dark' } as const
type Theme = keyof typeof THEMES

/** Before the first paint, so that nothing flickers. */
export function applyStoredTheme(): void {
  apply(storedTheme())
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme)
  return (
    <label class="theme-switch">
      <span>Theme</span>
      <select
        value={theme}
        onChange={({ currentTarget }) => {
          const chosen = themeOf(currentTarget.value)
          storeTheme(chosen)
          apply(chosen)
          setTheme(chosen)
        }}
      >
        {Object.entries(THEMES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

/** The system's where the browser permits no storage. */
function storedTheme(): Theme {
  try {
    return themeOf(localStorage.getItem(STORED))
  } catch {
    return 'system'
  }
}

function storeTheme(theme: Theme): void {
  try {
    localStorage.setItem(STORED, theme)
  } catch {
    // The choice lasts until the page is closed.
  }
}

function themeOf(text: string | null): Theme {
  return text === 'light' || text === 'dark' ? text : 'system'
}

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
