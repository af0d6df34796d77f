/**
 * The functions of a PKCS #11 module (Cryptoki 2.40) that the ledger needs, called by koffi.
 *   P1. Every function but those at the start runs on a thread of the pool: a slow device blocks no other session.
 *   P2. One thread at a time uses a session. Handles of objects on the token hold for all sessions of the process.
 * CK_ULONG is `unsigned long`, and structures are not packed: Linux and macOS, 64 bits.
 */
import type * as koffi from 'koffi'

/** The name of the failed function and the code of the module, such as `C_Login` and 0xa0. */
export class CryptokiFailed extends Error {
  override readonly name = 'CryptokiFailed'
  readonly called: string
  readonly code: number

  constructor(called: string, code: number) {
    super(`${called} failed with 0x${code.toString(16)}`)
    this.called = called
    this.code = code
  }
}

export const CKO_PUBLIC_KEY = 2
export const CKO_PRIVATE_KEY = 3
export const CKO_SECRET_KEY = 4
export const CKA_CLASS = 0x0
export const CKA_TOKEN = 0x1
export const CKA_PRIVATE = 0x2
export const CKA_LABEL = 0x3
export const CKA_KEY_TYPE = 0x100
export const CKA_ID = 0x102
export const CKA_SENSITIVE = 0x103
export const CKA_SIGN = 0x108
export const CKA_VERIFY = 0x10a
export const CKA_VALUE_LEN = 0x161
export const CKA_EXTRACTABLE = 0x162
export const CKA_EC_PARAMS = 0x180
export const CKA_EC_POINT = 0x181
export const CKK_GENERIC_SECRET = 0x10
export const CKM_GENERIC_SECRET_KEY_GEN = 0x350
export const CKM_SHA256_HMAC = 0x251
export const CKM_EC_KEY_PAIR_GEN = 0x1040
export const CKM_ECDSA = 0x1041
const CKF_OS_LOCKING_OK = 2
export const CKF_RW_SESSION = 2
export const CKF_SERIAL_SESSION = 4
export const CKU_USER = 1
export const CKR_DEVICE_ERROR = 0x30
export const CKR_DEVICE_REMOVED = 0x32
export const CKR_SESSION_CLOSED = 0xb0
export const CKR_SESSION_HANDLE_INVALID = 0xb3
export const CKR_TOKEN_NOT_PRESENT = 0xe0
export const CKR_USER_ALREADY_LOGGED_IN = 0x100
const CKR_OK = 0

export type Attribute = readonly [type: number, value: Buffer | number | boolean]

export type Cryptoki = ReturnType<typeof loadCryptoki>

export type Ffi = typeof koffi
type Native = ReturnType<koffi.LibraryHandle['func']>
type TypeSpec = Parameters<Ffi['out']>[0]

/** Loads and initializes a module. Throws CryptokiFailed, and the error of the loader. */
export function loadCryptoki(ffi: Ffi, path: string) {
  const attribute = ffi.struct({ type: 'ulong', pValue: 'void *', ulValueLen: 'ulong' })
  const mechanism = ffi.struct({ mechanism: 'ulong', pParameter: 'void *', ulParameterLen: 'ulong' })
  const attributeList = ffi.pointer(attribute)
  const mechanismPointer = ffi.pointer(mechanism)
  const library = ffi.load(path)
  const native = (name: string, args: readonly TypeSpec[]): Native => library.func(name, 'ulong', [...args])
  const long = ffi.out(ffi.pointer('ulong'))
  const both = ffi.inout(ffi.pointer('ulong'))
  const functions = {
    initialize: native('C_Initialize', ['void *']),
    slots: native('C_GetSlotList', ['uchar', 'ulong *', both]),
    tokenInfo: native('C_GetTokenInfo', ['ulong', 'uchar *']),
    open: native('C_OpenSession', ['ulong', 'ulong', 'void *', 'void *', long]),
    login: native('C_Login', ['ulong', 'ulong', 'uchar *', 'ulong']),
    findInit: native('C_FindObjectsInit', ['ulong', attributeList, 'ulong']),
    find: native('C_FindObjects', ['ulong', 'ulong *', 'ulong', long]),
    findFinal: native('C_FindObjectsFinal', ['ulong']),
    attributes: native('C_GetAttributeValue', ['ulong', 'ulong', ffi.inout(attributeList), 'ulong']),
    signInit: native('C_SignInit', ['ulong', mechanismPointer, 'ulong']),
    sign: native('C_Sign', ['ulong', 'uchar *', 'ulong', 'uchar *', both]),
    generateKey: native('C_GenerateKey', ['ulong', mechanismPointer, attributeList, 'ulong', long]),
    generateKeyPair: native('C_GenerateKeyPair', [
      'ulong',
      mechanismPointer,
      attributeList,
      'ulong',
      attributeList,
      'ulong',
      long,
      long,
    ]),
  }
  const checked = (called: string, code: unknown): void => {
    if (Number(code) !== CKR_OK) throw new CryptokiFailed(called, Number(code))
  }
  const call = (name: keyof typeof functions, ...args: readonly unknown[]): void =>
    checked(name, functions[name](...args))
  const later = (name: keyof typeof functions, ...args: readonly unknown[]): Promise<void> =>
    new Promise((resolve, reject) => {
      functions[name].async(...args, (error: unknown, code: unknown) => {
        try {
          if (error !== null && error !== undefined) throw error
          resolve(checked(name, code))
        } catch (failure) {
          reject(failure)
        }
      })
    })
  const attributesOf = (template: readonly Attribute[]) =>
    template.map(([type, value]) => {
      const bytes = bytesOf(value)
      return { type, pValue: bytes, ulValueLen: bytes.length }
    })
  const mechanismOf = (kind: number) => ({ mechanism: kind, pParameter: null, ulParameterLen: 0 })

  call('initialize', initializeArguments())
  return { call, later, attributesOf, mechanismOf }
}

function initializeArguments(): Buffer {
  // Four null functions, the flags, a null pointer: the module locks by the means of the system.
  const bytes = Buffer.alloc(6 * 8)
  bytes.writeBigUInt64LE(BigInt(CKF_OS_LOCKING_OK), 4 * 8)
  return bytes
}

function bytesOf(value: Buffer | number | boolean): Buffer {
  if (typeof value === 'boolean') return Buffer.of(value ? 1 : 0)
  if (typeof value !== 'number') return value
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
