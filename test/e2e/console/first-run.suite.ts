/** A person who has just started the ledger gets to a verified transfer by the buttons that the console offers. */
import { describe, expect, test } from 'vitest'
import type { GetScene } from './console-scene.ts'
import { signIn, visitConsole } from './console-visit.ts'

export function describeFirstRun(getScene: GetScene): void {
  describe('after a first start', () => {
    test('leads from the sign-in to a transfer whose receipt the browser verified', async () => {
      const { browser, ledger } = getScene()
      const { page, faults, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'admin')
      await page.getByRole('link', { name: 'Make your first transfer' }).click()
      const register = page.getByRole('button', { name: 'Make a key and register' })
      await register.click()
      await page.getByRole('region', { name: 'Make another account' }).waitFor()
      await register.click()
      const accounts = page.getByRole('table', { name: 'Accounts of this browser' }).getByRole('row')
      await expect.poll(() => accounts.count()).toBe(3)
      const main = page.locator('main button.primary')
      await expect.poll(() => main.textContent()).toBe('Sign and credit')
      await page.getByRole('button', { name: 'Sign and credit' }).click()
      const credit = page.getByRole('region', { name: 'Bring value in' })
      await credit.getByText('Verified in this browser').waitFor()
      await expect.poll(() => main.textContent()).toBe('Sign and transfer')
      await page.getByRole('button', { name: 'Sign and transfer' }).click()
      const transfer = page.getByRole('region', { name: 'Transfer' })
      await transfer.getByText('Verified in this browser').waitFor()
      expect(await transfer.getByText('completed', { exact: true }).count()).toBe(1)
      await expect.poll(() => accounts.nth(1).textContent()).toContain('75 BASE')
      await expect.poll(() => accounts.nth(2).textContent()).toContain('25 BASE')
      expect(faults).toEqual([])
      await close()
    })

    test('keeps no secret in the browser, and a key that no script can read', async () => {
      const { browser, ledger } = getScene()
      const { page, close } = await visitConsole(browser, ledger.address)
      await signIn(page, ledger.dataDir, 'transactor')
      await page.getByRole('link', { name: 'Your accounts' }).click()
      await page.getByRole('button', { name: 'Make a key and register' }).click()
      await page.getByRole('region', { name: 'Make another account' }).waitFor()
      const stored = await page.evaluate(`(async () => {
        const database = await new Promise((resolve) => {
          const opening = indexedDB.open('ledger-console')
          opening.onsuccess = () => resolve(opening.result)
        })
        const held = await new Promise((resolve) => {
          const reading = database.transaction('account-keys').objectStore('account-keys').getAll()
          reading.onsuccess = () => resolve(reading.result)
        })
        const { privateKey } = held[0].key
        const exported = await crypto.subtle.exportKey('jwk', privateKey).then(() => 'exported', () => 'refused')
        return { cookies: document.cookie, local: { ...localStorage }, session: { ...sessionStorage }, exported,
          extractable: privateKey.extractable }
      })()`)
      expect(stored).toEqual({ cookies: '', local: {}, session: {}, exported: 'refused', extractable: false })
      expect(await page.context().cookies()).toEqual([])
      await page.reload()
      await page.getByRole('heading', { level: 2, name: 'Sign in as a client' }).waitFor()
      await close()
    })

    test('says in plain words that a secret is wrong', async () => {
      const { browser, ledger } = getScene()
      const { page, close } = await visitConsole(browser, ledger.address)
      await page.getByLabel('Client secret').fill('not the secret')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      const alert = page.getByRole('alert')
      await alert.waitFor()
      expect(await alert.textContent()).toContain('The sign-in failed. The credentials are not valid.')
      await close()
    })
  })
}
