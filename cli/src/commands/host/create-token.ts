import { networkInterfaces } from "node:os";
import { hostTokenCreate } from "../../../../sdk/src/operations.ts";
import { addressesOf, connect, type ConnectionOptions } from "../../connect.ts";
import { given } from "../../given.ts";
import { printAnswer } from "../../output.ts";

type Options = ConnectionOptions & { readonly name?: string; readonly hours: number; readonly json?: boolean };

const HOUR_SECONDS = 3_600;

/** Prints the command to run on the machine that is to join. */
export async function createToken(options: Options): Promise<void> {
  const body = { ...given({ name: options.name }), expires_in_s: options.hours * HOUR_SECONDS };
  const answer = await hostTokenCreate(connect(options), { body });
  const reachable = addressesOf(options).map((address) => reachableUrl(address, outerAddress()));
  // The agent takes several addresses and joins at the first one.
  const url = reachable.map((server) => server.url).join(",");
  const hint = reachable.find((server) => server.hint.length > 0)?.hint ?? [];
  const whole = { ...answer, server: url, command: `./berth agent --server ${url} --token ${answer.token}` };
  printAnswer(whole, options, ({ command, token }) =>
    [
      "On the machine that is to join, with Berth unpacked there, run within the next " +
        hoursText(options.hours) +
        ":",
      "",
      `  ${command}`,
      "",
      `or, to run it as a service:  sudo ./berth agent install --server ${url} --token ${token}`,
      ...hint,
    ].join("\n"),
  );
}

/**
 * The address as another machine has to write it. A server that listens everywhere is known here by one of this
 * machine's addresses; one that listens to this machine only cannot be joined, which the hint says.
 */
export function reachableUrl(
  text: string,
  outer: string | undefined,
): { readonly url: string; readonly hint: readonly string[] } {
  const url = new URL(text);
  const isEverywhere = url.hostname === "0.0.0.0" || url.hostname === "[::]";
  if (isEverywhere && outer !== undefined) url.hostname = outer;
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
  const hint = isLocal
    ? [
        "",
        `Only this machine reaches ${url.origin}. For others, start the server with --host 0.0.0.0, or put TLS in front of it,`,
        "and give --server the address under which they reach it.",
      ]
    : [];
  return { url: `${url.origin}${url.pathname.replace(/\/+$/, "")}`, hint };
}

function hoursText(hours: number): string {
  return hours === 1 ? "hour" : `${hours} hours`;
}

/** The first address of this machine that others may reach. */
function outerAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
}
