import { createServer, type Socket } from "node:net";

export type ReceivedMail = { readonly from: string; readonly to: readonly string[]; readonly text: string };
export type SmtpServer = { readonly url: string; readonly mails: readonly ReceivedMail[] };

/** A mail server on the loopback that speaks as much of SMTP as a client needs. `refuse` answers a recipient otherwise. */
export async function anSmtpServer(
  scope: { after(fn: () => Promise<void> | void): void },
  refuse: (recipient: string) => string | undefined = () => undefined,
): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    converse(socket, { refuse, keep: (mail) => mails.push(mail) });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  scope.after(
    () =>
      new Promise<void>((done) => {
        server.close(() => done());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `smtp://127.0.0.1:${port}`, mails };
}

type Means = {
  readonly refuse: (recipient: string) => string | undefined;
  readonly keep: (mail: ReceivedMail) => void;
};

function converse(socket: Socket, { refuse, keep }: Means): void {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let [from, to, isData, pending]: [string, string[], boolean, string] = ["", [], false, ""];
  say("220 test");
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    pending += chunk;
    for (;;) {
      const end = isData ? pending.indexOf("\r\n.\r\n") : pending.indexOf("\r\n");
      if (end === -1) return;
      const unit = pending.slice(0, end);
      pending = pending.slice(end + (isData ? 5 : 2));
      if (isData) {
        keep({ from, to, text: unit });
        [from, to, isData] = ["", [], false];
        say("250 kept");
        continue;
      }
      const address = /<([^>]*)>/.exec(unit)?.[1] ?? "";
      const verb = unit.slice(0, 4).toUpperCase();
      if (verb === "MAIL") from = address;
      const refusal = verb === "RCPT" ? refuse(address) : undefined;
      if (verb === "RCPT" && refusal === undefined) to.push(address);
      isData = verb === "DATA";
      if (verb === "QUIT") socket.end("221 bye\r\n");
      else say(refusal ?? (isData ? "354 go on" : "250 test"));
    }
  });
}
