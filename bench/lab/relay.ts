import { connect, createServer } from "node:net";

/** `node relay.ts SOCKET PORT`, in a network namespace: carries what connects to the file SOCKET to the namespace's own PORT. */
const [socket, port] = process.argv.slice(2);

createServer((outside) => {
  const inside = connect(Number(port), "127.0.0.1");
  outside.pipe(inside).pipe(outside);
  for (const end of [outside, inside])
    end.on("error", () => {
      outside.destroy();
      inside.destroy();
    });
}).listen(socket, () => console.log("listening"));
