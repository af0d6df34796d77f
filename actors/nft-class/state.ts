/** State of an NFT class. Plain JSON. */
import type { CommandBase } from '../account/commands.ts'
import type { ArrivalCommand, ArrivedFrom, ArrivingClass, HoldArrivalCommand } from '../arrival.ts'
import { foldCase } from '../case-folding.ts'
import type { JsonObject } from '../canonical-json.ts'
import type { ClassMessage, Stamp } from '../message.ts'
import type { RegistrationCommand } from '../registration.ts'

/** `preparing`: waiting for the issuer's consent, or staged for an import. */
export type ClassStatus = 'preparing' | 'active'

export interface ClassData {
  readonly kind: 'class'
  readonly format: 1
  /** The folded name: see `foldedName`. */
  readonly id: string
  /** Counts every write (I1b). */
  readonly version: number
  readonly classId: string
  readonly name: string
  readonly description: string
  readonly issuer: string
  readonly metadataSchema: JsonObject
  readonly clientId: string
  /** Idempotency key of the registration: from a header, or of the request itself. */
  readonly registrationKey: string
  /** For an imported class. */
  readonly arrived?: ArrivedFrom
  readonly createdAtMs: number
  readonly lastTimeMs: number
  readonly dueAtMs: null
}

export interface ClassState extends ClassData {
  readonly status: ClassStatus
}

/** Immutable facts of a registered class: any shard may cache them. */
export interface ClassFacts {
  readonly classId: string
  readonly issuer: string
}

export interface ClassView extends ClassFacts {
  readonly name: string
  readonly description: string
  readonly metadataSchema: JsonObject
  readonly createdAtMs: number
}

export function newClass(
  { classId, name, description, issuer, metadataSchema }: ArrivingClass,
  { caller: { clientId }, atMs }: CommandBase,
  registrationKey: string,
): ClassData {
  return {
    kind: 'class',
    format: 1,
    id: foldedName(name),
    version: 1,
    classId,
    name,
    description,
    issuer,
    metadataSchema,
    clientId,
    registrationKey,
    createdAtMs: atMs,
    lastTimeMs: atMs,
    dueAtMs: null,
  }
}

/** undefined until the registration is final. */
export function classFactsOf({ status, classId, issuer }: ClassState): ClassFacts | undefined {
  return status === 'active' ? { classId, issuer } : undefined
}

export function classViewOf(state: ClassData): ClassView {
  const { classId, issuer, name, description, metadataSchema, createdAtMs } = state
  return { classId, issuer, name, description, metadataSchema, createdAtMs }
}

/** Names are unique after NFC and case folding. Folding can leave NFC, so that NFC follows it. */
export function foldedName(name: string): string {
  return foldCase(name.normalize('NFC')).normalize('NFC')
}

export interface RegisterClassCommand extends RegistrationCommand {
  readonly type: 'register_class'
  /** Set when the command enters the mailbox: `cls_` and a ULID of the name's home. */
  readonly newClassId: string
  readonly name: string
  readonly description: string
  readonly issuer: string
  readonly metadataSchema: JsonObject
}

export type HoldClass = HoldArrivalCommand<ArrivingClass>
export type ClassArrivalCommand = ArrivalCommand<ArrivingClass>

export type ClassCommand = RegisterClassCommand | ClassArrivalCommand | (ClassMessage & Stamp)
