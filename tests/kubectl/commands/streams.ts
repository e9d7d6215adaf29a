import type { Row } from "./player.ts";

/** Asks the program behind a forwarded port. */
async function asks([, port]: RegExpExecArray): Promise<void> {
  const text = await (await fetch(`http://127.0.0.1:${port}/path`)).text();
  if (text !== "you asked for /path") throw new Error(`The forwarded port answers ${text}`);
}

/** Commands that open a stream into a pod. */
export const streams: readonly Row[] = [
  [
    "exec",
    ["exec main -- echo moin", /^moin\n$/],
    ["exec -i main -c c -- cat", /^from stdin$/, { stdin: "from stdin" }],
    ["exec deployment/web -- sh -c 'exit 3'", /exit code 3/, { exit: 3 }],
    ["exec main -- no-such-program", /executable file not found/, { exit: 1 }],
  ],
  ["attach", ["attach -i main", /heard ahoy/, { endless: true, types: "ahoy\n" }]],
  [
    "cp",
    ["cp {folder}/hello.txt main:copied.txt", /^.*$/s],
    ["exec main -- cat copied.txt", /^moin$/],
    ["cp main:copied.txt {folder}/back.txt", /^.*$/s],
    ["create configmap copied --from-file={folder}/back.txt", /created/],
    ["get configmap copied -o jsonpath={.data.back\\.txt}", /^moin$/],
  ],
  [
    "port-forward",
    ["port-forward pod/main :{port}", /Forwarding from 127\.0\.0\.1:(\d+) -> \d+/, { endless: true, whenShown: asks }],
    ["port-forward service/main :80", /Forwarding from 127\.0\.0\.1:(\d+) -> \d+/, { endless: true, whenShown: asks }],
  ],
];
