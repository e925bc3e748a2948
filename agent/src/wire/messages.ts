// Messages between agent and server as the agent holds them: the fields of protocol/ in the agent's own spelling. They are
// respelled where they are read and written, and nowhere else.
import * as wire from "../../../protocol/index.ts";
import { camelFields, snakeFields, type Camel } from "./fields.ts";

export type AgentMessage = Camel<wire.AgentMessage>;
export type Desired = Camel<wire.Desired>;
export type DesiredInstance = Camel<wire.DesiredInstance>;
export type DesiredVolume = Camel<wire.DesiredVolume>;
export type GpuFacts = Camel<wire.GpuFacts>;
export type GpuHealth = Camel<wire.GpuHealth>;
export type Hello = Camel<wire.Hello>;
export type LaunchCommand = Camel<wire.LaunchCommand>;
export type LogNote = Camel<wire.LogNote>;
export type MachineFacts = Camel<wire.MachineFacts>;
export type Measurements = Camel<wire.Measurements>;
export type Notice = Camel<wire.Notice>;
export type ObservedInstance = Camel<wire.ObservedInstance>;
export type ObservedVolume = Camel<wire.ObservedVolume>;
export type OpenTunnel = Camel<wire.OpenTunnel>;
export type Place = wire.Place;
export type PortRequest = Camel<wire.PortRequest>;
export type Report = Camel<wire.Report>;
export type ServerList = Camel<wire.ServerList>;
export type ServerMessage = Camel<wire.ServerMessage>;
export type Task = Camel<wire.Task>;
export type TaskAction = Camel<wire.TaskAction>;
export type TaskProgress = Camel<wire.TaskProgress>;
export type TaskResult = Camel<wire.TaskResult>;
export type TransferMessage = Camel<wire.TransferMessage>;
export type Welcome = Camel<wire.Welcome>;

type Decoded<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly problem: string };

/** Reads one message of the server; a malformed one is a value that says what is wrong, never an exception. */
export function readServerMessage(text: string): Decoded<ServerMessage> {
  const decoded = wire.decodeServerMessage(text);
  return decoded.ok ? { ok: true, message: camelFields(wire.ServerMessage, decoded.message) } : decoded;
}

export function writeAgentMessage(message: AgentMessage): string {
  return JSON.stringify(snakeFields(wire.AgentMessage, message));
}

/** Reads one message of a transfer; undefined for any other text. */
export function readTransferMessage(text: string): TransferMessage | undefined {
  const message = wire.decodeTransferMessage(text);
  return message && camelFields(wire.TransferMessage, message);
}

export function writeTransferMessage(message: TransferMessage): string {
  return JSON.stringify(snakeFields(wire.TransferMessage, message));
}

export function writeLogNote(note: LogNote): string {
  return JSON.stringify(snakeFields(wire.LogNote, note));
}
