/** Commands of the exchanges of one group ID. */
import type { DueCommand, StampedMessage } from '../define-actor.ts'
import type { ExchangeDeliveryMessage, ExchangeMessage } from '../message.ts'

export type ExchangeCommand = StampedMessage<ExchangeMessage> | StampedMessage<ExchangeDeliveryMessage> | DueCommand
