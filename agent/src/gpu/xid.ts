import { busOf } from "./sample.ts";

/** One line of the kernel log in which the driver reports an event of a GPU. */
export type Xid = { readonly bus: string; readonly code: number; readonly text: string };

const XID =
  /^NVRM: Xid \((?:PCI:)?([0-9a-f]{1,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?)\): (\d{1,5})(?:[, ]\s*(.*))?$/i;
const DRIVER_LOAD = /^NVRM: loading NVIDIA UNIX .*Kernel Module/;
const TEXT_LIMIT = 200;

/** The fault that a line of the kernel log reports; undefined for any other line. */
export function parseXid(line: string): Xid | undefined {
  const match = XID.exec(line.trim());
  if (!match) return undefined;
  return { bus: busOf(match[1] ?? ""), code: Number(match[2]), text: (match[3] ?? "").slice(0, TEXT_LIMIT) };
}

/** True for the line of a driver that starts: faults under the one before it are over. */
export function isDriverLoad(line: string): boolean {
  return DRIVER_LOAD.test(line.trim());
}

/**
 * `fatal` takes the GPU off the market until the driver is loaded again or the machine reboots. `application` is a mistake of a
 * renter's own program and nobody else's business. `noted` is written to the agent's log and no more.
 */
export type XidClass =
  | { readonly kind: "fatal"; readonly meaning: string }
  | { readonly kind: "application" }
  | { readonly kind: "noted" };

/** Events after which the vendor's catalogue asks for a reset of the GPU, a reboot, or a look at the hardware. */
const FATAL: Readonly<Record<number, string>> = {
  // The GPU does not come back from a timeout: reset.
  46: "the GPU stopped processing",
  // Two bits of one memory word are wrong, so data was lost: reset; in SRAM perhaps a new board.
  48: "uncorrectable memory error",
  // A power plug of the board is missing or loose.
  54: "auxiliary power is not connected",
  // The power controller halted at a breakpoint (boards before Ampere) or altogether: reset.
  61: "an internal controller stopped",
  62: "an internal controller halted",
  // A row or page is set aside. What runs goes on, but only a reset puts the spare one in its place.
  63: "a bad part of the memory waits to be replaced by a spare one",
  // There was no spare row or page, or the change could not be noted down: reset, then replacement.
  64: "a bad part of the memory could not be replaced",
  // A link to another GPU or a switch broke: reset of both ends.
  74: "NVLink error",
  // The board does not answer on the bus: reboot, check seat, power and cable.
  79: "the GPU has fallen off the bus",
  // The error hit one program and was kept from the others; the GPU wants a reset before the next renter.
  94: "contained memory error",
  // The error may have reached every program: reset before anything goes on.
  95: "uncontained memory error",
  // A context does not leave the processors: reset.
  109: "the GPU hangs at a context switch",
  // The security unit found what should not be: cold start.
  110: "security fault",
  // The GPU's own system processor does not answer, or crashed: reset.
  119: "the GPU's system processor does not answer",
  120: "the GPU's system processor crashed",
  // A link does not come up: reset.
  136: "NVLink does not come up",
  // An uncorrectable error that could not be put down for repair: reset.
  140: "unrecoverable memory error",
  // The GPU could not be set up: reset.
  143: "the GPU could not be initialised",
  // Parts of the chip are, or should have been, taken out of use: reset, then replacement.
  156: "a part of the GPU waits to be taken out of use",
  157: "a bad part of the GPU could not be taken out of use",
  158: "the GPU does not come back from a timeout",
  167: "fatal timeout on PCI Express",
  // Damage in the protected region: less memory than the board is sold with.
  168: "memory capacity is reduced",
  169: "an internal controller halted",
  // Companions of 48 that say where the error was.
  171: "uncorrectable error in the GPU's memory",
  172: "uncorrectable error inside the GPU's chip",
};

/** Faults of links of the fifth generation: each comes as fatal or not, and says which in its text. */
const LINK_FIRST = 144;
const LINK_LAST = 150;
/** Sums up what the driver wants done after other events. */
const RECOVERY_ACTION = 154;

/** Events that end the program which caused them and leave the GPU well: restart of the program at most. */
const APPLICATION: ReadonlySet<number> = new Set([
  // Idle timeout of a channel; broken command streams (11, 25, 32); a shader that reads past its end (13).
  8, 11, 13, 25, 32,
  // Page fault of the program.
  31,
  // Firmware rejects what a program asked for (37, 38); copy engines (39 to 41); the program's own reset (43, 44).
  37, 38, 39, 40, 41, 43, 44,
  // Clean-up after a program was ended by anybody.
  45,
  // Video (60, 68), illegal accesses (66, 67), classes (69), copy engines (70 to 72, 75 to 77), stream check (80).
  60, 66, 67, 68, 69, 70, 71, 72, 75, 76, 77, 80,
  // Image and video decoders, optical flow, copy engine 9.
  82, 83, 84, 85, 86, 88, 89, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105,
  // Illegal access to the memory of another GPU; copy engines 10 to 19; fast path of one program.
  108, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 137, 139, 141,
]);

/**
 * The class of an event. A code that no table knows is `noted`: it comes from a driver newer than this list, whose
 * telemetry then tells whether the GPU is well. So is 92, a high rate of errors that all were corrected.
 */
export function classifyXid({ code, text }: Xid): XidClass {
  const meaning = FATAL[code];
  if (meaning !== undefined) return { kind: "fatal", meaning };
  if (code >= LINK_FIRST && code <= LINK_LAST) {
    return /\bfatal\b/i.test(text.replaceAll(/non-?fatal/gi, ""))
      ? { kind: "fatal", meaning: "NVLink error" }
      : { kind: "noted" };
  }
  if (code === RECOVERY_ACTION) {
    const wanted = /\bto 0x[0-9a-f]+ \(([^)]*)\)/i.exec(text)?.[1] ?? "";
    return wanted === "" || wanted === "None"
      ? { kind: "noted" }
      : { kind: "fatal", meaning: `the driver asks for: ${wanted}` };
  }
  return APPLICATION.has(code) ? { kind: "application" } : { kind: "noted" };
}
