/** The router finds a path without parameters in one look-up, and every other path as Hono's router does. */
import { expect, test } from 'vitest'
import { PathRouter } from '../../../../api/http/router.ts'

function routed(...routes: readonly (readonly [string, string])[]): PathRouter<string> {
  const router = new PathRouter<string>()
  for (const [method, path] of routes) router.add(method, path, `${method} ${path}`)
  return router
}

function found(router: PathRouter<string>, method: string, path: string): readonly string[] {
  return router.match(method, path)[0].map(([handler]) => handler)
}

test('a fixed path wins over a pattern, in either order of registration', () => {
  const [key, one] = [['GET', '/imports/key'] as const, ['GET', '/imports/:id'] as const]
  for (const router of [routed(key, one), routed(one, key)]) {
    expect(found(router, 'GET', '/imports/key')).toEqual(['GET /imports/key'])
    expect(found(router, 'GET', '/imports/1')).toEqual(['GET /imports/:id'])
  }
})

test('a path belongs to its method, and a path with a slash at its end is another path', () => {
  const router = routed(['GET', '/orders'], ['POST', '/orders'])
  expect(found(router, 'POST', '/orders')).toEqual(['POST /orders'])
  expect([found(router, 'PUT', '/orders'), found(router, 'POST', '/orders/')]).toEqual([[], []])
})

test('a pattern returns the values of its parameters', () => {
  const [[match] = [], values] = routed(['GET', '/accounts/:id/keys']).match('GET', '/accounts/a/keys')
  expect([match, values]).toEqual([['GET /accounts/:id/keys', { id: 'a' }], undefined])
})

test('a second handler and middleware are refused, since a fixed path would never reach them', () => {
  expect(() => routed(['GET', '/orders'], ['GET', '/orders'])).toThrow('GET /orders: a route has one handler')
  expect(() => routed(['ALL', '*'])).toThrow('no middleware')
})
